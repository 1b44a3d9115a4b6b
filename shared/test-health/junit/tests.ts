/** The tests of a file: cases of the same identity are attempts of one test. */
import type { Attempt, Case, CaseIdentity, Outcome } from "./report.ts";
import { keyOf } from "./same-test.ts";

export type TestResult = CaseIdentity & {
  /** Of the last of its cases that was executed; SKIPPED where none was. */
  readonly outcome: Outcome;
  /** Of all its cases, in the order of the file; empty when all were skipped. */
  readonly attempts: readonly Attempt[];
  /** Of all its cases together, null where none says. */
  readonly durationMs: number | null;
};

/** In the order in which the tests are met first. Counts stay those of the cases. */
export function testsOf(cases: readonly Case[]): readonly TestResult[] {
  const byTest = new Map<string, [Case, ...Case[]]>();
  for (const one of cases) {
    const key = keyOf(one);
    const others = byTest.get(key);
    if (others === undefined) byTest.set(key, [one]);
    else others.push(one);
  }
  return Array.from(byTest.values(), testOf);
}

function testOf(cases: readonly [Case, ...Case[]]): TestResult {
  const [{ id, name, classname, parent, file, variant }] = cases;
  const durations = cases.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  return {
    id,
    name,
    classname,
    parent,
    file,
    variant,
    outcome: cases.findLast(({ outcome }) => outcome !== "SKIPPED")?.outcome ?? "SKIPPED",
    attempts: cases.flatMap(({ attempts }) => attempts),
    durationMs: durations.length === 0 ? null : durations.reduce((sum, one) => sum + one, 0),
  };
}
