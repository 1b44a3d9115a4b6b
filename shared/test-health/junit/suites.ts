/** What a `testsuite` or `testsuites` says of itself, held against the cases it contains. */
import type { Attributes } from "./elements.ts";
import { type Place, quoted } from "./issues.ts";
import type { Counts } from "./report.ts";

export type OpenSuite = {
  readonly at: Place;
  readonly attributes: Attributes;
  /** Of everything that was read before it. */
  readonly before: Counts;
};

/** A sentence about the totals that differ from the content, null where none does or none is given. */
export function disagreement({ attributes, before }: OpenSuite, now: Counts): string | null {
  const content: Counts = {
    tests: now.tests - before.tests,
    failures: now.failures - before.failures,
    errors: now.errors - before.errors,
    skipped: now.skipped - before.skipped,
  };
  const { tests, failures, errors } = attributes;
  const wrong = [
    differs("tests", tests, [content.tests]),
    differs("failures", failures, [content.failures]),
    differs("errors", errors, [content.errors]),
    skippedDiffers(attributes, content.skipped),
  ].filter((one) => one !== null);
  if (wrong.length === 0) return null;
  const of = attributes.name === undefined ? "A suite" : `The suite ${quoted(attributes.name)}`;
  return `${of} says ${wrong.join(", ")}. The cases count.`;
}

/** Some count disabled cases among the skipped ones, some beside them. */
function skippedDiffers({ skipped, disabled }: Attributes, content: number): string | null {
  const more = numberOf(disabled) ?? 0;
  const beside = content - more;
  return skipped === undefined && content === more ? null : differs("skipped", skipped, [content, beside]);
}

function differs(what: string, said: string | undefined, contents: readonly number[]): string | null {
  const number = numberOf(said);
  return number === null || contents.includes(number) ? null : `${number} ${what} and contains ${contents[0] ?? 0}`;
}

const numberOf = (text: string | undefined): number | null =>
  text !== undefined && /^\s*\d{1,9}\s*$/u.test(text) ? Number(text) : null;
