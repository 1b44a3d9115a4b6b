/** Words of the tests of the JUnit reader. */
import { readFileSync } from "node:fs";
import { readJUnit } from "../../../shared/test-health/junit/read.ts";
import type { Case, Counts, Report } from "../../../shared/test-health/junit/report.ts";

export type Read = Extract<Report, { kind: "READ" }>;

const FIXTURES = new URL("fixtures/", import.meta.url);

export const bytesOf = (xml: string): Uint8Array => new TextEncoder().encode(xml);

export const fixture = (name: string): Uint8Array => readFileSync(new URL(name, FIXTURES));

/** Of something that is read; throws when it is refused. */
export function reading(xml: string | Uint8Array): Read {
  const report = readJUnit(typeof xml === "string" ? bytesOf(xml) : xml);
  if (report.kind === "REFUSED") throw new Error(report.what);
  return report;
}

/** Why it is refused; throws when it is read. */
export function refusal(xml: string | Uint8Array): string {
  const report = readJUnit(typeof xml === "string" ? bytesOf(xml) : xml);
  if (report.kind === "READ") throw new Error(`read with ${report.counts.tests} cases`);
  return report.what;
}

/** The only case of a file. */
export function onlyCase(xml: string): Case {
  const { cases } = reading(xml);
  const [one] = cases;
  if (one === undefined || cases.length !== 1) throw new Error(`${cases.length} cases`);
  return one;
}

export const counted = (tests: number, failures = 0, errors = 0, skipped = 0): Counts => ({
  tests,
  failures,
  errors,
  skipped,
});

export const suite = (inner: string, attributes = `name="s"`): string =>
  `<testsuite ${attributes}>${inner}</testsuite>`;

export const messages = (report: Report): readonly string[] => report.issues.map((issue) => issue.message);

/** The first issue that contains these words. */
export const issueOf = (report: Report, words: string): Report["issues"][number] | undefined =>
  report.issues.find((issue) => issue.message.includes(words));
