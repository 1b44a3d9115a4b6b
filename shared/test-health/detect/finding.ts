/** What one rule finds, now and from now on. */
import type { EpochMs } from "../../kernel/time.ts";
import type { Evidence, Observation, RuleName, TestStatus } from "./history.ts";

/** ENOUGH: its threshold is reached. TO_KEEP: it is not, but what the rule's status is already may stay it. */
export type Strength = "ENOUGH" | "TO_KEEP" | "NOTHING";

/** From this time on, until the next of the forecast. */
export type Saying = { readonly from: EpochMs; readonly strength: Strength };

export type Finding = {
  readonly rule: RuleName;
  readonly says: Exclude<TestStatus, "HEALTHY">;
  /** What it says if nothing more happens, by time; the first is from now. */
  readonly forecast: readonly [Saying, ...Saying[]];
  /** Part of a sentence, with numbers. */
  readonly reason: string;
  readonly evidence: readonly Evidence[];
};

/** What it says at a time that is not before the forecast's beginning. */
export function strengthAt({ forecast }: Finding, at: EpochMs): Strength {
  let strength = forecast[0].strength;
  for (const saying of forecast) if (saying.from <= at) strength = saying.strength;
  return strength;
}

/** Evidence names the newest of its uploads, so that it stays small whatever happened. */
const UPLOADS_MAX = 20;

export const uploadsOf = (runs: readonly Observation[]): readonly string[] =>
  [...new Set(runs.map((run) => run.upload))].slice(-UPLOADS_MAX).toReversed();

export const shortSha = (sha: string): string => sha.slice(0, 7);
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
