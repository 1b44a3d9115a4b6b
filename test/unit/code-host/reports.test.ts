import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parseConfigFile } from "../../../shared/code-host/git/config-file.ts";
import type { CheckReport } from "../../../shared/code-host/port.ts";
import { runId } from "../../../shared/kernel/ids.ts";
import { aBuild, aChange, aGitHost, built, eventually, type Fixture } from "./fixture.ts";

let f: Fixture | undefined;
afterEach(() => f?.dispose());

const file = (checks: object, reports: object): { readonly ".mainline.yaml": string } => ({
  ".mainline.yaml": JSON.stringify({ checks, reports }),
});

/** A run of these checks; what is told of its reports, oldest first. */
async function told(checks: Readonly<Record<string, string>>, reports: object, takes = true) {
  const brought: CheckReport[] = [];
  const reported = async (_: unknown, report: CheckReport): Promise<boolean> => {
    brought.push(report);
    return takes;
  };
  const made = await aGitHost({ news: { reported } });
  f = made;
  const base = made.repo.commit("main", { files: file(checks, reports) });
  const head = made.repo.pullRequest(1, { files: { b: "b" } });
  const { commit } = await built(made, aBuild(made, "r", base, { changes: [aChange(1, head)] }));
  await made.ended("r");
  const left = (): readonly string[] =>
    readdirSync(join(made.work, "runs", "r")).filter((name) => name.endsWith("report"));
  return { made, brought, commit, left };
}

const text = ({ bytes }: CheckReport): string => Buffer.from(bytes).toString("utf8");

describe("reports of checks", () => {
  test("are told with the run, the check and its pull requests, whether it passed or failed", async () => {
    const checks = { unit: "mkdir out && echo '<a/>' > out/junit.xml; exit 1", lint: "echo '<b/>' > lint.xml" };
    const { brought, commit, left } = await told(checks, { unit: "out/junit.xml", lint: ["lint.xml", "none.xml"] });
    await eventually(() => (brought.length === 2 ? true : undefined));
    const [lint, unit] = brought.toSorted((a, b) => a.check.localeCompare(b.check));
    expect(unit).toMatchObject({ run: "r", check: "unit", attempt: 1, commit, prNumbers: [1] });
    expect([unit, lint].map((one) => (one === undefined ? "" : text(one)))).toEqual(["<a/>\n", "<b/>\n"]);
    await eventually(() => (left().length === 0 ? true : undefined));
  });

  test("that lead elsewhere by links, are folders, pipes or too large are none", async () => {
    const checks = {
      link: "ln -s /etc/passwd junit.xml",
      folders: "ln -s /etc out",
      folder: "mkdir junit.xml",
      pipe: "mkfifo junit.xml",
      large: "truncate -s 21M junit.xml",
    };
    const names = Object.keys(checks);
    const reports = Object.fromEntries(names.map((name) => [name, name === "folders" ? "out/passwd" : "junit.xml"]));
    const { brought, left } = await told(checks, reports);
    expect([brought, left()]).toEqual([[], []]);
  });

  test("that were not taken are kept, and told again by whoever comes up next", async () => {
    const { made, brought, left } = await told({ unit: "echo '<a/>' > j.xml" }, { unit: "j.xml" }, false);
    await eventually(() => (brought.length === 1 ? true : undefined));
    expect(left()).toHaveLength(1);
    await made.host.stop();
    const again: CheckReport[] = [];
    f = await aGitHost({
      data: made.data,
      news: {
        reported: async (_, report) => {
          again.push(report);
          return true;
        },
      },
    });
    await f.host.recover();
    expect([again.map(text), left()]).toEqual([["<a/>\n"], []]);
  });

  test("of each attempt are told by themselves", async () => {
    const { made, brought } = await told(
      { unit: "echo \"<a n='$MAINLINE_ATTEMPT'/>\" > j.xml; exit 1" },
      { unit: "j.xml" },
    );
    await made.host.repeatChecks(made.repo.key, runId("r"), 1, ["unit"]);
    await eventually(() => (brought.length === 2 ? true : undefined));
    expect(brought.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });
});

test.each([
  [{ unit: "/etc/passwd" }],
  [{ unit: "../junit.xml" }],
  [{ unit: "a/../b.xml" }],
  [{ unit: "a/" }],
  [{ unit: "a\\b" }],
  [{ unit: "" }],
  [{ unit: 5 }],
  [{ unit: Array.from({ length: 21 }, (_, at) => `${at}.xml`) }],
  [["unit"]],
])("a config file with the reports %j is refused, and says so", (reports) => {
  const read = parseConfigFile(Buffer.from(JSON.stringify({ checks: {}, reports })));
  expect(read).toMatchObject({ kind: "PROBLEM", what: expect.stringMatching(/^\.mainline\.yaml: reports/u) });
});
