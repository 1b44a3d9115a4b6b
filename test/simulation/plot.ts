/** What kind of world a seed makes: how it is deployed, how busy it is, how the queue is set up, how unruly people are. */
import { MINUTE_MS, SECOND_MS } from "../../shared/kernel/time.ts";
import type { Random } from "../crash/random.ts";
import type { Habits } from "./host/runner.ts";
import type { Deployment } from "./machine/site.ts";

export type Plot = {
  readonly deployment: Deployment;
  readonly habits: Partial<Habits>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Mean times between two of a kind; never where it is infinite. */
  readonly everyMs: {
    readonly arrival: number;
    readonly act: number;
    readonly meddle: number;
    readonly moveTarget: number;
    readonly change: number;
    readonly brake: number;
    readonly intrude: number;
  };
};

/** Between these, evenly on a logarithmic scale. */
const between = (random: Random, low: number, high: number): number => low * (high / low) ** random.next();
const now = (random: Random, probability: number, mean: () => number): number =>
  random.chance(probability) ? mean() : Number.POSITIVE_INFINITY;

export function plotOf(random: Random): Plot {
  const range = (low: number, high: number) => between(random, low, high);
  return {
    deployment: random.chance(0.3) ? "SERVER" : "LAMBDAS",
    habits: {
      flaky: random.chance(0.5) ? random.next() * 0.2 : 0,
      medianMs: range(20 * SECOND_MS, 4 * MINUTE_MS),
      stuck: random.chance(0.2) ? 0.05 : 0,
    },
    settings: settingsOf(random),
    everyMs: {
      arrival: range(20 * SECOND_MS, 2 * MINUTE_MS),
      act: range(15 * SECOND_MS, 2 * MINUTE_MS),
      meddle: now(random, 0.7, () => range(MINUTE_MS, 10 * MINUTE_MS)),
      moveTarget: now(random, 0.5, () => range(4 * MINUTE_MS, 20 * MINUTE_MS)),
      change: now(random, 0.6, () => range(90 * SECOND_MS, 10 * MINUTE_MS)),
      brake: now(random, 0.5, () => range(3 * MINUTE_MS, 12 * MINUTE_MS)),
      intrude: range(MINUTE_MS, 5 * MINUTE_MS),
    },
  };
}

function settingsOf(random: Random): Plot["settings"] {
  const isOptimistic = random.chance(0.4);
  return {
    mode: random.chance(0.45) ? "parallel" : "single",
    concurrency: random.int(1, 6),
    ...(random.chance(0.5) ? { bisectionConcurrency: random.int(1, 3) } : {}),
    retriesBeforeFailure: random.pick([0, 1, 1, 2]),
    testingTimeoutMinutes: random.pick([0, 20, 300]),
    mergeMethod: random.pick(["squash", "squash", "merge_commit", "rebase"]),
    ...(random.chance(0.45)
      ? { batch: true, batchingMinSize: random.int(2, 5), batchingMaxWaitTimeMinutes: random.pick([0, 0, 1, 4]) }
      : {}),
    ...(isOptimistic ? { canOptimisticallyMerge: true, pendingFailureDepth: random.int(0, 3) } : {}),
    ...(random.chance(0.3) ? { optimizationMode: "bisection_skip_redundant_tests" } : {}),
    ...(random.chance(0.25) ? { directMergeMode: "always" } : {}),
  };
}
