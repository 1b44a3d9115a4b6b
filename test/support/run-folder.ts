/**
 * Before and after a whole run of the tests: everything that a test writes or starts lies in one folder or names it,
 * and nothing of it is left, also when the run is stopped half-way.
 */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Left, leftBehind, ofRun } from "./left-behind.ts";

/** What ends because its owner has ended needs a moment. */
const ENDING_MS_MAX = 20_000;
/** As long as vitest itself waits for a worker to stop. */
const WORKERS_MS_MAX = 60_000;

async function untilNoneIsLeft(look: () => readonly Left[], ms = ENDING_MS_MAX): Promise<readonly Left[]> {
  for (const until = performance.now() + ms; ; await sleep(50)) {
    const left = look();
    if (left.length === 0 || performance.now() > until) return left;
  }
}

const isWorker = ({ parent, command }: Left): boolean =>
  parent === process.pid && command.includes("vitest/dist/workers/");

const REAPER = fileURLToPath(new URL("reaper.ts", import.meta.url));

export default function setup(): () => Promise<void> {
  // What is compiled once is compiled for all processes of all runs.
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "mainline-compile-cache");
  const folder = mkdtempSync(join(tmpdir(), "mainline-run-"));
  process.env["TMPDIR"] = folder;
  // It waits for this process to end, however that comes about.
  const reaper = spawn(process.execPath, [REAPER, folder], { stdio: ["pipe", "ignore", "inherit"], detached: true });
  reaper.unref();
  return async () => {
    // Vitest tears down before its workers have stopped; one that were ended here would be waited for in vain.
    await untilNoneIsLeft(() => ofRun(folder).filter(isWorker), WORKERS_MS_MAX);
    const left = await untilNoneIsLeft(() => leftBehind(folder).filter(({ pid }) => pid !== reaper.pid));
    if (left.length > 0) {
      process.exitCode = 1;
      process.stderr.write(`\nTests left processes behind:\n${left.map(({ command }) => `  ${command}\n`).join("")}`);
    }
    const gone = new Promise<void>((resolve) => {
      reaper.once("exit", () => resolve());
    });
    reaper.ref();
    reaper.stdin.end();
    await gone;
  };
}
