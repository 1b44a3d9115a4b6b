/** What the CDK runs: the stacks of one stage (`--context stage=dev`), or of all where none is named. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import * as z from "zod";
import { bundleFunctions } from "./bundle.ts";
import { ConfigError, STAGES, settingsOf } from "./config.ts";
import type { CodeOf } from "./constructs/deployment.ts";
import { service } from "./stacks/service.ts";

const stages = z.string().optional();

/** The account and region of the credentials, as the CDK's command line has found them; without any, of none. */
const present = { account: process.env["CDK_DEFAULT_ACCOUNT"], region: process.env["CDK_DEFAULT_REGION"] };

function environmentOf(settings: ReturnType<typeof settingsOf>) {
  const account = settings.account ?? present.account;
  const region = settings.region ?? present.region;
  return { ...(account === undefined ? {} : { account }), ...(region === undefined ? {} : { region }) };
}

async function run(): Promise<void> {
  const app = new App();
  const asked = stages.parse(app.node.tryGetContext("stage"));
  const settings = (asked === undefined ? Object.keys(STAGES) : [asked]).map((stage) => settingsOf(stage));
  const bundles = mkdtempSync(join(tmpdir(), "mainline-bundles-"));
  try {
    await bundleFunctions(bundles);
    const codeOf: CodeOf = (folder, name) => Code.fromAsset(join(bundles, folder, name));
    // Said by `npm run destroy` alone, of a stage whose data is not to be kept any longer.
    const deletesData = stages.parse(app.node.tryGetContext("deletesData"));
    for (const one of settings) {
      const keepsData = one.keepsData && one.stage !== deletesData;
      service(app, { settings: { ...one, keepsData }, codeOf }, environmentOf(one));
    }
    app.synth();
  } finally {
    rmSync(bundles, { recursive: true, force: true });
  }
}

try {
  await run();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
