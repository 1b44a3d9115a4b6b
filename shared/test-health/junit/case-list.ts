/** The cases that were read, and those that are open. */
import type { Attributes, Element } from "./elements.ts";
import { type Issues, type Place, quoted } from "./issues.ts";
import { attemptsOf, type OpenCase, outcomeOf, tell } from "./open-case.ts";
import type { Case, Counts, FailureText, Outcome } from "./report.ts";
import type { Surroundings } from "./suite-stack.ts";
import type { Shorten } from "./text.ts";
import { durationMsOf } from "./times.ts";

export type CaseList = {
  readonly open: (attributes: Attributes, around: Surroundings) => void;
  /** Of the innermost open case; nothing where there is none. */
  readonly tell: (element: Element, text: FailureText) => void;
  readonly close: () => void;
  /** The file ends here: nobody knows how those that are open would have ended, unless they failed already. */
  readonly cutOff: () => void;
  readonly counts: Counts;
  readonly cases: readonly Case[];
  /** What is around each case; the same object for those of one suite. */
  readonly around: readonly Surroundings[];
};

/** As they are written by googletest, CTest, behave, Ginkgo, RSpec; in small letters. */
const NOT_RUN_STATUS: ReadonlySet<string> = new Set([
  "notrun",
  "disabled",
  "skipped",
  "ignored",
  "pending",
  "untested",
]);
const NOT_RUN_RESULT: ReadonlySet<string> = new Set(["suppressed", "skipped"]);
const FAILED_STATUS: ReadonlySet<string> = new Set(["fail", "failed", "failure", "error", "errored"]);
const HOOK = /"(?:before|after) (?:all|each)" hook/u;

const isNotRun = ({ status, result }: Attributes): boolean =>
  (status !== undefined && NOT_RUN_STATUS.has(status.toLowerCase())) ||
  (result !== undefined && NOT_RUN_RESULT.has(result.toLowerCase()));

const hasFailedStatus = ({ status }: Attributes): boolean =>
  status !== undefined && FAILED_STATUS.has(status.toLowerCase());

export function createCaseList(issues: Issues, where: () => Place, shorten: Shorten): CaseList {
  const cases: Case[] = [];
  const around: Surroundings[] = [];
  const opened: OpenCase[] = [];
  const counts = { tests: 0, failures: 0, errors: 0, skipped: 0 };

  let last: Case | null = null;

  const durationOf = (time: string | undefined): number | null => {
    if (time === undefined) return null;
    const durationMs = durationMsOf(time);
    if (durationMs === null && time.trim() !== "")
      issues.once(where(), "A time is not a plain number of seconds: such durations are unknown.");
    return durationMs;
  };

  const caseOf = (one: OpenCase, outcome: Outcome): Case => {
    const { id, name, classname, className, file, filepath, time } = one.attributes;
    const ownClass = shorten(classname ?? className);
    const ownFile = shorten(file ?? filepath) || one.suite.file;
    return {
      id: shorten(id),
      name: shorten(name),
      // Neighbours are mostly of one class and file: one text for all of them halves what a large suite takes.
      classname: ownClass === last?.classname ? last.classname : ownClass,
      parent: one.suite.parent,
      file: ownFile === last?.file ? last.file : ownFile,
      variant: "",
      outcome,
      attempts: attemptsOf(one, outcome),
      durationMs: durationOf(time),
    };
  };

  const add = (one: OpenCase): void => {
    const outcome = outcomeOf(one);
    const done = caseOf(one, outcome);
    cases.push(done);
    last = done;
    around.push(one.suite);
    counts.tests += 1;
    if (outcome === "FAILED") counts.failures += 1;
    else if (outcome === "ERRORED") counts.errors += 1;
    else if (outcome === "SKIPPED") counts.skipped += 1;
    else if (hasFailedStatus(one.attributes))
      issues.add(
        where(),
        `${quoted(done.name)} has the status of a failure and no failure in it: it counts as passed.`,
      );
  };

  return {
    open: (attributes, suite) => {
      const isSkipped = isNotRun(attributes);
      opened.push({ attributes, suite, isSkipped, failure: null, error: null, retries: null });
      const { name = "" } = attributes;
      if (name.includes("hook") && HOOK.test(name))
        issues.add(where(), `${quoted(name)} is a hook of its suite: when it fails, tests of the suite do not run.`);
    },
    tell: (element, text) => {
      const one = opened.at(-1);
      if (one !== undefined && tell(one, element, text) === "TOO_MANY")
        issues.once(where(), "A case has more than 1,000 attempts; the others were left out.");
    },
    close: () => {
      const one = opened.pop();
      if (one !== undefined) add(one);
    },
    cutOff: () => {
      for (const one of opened.splice(0)) {
        one.isSkipped = true;
        add(one);
        const name = quoted(one.attributes.name ?? "");
        issues.add(where(), `The file ends within the case ${name}: without a failure it counts as skipped.`);
      }
    },
    counts,
    cases,
    around,
  };
}
