/** `reaper.ts <folder>`: waits until whoever started it has ended, then ends what is left of its run, and the folder. */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ofRun } from "./left-behind.ts";

const [, , folder = ""] = process.argv;
if (!folder.includes("mainline-run-")) throw new Error("usage: reaper.ts <folder of a run>");

process.stdin.resume();
await new Promise((resolve) => process.stdin.once("close", resolve));

// What is ended may just have started something.
for (let rounds = 0; rounds < 20; rounds += 1) {
  const left = ofRun(folder).filter(({ pid }) => pid !== process.pid);
  for (const { pid } of left)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  if (left.length === 0) break;
  await sleep(100);
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
