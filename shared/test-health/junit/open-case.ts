/** A `testcase` while its element is open, and what it comes to when it is closed. */
import { ATTEMPTS_MAX } from "./caps.ts";
import type { Element } from "./elements.ts";
import type { Attempt, Case, CaseIdentity, FailureText, Outcome } from "./report.ts";

export type OpenCase = {
  readonly identity: CaseIdentity;
  readonly durationMs: number | null;
  /** Its status attribute does, whatever stands in it. */
  readonly saysFailed: boolean;
  isSkipped: boolean;
  /** The first of each kind: one outcome has one text. */
  failure: FailureText | null;
  error: FailureText | null;
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
      return attempted(one.before, { outcome: "FAILED", failure: text });
    case "FLAKY_ERROR":
      return attempted(one.before, { outcome: "ERRORED", failure: text });
    case "RERUN_FAILURE":
      return attempted(one.after, { outcome: "FAILED", failure: text });
    case "RERUN_ERROR":
      return attempted(one.after, { outcome: "ERRORED", failure: text });
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

function attempted(attempts: Attempt[], attempt: Attempt): Told {
  if (attempts.length >= ATTEMPTS_MAX) return "TOO_MANY";
  attempts.push(attempt);
  return "TAKEN";
}

const PASSED: Attempt = { outcome: "PASSED", failure: null };
/** Most cases: one array for all of them. */
const PASSED_ONCE: readonly Attempt[] = [PASSED];
const NONE: readonly Attempt[] = [];

/** Error goes before failure, and failure before skipped: a failure counts, whatever else is said of the case. */
export function closed(one: OpenCase): Case {
  const outcome = outcomeOf(one);
  const { id, name, classname, parent, file, variant } = one.identity;
  const attempts = attemptsOf(one, outcome);
  return { id, name, classname, parent, file, variant, outcome, attempts, durationMs: one.durationMs };
}

const outcomeOf = (one: OpenCase): Outcome => {
  if (one.error !== null) return "ERRORED";
  if (one.failure !== null) return "FAILED";
  return one.isSkipped ? "SKIPPED" : "PASSED";
};

function attemptsOf({ before, after, error, failure }: OpenCase, outcome: Outcome): readonly Attempt[] {
  if (outcome === "SKIPPED") return NONE;
  if (outcome === "PASSED")
    return before.length === 0 && after.length === 0 ? PASSED_ONCE : [...before, ...after, PASSED];
  return [...before, { outcome, failure: error ?? failure }, ...after];
}
