import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as z from "zod";
import { synthesise } from "../../infra/template.ts";

const alarm = z.object({ Properties: z.object({ AlarmName: z.string(), AlarmDescription: z.string() }) });
const runbook = readFileSync("infra/README.md", "utf8");
/** As GitHub makes them of headings without capitals, points and spaces. */
const anchors = new Set([...runbook.matchAll(/^#+ (alarm-[a-z-]+)$/gmu)].map((match) => match[1]));

it("every alarm that is deployed has its section in the runbook, and every section its alarm", () => {
  const found = synthesise("prod").parts.observability.of("CloudWatch::Alarm");
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
