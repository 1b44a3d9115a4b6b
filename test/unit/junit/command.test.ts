import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../../infra/local/junit.ts";
import { bytesOf, fixture, suite } from "./reading.ts";

const PROGRAM = fileURLToPath(new URL("../../../infra/local/junit.ts", import.meta.url));
let folder = "";
const file = (name: string, content: Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mainline-junit-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function said(...files: readonly string[]): Promise<{ status: number; lines: { file: string }[] }> {
  const texts: string[] = [];
  const status = await main(files, (text) => texts.push(text));
  expect(texts).toHaveLength(1);
  return { status, lines: JSON.parse(texts[0] ?? "") as { file: string }[] };
}

describe("npm run junit", () => {
  test("says the counts and issues of each file, in order", async () => {
    const read = file("a.xml", bytesOf(suite(`<testcase name="a"><failure/></testcase>`)));
    const refused = file("b.xml", bytesOf(""));
    expect(await said(read, refused)).toEqual({
      status: 0,
      lines: [
        { file: read, tests: 1, failures: 1, errors: 0, skipped: 0, issues: [] },
        {
          file: refused,
          tests: null,
          failures: null,
          errors: null,
          skipped: null,
          issues: [{ line: 1, column: 1, message: expect.stringContaining("empty") }],
        },
      ],
    });
  });

  test("reads gzip, also where it is cut off", async () => {
    const packed = gzipSync(fixture("gtest.xml"));
    const { status, lines } = await said(file("c.xml.gz", packed), file("d.xml.gz", packed.subarray(0, -60)));
    expect(status).toBe(0);
    expect(lines[0]).toMatchObject({ tests: 7, failures: 2, skipped: 2 });
    expect(lines[1]).toMatchObject({ tests: expect.any(Number) });
  });

  test("unpacks no more of gzip than is read", async () => {
    const bomb = gzipSync(
      bytesOf(suite(`<testcase name="a"/><system-out>${" ".repeat(32 * 1024 * 1024)}</system-out>`)),
    );
    const { lines } = await said(file("e.xml.gz", bomb));
    expect(lines[0]).toMatchObject({ tests: 1, issues: [{ message: expect.stringContaining("larger than 20 MiB") }] });
  });

  test("fails where a file cannot be opened, and says the others all the same", async () => {
    const there = file("f.xml", bytesOf(suite(`<testcase name="a"/>`)));
    const { status, lines } = await said(join(folder, "missing.xml"), there, folder);
    expect(status).toBe(1);
    expect(lines).toMatchObject([{ tests: null }, { tests: 1 }, { tests: null }]);
  });

  test("of no file is an empty array", async () => {
    expect(await said()).toEqual({ status: 0, lines: [] });
  });

  test("prints one array and nothing else, and ends with that status", async () => {
    const there = file("g.xml", bytesOf(suite(`<testcase name="a"/>`)));
    const run = (...files: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
      new Promise((resolve) => {
        execFile(process.execPath, [PROGRAM, ...files], (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
        );
      });
    const [good, bad] = await Promise.all([run(there), run(there, join(folder, "missing.xml"))]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(good.stdout)).toHaveLength(1);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toHaveLength(2);
  });
});
