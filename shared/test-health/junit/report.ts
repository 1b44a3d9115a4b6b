/** What a JUnit file says, dialects and oddities resolved. */

export type Outcome = "PASSED" | "FAILED" | "ERRORED" | "SKIPPED";

/** What a failing attempt left behind; each part as it stands in the file, null where it is missing or empty. */
export type FailureText = {
  readonly type: string | null;
  readonly message: string | null;
  /** At most 65,536 characters of it. */
  readonly text: string | null;
};

/** One execution of a test. */
export type Attempt = {
  readonly outcome: Exclude<Outcome, "SKIPPED">;
  readonly failure: FailureText | null;
};

/** Names as they stand in the file, "" where they are missing. */
export type CaseIdentity = {
  /** The `id` attribute. */
  readonly id: string;
  readonly name: string;
  readonly classname: string;
  /** The name of the outermost suite. */
  readonly parent: string;
  readonly file: string;
  /** What tells cases apart that are called the same: Playwright's project. "" where nothing does. */
  readonly variant: string;
};

/** One `testcase` element. */
export type Case = CaseIdentity & {
  /** The one outcome: error before failure before skipped. */
  readonly outcome: Outcome;
  /** All its executions, oldest first; empty when it was skipped, or when how they ended is not known. */
  readonly attempts: readonly Attempt[];
  readonly durationMs: number | null;
};

/** Something that is not as it should be, and how it was read all the same. Lines and columns are counted from 1. */
export type Issue = { readonly line: number; readonly column: number; readonly message: string };

/** Each `testcase` element once. */
export type Counts = {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
};

export type Report =
  | {
      readonly kind: "READ";
      readonly cases: readonly Case[];
      readonly counts: Counts;
      /** The earliest timestamp of a suite that can be believed, milliseconds since the epoch. */
      readonly startedAt: number | null;
      readonly issues: readonly Issue[];
    }
  /** `what`: what it is instead, and what to send. */
  | { readonly kind: "REFUSED"; readonly what: string; readonly issues: readonly Issue[] };
