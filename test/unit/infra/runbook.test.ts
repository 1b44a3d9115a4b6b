import { existsSync, readFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { expect, it } from "vitest";
import * as z from "zod";
import { settingsOf } from "../../../infra/config.ts";
import { service } from "../../../infra/stacks/service.ts";

const alarm = z.object({ Properties: z.object({ AlarmName: z.string(), AlarmDescription: z.string() }) });
const runbook = readFileSync("infra/README.md", "utf8");
/** As GitHub makes them of headings without capitals, points and spaces. */
const anchors = new Set([...runbook.matchAll(/^#+ (alarm-[a-z-]+)$/gmu)].map((match) => match[1]));

it("every alarm that is deployed has its section in the runbook, and every section its alarm", () => {
  const codeOf = () => Code.fromInline("export const handler = () => {};");
  const { observability } = service(new App(), { settings: settingsOf("prod"), codeOf });
  const found = Object.values<unknown>(Template.fromStack(observability).findResources("AWS::CloudWatch::Alarm"));
  expect(found.length).toBeGreaterThan(15);
  const linked = found.map((one) => {
    const { AlarmName, AlarmDescription } = alarm.parse(one).Properties;
    const [file = "", anchor = ""] = /More: (\S+)$/u.exec(AlarmDescription)?.[1]?.split("#") ?? [];
    expect([file, anchor]).toEqual(["infra/README.md", `alarm-${AlarmName.replace("mainline-prod-", "")}`]);
    return anchor;
  });
  expect(new Set(linked)).toEqual(anchors);
});

it("every command that the page names is a script, and every file is there", () => {
  const manifest = z.object({ scripts: z.record(z.string(), z.string()) });
  const { scripts } = manifest.parse(JSON.parse(readFileSync("package.json", "utf8")));
  const commands = [...runbook.matchAll(/npm run ([a-z:-]+)/gu)].map((match) => match[1] ?? "");
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  const files = [...runbook.matchAll(/`((?:infra|shared|test)\/[\w./-]+)`/gu)].map((match) => match[1] ?? "");
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

it("every link within the page leads somewhere", () => {
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/gu, "")
      .replaceAll(" ", "-");
  const headings = new Set([...runbook.matchAll(/^#+ (.+)$/gmu)].map((match) => slug(match[1] ?? "")));
  const links = [...runbook.matchAll(/\]\(#([^)]+)\)/gu)].map((match) => match[1] ?? "");
  expect(links.filter((link) => !headings.has(link))).toEqual([]);
});
