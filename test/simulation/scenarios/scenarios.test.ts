/** Every scenario, without faults, without anybody looking after it, and under each class of faults: one end. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FAULT_CLASSES } from "../machine/faults.ts";
import { SCENARIOS } from "./all.ts";

const RUN = fileURLToPath(new URL("run.ts", import.meta.url));
const PARTS = 2;

/** What is said of each of them, whether or not all was as it should be. */
async function part(of: number): Promise<readonly string[]> {
  const args = [RUN, "--part", `${of}/${PARTS}`];
  const ran = await promisify(execFile)(process.execPath, args, { maxBuffer: 50_000_000 }).catch(
    (failed: { stdout: string; stderr: string }) => ({ stdout: failed.stdout, stderr: failed.stderr }),
  );
  return [ran.stdout, ran.stderr];
}

test("whatever goes wrong, every story ends as it does when nothing does", async () => {
  const parts = await Promise.all(Array.from({ length: PARTS }, (_, at) => part(at + 1)));
  const said = parts.flat().join("\n");
  expect(said.split("\n").filter((line) => !line.startsWith("kept ") && line !== "")).toEqual([]);
  const timeless = SCENARIOS.filter((scenario) => scenario.needsTime !== true).length;
  const expected = SCENARIOS.length * (FAULT_CLASSES.length + 1) + timeless;
  expect(said.split("\n").filter((line) => line.startsWith("kept "))).toHaveLength(expected);
}, 900_000);
