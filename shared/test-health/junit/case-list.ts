/** The cases that were read, and those that are open. */
import type { Attributes, Element } from "./elements.ts";
import { type Issues, type Place, quoted } from "./issues.ts";
import { closed, type OpenCase, tell } from "./open-case.ts";
import type { Case, Counts, FailureText } from "./report.ts";
import type { Surroundings } from "./suite-stack.ts";
import type { Shorten } from "./text.ts";
import { durationMsOf } from "./times.ts";

export type CaseList = {
  readonly open: (attributes: Attributes, around: Surroundings) => void;
  /** Of the innermost open case; nothing where there is none. */
  readonly tell: (element: Element, text: FailureText) => void;
  readonly close: (around: Surroundings) => void;
  /** The file ends here: nobody knows how those that are open would have ended, unless they failed already. */
  readonly cutOff: (around: Surroundings) => void;
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

export function createCaseList(issues: Issues, where: () => Place, shorten: Shorten): CaseList {
  const cases: Case[] = [];
  const around: Surroundings[] = [];
  const opened: OpenCase[] = [];
  const counts = { tests: 0, failures: 0, errors: 0, skipped: 0 };

  const durationOf = (time: string | undefined): number | null => {
    if (time === undefined) return null;
    const durationMs = durationMsOf(time);
    if (durationMs === null && time.trim() !== "")
      issues.once(where(), "A time is not a plain number of seconds: such durations are unknown.");
    return durationMs;
  };

  const add = (one: OpenCase, suite: Surroundings): void => {
    const done = closed(one);
    cases.push(done);
    around.push(suite);
    counts.tests += 1;
    if (done.outcome === "FAILED") counts.failures += 1;
    else if (done.outcome === "ERRORED") counts.errors += 1;
    else if (done.outcome === "SKIPPED") counts.skipped += 1;
    else if (one.saysFailed)
      issues.add(
        where(),
        `${quoted(done.name)} has the status of a failure and no failure in it: it counts as passed.`,
      );
  };

  return {
    open: (attributes, suite) => {
      const { id, name, classname, status } = attributes;
      const file = shorten(attributes.file ?? attributes.filepath) || suite.file;
      opened.push({
        identity: {
          id: shorten(id),
          name: shorten(name),
          classname: shorten(classname),
          parent: suite.parent,
          file,
          variant: "",
        },
        durationMs: durationOf(attributes.time),
        saysFailed: status !== undefined && FAILED_STATUS.has(status.toLowerCase()),
        isSkipped: isNotRun(attributes),
        failure: null,
        error: null,
        before: [],
        after: [],
      });
      if (name !== undefined && HOOK.test(name))
        issues.add(where(), `${quoted(name)} is a hook of its suite: when it fails, tests of the suite do not run.`);
    },
    tell: (element, text) => {
      const one = opened.at(-1);
      if (one !== undefined && tell(one, element, text) === "TOO_MANY")
        issues.once(where(), "A case has more than 1,000 attempts; the others were left out.");
    },
    close: (suite) => {
      const one = opened.pop();
      if (one !== undefined) add(one, suite);
    },
    cutOff: (suite) => {
      for (const one of opened) {
        one.isSkipped = true;
        issues.add(
          where(),
          `The file ends within the case ${quoted(one.identity.name)}: without a failure it counts as skipped.`,
        );
        add(one, suite);
      }
    },
    counts,
    cases,
    around,
  };
}
