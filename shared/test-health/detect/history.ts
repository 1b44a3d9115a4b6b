/** What is known of one test when it is judged, and what is made of it. */
import type { EpochMs } from "../../kernel/time.ts";

/** What one upload says of the test; where it was skipped there is none. */
export type Observation = {
  /** When it ran. */
  readonly at: EpochMs;
  readonly sha: string;
  readonly branch: string;
  readonly isDefaultBranch: boolean;
  /** The id of the upload. */
  readonly upload: string;
  /** Executions of each kind in it: retries are several. */
  readonly passed: number;
  readonly failed: number;
  /** The upload, or all of its commit, was judged an outage: it is shown and feeds no rule. */
  readonly isOutage: boolean;
};

export const RULE_NAMES = ["same-commit", "short-episodes", "failure-rate", "failure-run"] as const;
export type RuleName = (typeof RULE_NAMES)[number];

export const STATUSES = ["HEALTHY", "FLAKY", "BROKEN"] as const;
export type TestStatus = (typeof STATUSES)[number];

/** One thing that happened and speaks for the verdict: a commit on which it did both, an episode, a run of failures. */
export type Evidence = {
  readonly rule: RuleName;
  readonly sha: string;
  readonly at: EpochMs;
  readonly uploads: readonly string[];
  /** A sentence with its numbers. */
  readonly what: string;
};

export type Verdict = {
  readonly status: TestStatus;
  /** Why, in one sentence with numbers; for HEALTHY too. */
  readonly reason: string;
  /** The rules that say so. */
  readonly rules: readonly RuleName[];
  /** Newest first; at most 20. */
  readonly evidence: readonly Evidence[];
  /** When time alone may change it; null when nothing will. */
  readonly revisitAt: EpochMs | null;
};
