/** Who runs the queue: pauses it, drains it, changes what it may do. */
import type { Random } from "../../crash/random.ts";
import type { Caller } from "./caller.ts";
import type { Ref } from "./clients.ts";

/** Which of the settings somebody changes in this world. */
export type Knobs = readonly ((random: Random) => Readonly<Record<string, unknown>>)[];

export const KNOBS: Knobs = [
  (random) => ({ concurrency: random.int(1, 6) }),
  (random) => ({ retriesBeforeFailure: random.int(0, 2) }),
  (random) => ({ testingTimeoutMinutes: random.pick([0, 15, 60]) }),
  (random) => ({ requiredStatuses: random.pick([["unit"], ["unit", "lint"], ["lint"]]) }),
  () => ({ deleteRequiredStatuses: true }),
  (random) => ({ mergeMethod: random.pick(["squash", "merge_commit", "rebase"]) }),
  (random) => ({ mode: random.pick(["single", "parallel"]) }),
  (random) => ({
    batch: random.chance(0.5),
    batchingMinSize: random.int(1, 5),
    batchingMaxWaitTimeMinutes: random.int(0, 5),
  }),
  (random) => ({ bisectionConcurrency: random.int(1, 4) }),
  (random) => ({ canOptimisticallyMerge: random.chance(0.5), pendingFailureDepth: random.int(0, 3) }),
  (random) => ({ directMergeMode: random.pick(["off", "always"]) }),
  (random) => ({ optimizationMode: random.pick(["off", "bisection_skip_redundant_tests"]) }),
  () => ({ clearHold: true }),
];

export async function change(caller: Caller, ref: Ref, random: Random, knobs: Knobs): Promise<void> {
  const knob = random.pick(knobs);
  if (knob !== undefined) await caller.send("update-queue", { ...ref, ...knob(random) });
}

/** For a while; and back again, whatever it takes. */
export async function brake(caller: Caller, ref: Ref, random: Random, sleep: (ms: number) => Promise<void>) {
  const state = random.pick(["PAUSED", "PAUSED", "DRAINING"]);
  await caller.send("update-queue", { ...ref, state, reason: "a freeze", allowUrgent: random.chance(0.4) });
  await sleep(random.int(20, 240) * 1_000);
  await caller.sure("update-queue", { ...ref, state: "RUNNING" });
}
