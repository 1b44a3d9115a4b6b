/** A `testcase` while its element is open, and what it comes to when it is closed. */
import { ATTEMPTS_MAX } from "./caps.ts";
import type { Attributes, Element } from "./elements.ts";
import type { Attempt, FailureText, Outcome } from "./report.ts";
import type { Surroundings } from "./suite-stack.ts";

export type OpenCase = {
  readonly attributes: Attributes;
  readonly suite: Surroundings;
  isSkipped: boolean;
  /** The first of each kind: one outcome has one text. */
  failure: FailureText | null;
  error: FailureText | null;
  /** Null where there was one attempt, as nearly always. */
  retries: Retries | null;
};

type Retries = {
  /** Failed attempts that came before the one that counts. */
  readonly before: Attempt[];
  /** Those that were made because that one failed. */
  readonly after: Attempt[];
};

export type Told = "TAKEN" | "TOO_MANY";

/** Takes note of a failure of whatever kind. TOO_MANY: the case has so many attempts that this one was left out. */
export function tell(one: OpenCase, element: Element, text: FailureText): Told {
  switch (element) {
    case "FAILURE":
      one.failure ??= text;
      return "TAKEN";
    case "ERROR":
      one.error ??= text;
      return "TAKEN";
    case "FLAKY_FAILURE":
      return attempted(retriesOf(one).before, { outcome: "FAILED", failure: text });
    case "FLAKY_ERROR":
      return attempted(retriesOf(one).before, { outcome: "ERRORED", failure: text });
    case "RERUN_FAILURE":
      return attempted(retriesOf(one).after, { outcome: "FAILED", failure: text });
    case "RERUN_ERROR":
      return attempted(retriesOf(one).after, { outcome: "ERRORED", failure: text });
    case "SKIPPED":
      one.isSkipped = true;
      return "TAKEN";
    case "SUITES":
    case "SUITE":
    case "CASE":
    case "OUTPUT":
    case "OTHER":
      return "TAKEN";
  }
}

function retriesOf(one: OpenCase): Retries {
  one.retries ??= { before: [], after: [] };
  return one.retries;
}

function attempted(attempts: Attempt[], attempt: Attempt): Told {
  if (attempts.length >= ATTEMPTS_MAX) return "TOO_MANY";
  attempts.push(attempt);
  return "TAKEN";
}

/** Error goes before failure, and failure before skipped: a failure counts, whatever else is said of the case. */
export function outcomeOf(one: OpenCase): Outcome {
  if (one.error !== null) return "ERRORED";
  if (one.failure !== null) return "FAILED";
  return one.isSkipped ? "SKIPPED" : "PASSED";
}

const PASSED: Attempt = { outcome: "PASSED", failure: null };
/** Most cases: one array for all of them. */
const PASSED_ONCE: readonly Attempt[] = [PASSED];
const NONE: readonly Attempt[] = [];

/** Oldest first. */
export function attemptsOf({ retries, error, failure }: OpenCase, outcome: Outcome): readonly Attempt[] {
  if (outcome === "SKIPPED") return NONE;
  if (outcome === "PASSED") return retries === null ? PASSED_ONCE : [...retries.before, ...retries.after, PASSED];
  const attempt: Attempt = { outcome, failure: error ?? failure };
  return retries === null ? [attempt] : [...retries.before, attempt, ...retries.after];
}
