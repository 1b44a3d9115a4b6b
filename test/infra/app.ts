/** The stacks of a stage in CDK. Loading it costs seconds: `template.ts` has what comes of it. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, type Stack } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import * as z from "zod";
import { settingsOf } from "../../infra/config.ts";
import { service } from "../../infra/stacks/service.ts";
import { ROOT } from "../architecture/source.ts";
import { EXAMPLES } from "./stages.ts";

const placeholder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mainline-placeholder-"));
  writeFileSync(join(folder, "index.mjs"), "export const handler = async () => {};\n");
  return folder;
};

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });
const context = cdkJson.parse(JSON.parse(readFileSync(join(ROOT, "cdk.json"), "utf8"))).context;

/** Synthesised, with a placeholder for all code. */
export function appOf(stage: string) {
  const app = new App({ context, analyticsReporting: false });
  const settings = settingsOf(stage, EXAMPLES);
  const folder = placeholder();
  const { account, region } = settings;
  const env = account === undefined || region === undefined ? {} : { account, region };
  const stacks: Readonly<Record<string, Stack>> = service(app, { settings, codeOf: () => Code.fromAsset(folder) }, env);
  return { app, stacks, assembly: app.synth() };
}
