import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counted, issueOf, reading } from "./reading.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mainline-reporters-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The output; that the tests in it fail is meant. */
const run = (args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, VITEST: undefined };
    execFile(process.execPath, args, { cwd: folder, env }, (_error, stdout) => resolve(stdout));
  });

const TESTS = `
describe('suite <a> & "b"', () => {
  test("passes é→日本", () => {});
  test("fails", () => { throw new Error("expected <1> && \\u001b[31mred\\u001b[0m ]]> end"); });
  test.skip("skipped", () => {});
  test.todo("todo");
});`;

describe("files that reporters write here and now:", () => {
  test("node:test", async () => {
    writeFileSync(join(folder, "n.mjs"), `import { describe, test } from "node:test";${TESTS}`);
    const xml = await run(["--test", "--test-reporter=junit", "n.mjs"]);
    const report = reading(new TextEncoder().encode(xml));
    expect(report.counts).toEqual(counted(4, 1, 0, 2));
    expect(report.cases[0]).toMatchObject({ name: "passes é→日本", outcome: "PASSED" });
    expect(report.cases[1]?.attempts[0]?.failure?.text).toContain("expected <1> &&");
  });

  test("Vitest", async () => {
    const output = join(folder, "vitest.xml");
    writeFileSync(
      join(folder, "v.test.mjs"),
      `${TESTS}\nlet runs = 0;\ntest("flaky", { retry: 2 }, () => { if (runs++ === 0) throw new Error("first"); });\n`,
    );
    const config = ["--globals", "--reporter=junit", `--outputFile=${output}`, `--root=${folder}`, "--dir=."];
    await run([join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...config]);
    const report = reading(readFileSync(output));
    expect(report.counts).toEqual(counted(5, 1, 0, 2));
    expect(report.cases[1]?.attempts[0]?.failure?.message).toContain("expected <1> && ");
    expect(issueOf(report, "retry: 0")).toBeDefined();
  });
});
