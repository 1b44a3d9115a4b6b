/** Parts of all stagings, each in a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { stagingsOf } from "./stagings.ts";

const RUN = fileURLToPath(new URL("run.ts", import.meta.url));

/** What is said of each of them, whether or not all was as it should be. */
async function said(part: number, parts: number): Promise<string> {
  const args = [RUN, "--part", `${part}/${parts}`];
  const ran = await promisify(execFile)(process.execPath, args, { maxBuffer: 50_000_000 }).catch(
    (failed: { stdout: string; stderr: string }) => ({ stdout: failed.stdout, stderr: failed.stderr }),
  );
  return `${ran.stdout}\n${ran.stderr}`;
}

/** Who is staged in these parts, how many of them ended as they should, and everything else that was said. */
export async function playParts(parts: number, ...played: readonly number[]) {
  const lines = (await Promise.all(played.map((part) => said(part, parts)))).join("\n").split("\n");
  const isKept = (line: string): boolean => line.startsWith("kept ");
  return {
    staged: played.flatMap((part) => stagingsOf({ part: [part, parts] })),
    kept: lines.filter(isKept).length,
    rest: lines.filter((line) => !isKept(line) && line !== ""),
  };
}
