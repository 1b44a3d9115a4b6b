/**
 * How fast JUnit files of 20 MB are read, held against a pass of the same parser that does nothing but count elements,
 * in turns with it. The goal in MB/s is that of a machine with a core to spare; the ratio holds on any.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SaxesParser } from "saxes";
import { readJUnit } from "../../shared/test-health/junit/read.ts";
import { mib, promised, type Row, stated, times } from "./report.ts";
import { interleaved } from "./timing.ts";

const BYTES = 20_000_000;
const CHUNK_BYTES = 64 * 1024;
const MB_PER_SECOND_GOAL = 80;
const MEMORY_BYTES_GOAL = 200 * 1024 * 1024;
const READ = new URL("../../shared/test-health/junit/read.ts", import.meta.url);

const STACK = "    at Object.run (/home/ci/app/src/tests/runner.spec.cjs:1:162)\n".repeat(10);

/** A case in twenty fails with a stack trace; a class has a hundred cases. */
const plain = (at: number): string => {
  const group = Math.floor(at / 100);
  const failure = `<failure message="expected 1 &lt; 2" type="AssertionError">at x\n${STACK}</failure>`;
  const names = `classname="com.acme.part.Group${group}" name="does thing number ${at}" file="src/part/group${group}.ts"`;
  return `<testcase ${names} time="0.${at % 1000}">${at % 20 === 0 ? failure : ""}</testcase>\n`;
};

/** Each case prints two and a half kilobytes. */
const talkative = (at: number): string =>
  `<testcase classname="Group" name="thing ${at}" time="1"><system-out>${STACK.repeat(4)}</system-out></testcase>\n`;

function fileOf(one: (at: number) => string): Uint8Array {
  const pieces = [`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="s">\n`];
  for (let at = 0, length = 0; length < BYTES; at += 1) {
    const piece = one(at);
    length += piece.length;
    pieces.push(piece);
  }
  return new TextEncoder().encode(`${pieces.join("")}</testsuite></testsuites>`);
}

function countElements(bytes: Uint8Array): number {
  const decoder = new TextDecoder();
  const parser = new SaxesParser();
  let elements = 0;
  parser.on("opentag", () => {
    elements += 1;
  });
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    parser.write(decoder.decode(bytes.subarray(at, at + CHUNK_BYTES)));
  parser.close();
  return elements;
}

/** Of a process that does nothing but read the file: its peak, less that of one that reads nothing. */
function peakBytes(bytes: Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), "mainline-bench-"));
  const file = join(folder, "junit.xml");
  const peakOf = (content: Uint8Array | string): number => {
    writeFileSync(file, content);
    const program = `import { readFileSync } from "node:fs";
      import { readJUnit } from ${JSON.stringify(fileURLToPath(READ))};
      const report = readJUnit(readFileSync(${JSON.stringify(file)}));
      console.log(report.kind === "READ" ? process.resourceUsage().maxRSS * 1024 : 0);`;
    const args = ["--input-type=module", "--eval", program];
    return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
  };
  try {
    return peakOf(bytes) - peakOf("<testsuites/>");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function readingJUnit(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, one] of [["cases", plain] as const, ["output", talkative] as const]) {
    const bytes = fileOf(one);
    const took = await interleaved(
      { read: async () => readJUnit(bytes), count: async () => countElements(bytes) },
      { rounds: 7, warmUp: 2 },
    );
    const fastest = (of: "read" | "count"): number => bytes.length / 1_000 / Math.min(...took(of));
    const read = fastest("read");
    const ratio = fastest("count") / read;
    const verdict = { goal: `${MB_PER_SECOND_GOAL} MB/s`, holds: read >= MB_PER_SECOND_GOAL };
    const measured = `${read.toFixed(0)} MB/s, ${times(ratio)} the time of counting elements`;
    rows.push(promised("junit", `read 20 MB of ${name}`, measured, verdict, { mbPerSecond: read, ratio }));
    const peak = peakBytes(bytes);
    const small = { goal: `< ${mib(MEMORY_BYTES_GOAL)}`, holds: peak < MEMORY_BYTES_GOAL };
    rows.push(promised("junit", `memory for 20 MB of ${name}`, mib(peak), small, { bytes: peak }));
  }
  const broken = fileOf((at) => plain(at).replace("expected", "expected <T> &"));
  const begun = performance.now();
  readJUnit(broken);
  const seconds = (performance.now() - begun) / 1000;
  rows.push(stated("junit", "read 20 MB of broken XML", `${seconds.toFixed(1)} s`, { seconds }));
  return rows;
}
