/** Many seeds, in several processes at a time: each has a table process of its own and goes through its share. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as z from "zod";

const verdict = z.object({
  seed: z.number(),
  hours: z.number(),
  seconds: z.number(),
  fingerprint: z.string(),
  counts: z.record(z.string(), z.number()),
  problems: z.array(z.string()),
  text: z.string(),
});
export type Verdict = z.infer<typeof verdict>;

export type Many = {
  readonly seeds: readonly number[];
  readonly hours: number;
  readonly processes: number;
  readonly done: (verdict: Verdict) => void;
};

const RUN = fileURLToPath(new URL("run.ts", import.meta.url));

/** Answers what could not even be tried, in words. */
export async function simulateMany({ seeds, hours, processes, done }: Many): Promise<readonly string[]> {
  const shares = Array.from({ length: processes }, (_, of) => seeds.filter((_seed, at) => at % processes === of));
  const ends = await Promise.all(
    shares.filter((share) => share.length > 0).map((share) => process(share, hours, done)),
  );
  return ends.flatMap((end) => end ?? []);
}

async function process(seeds: readonly number[], hours: number, done: Many["done"]): Promise<string | undefined> {
  const args = [RUN, "--seeds", seeds.join(), "--hours", String(hours), "--json"];
  const child = spawn(globalThis.process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  // It does not outlive its owner: killed without a word, that one still closes its standard input.
  const end = (): void => void child.kill();
  globalThis.process.once("exit", end);
  const exited = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  let heard = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    done(verdict.parse(JSON.parse(line)));
    heard += 1;
  }
  const code = await exited;
  globalThis.process.off("exit", end);
  return heard === seeds.length ? undefined : `a process ended with ${code} after ${heard} of ${seeds.length} seeds`;
}
