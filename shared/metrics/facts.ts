/** What the metrics are counted from: plain data about one queue, in this folder's own words. */
import type { EpochMs } from "../kernel/time.ts";

export type SubmissionState =
  | "NOT_READY"
  | "PENDING"
  | "TESTING"
  | "TESTS_PASSED"
  | "PENDING_FAILURE"
  | "MERGED"
  | "FAILED"
  | "CANCELLED";

/** One submission as everybody is told of it, what was acknowledged a moment ago included. */
export type SubmissionFacts = {
  readonly id: string;
  readonly state: SubmissionState;
  readonly stateChangedAt: EpochMs;
  readonly submittedAt: EpochMs;
  /** Of its latest admission; null while it is not admitted. */
  readonly admittedAt: EpochMs | null;
  readonly firstTestAt: EpochMs | null;
  /** Milliseconds in TESTING, in stays that are over. */
  readonly testedMs: number;
  /** When it went from TESTING back to PENDING. */
  readonly restartedAt: readonly EpochMs[];
  readonly endedAt: EpochMs | null;
};

export type RunFacts = {
  readonly kind: "MAIN" | "BISECTION" | "TIP";
  readonly inProgress: boolean;
  /** Ids of the submissions that it tests as one; empty for a test of the tip. */
  readonly group: readonly string[];
};

/** Counted since the queue was made. None of them ever falls. */
export type TotalFacts = {
  readonly merged: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly restarts: number;
  readonly runsStarted: number;
  readonly bisectionRunsStarted: number;
  readonly runsPassed: number;
  readonly runsFailed: number;
  readonly runsCancelled: number;
  readonly repeats: number;
  readonly landings: number;
  /** Test runs that failed and then passed on the same content. */
  readonly flakes: number;
  /** Batches of several that were tested, and those that were taken apart. */
  readonly batches: number;
  readonly bisections: number;
  /** Merged because a run of a successor that contains them passed; and without a run, by their own statuses. */
  readonly mergedByOptimism: number;
  readonly mergedDirectly: number;
};

export const QUEUE_STATES = ["RUNNING", "PAUSED", "DRAINING", "SWITCHING_MODES"] as const;

export type QueueFacts = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly branch: string;
  readonly state: (typeof QUEUE_STATES)[number];
  readonly concurrency: number;
  readonly bisectionConcurrency: number;
  /** How many failed groups around it the smallest group under bisection was taken from; 0 without a bisection. */
  readonly bisectionDepth: number;
  /** How long the loop has been due to look at the queue and has not. */
  readonly overdueMs: number;
  /** Live ones, and those that ended since `since`; each once. */
  readonly submissions: readonly SubmissionFacts[];
  readonly runs: readonly RunFacts[];
  readonly totals: TotalFacts;
  /** When all of this was read. */
  readonly at: EpochMs;
  /** Where the last hour begins; later for a queue that is younger than that. */
  readonly since: EpochMs;
};
