/**
 * pytest runs each of its tests once. Where a suite of its has the same test several times, pytest-rerunfailures ran it
 * again, and left all its attempts in the file but no failure in those before the last.
 */
import type { Case } from "./report.ts";
import { keyOf } from "./same-test.ts";
import type { Surroundings } from "./suite-stack.ts";

/**
 * The cases, without an attempt where one passes that is followed by another of its test in the same suite: what became
 * of it is not known. Null where there is none.
 */
export function withoutReruns(cases: readonly Case[], around: readonly Surroundings[]): readonly Case[] | null {
  const last = new Map<string, number>();
  const suites = new Map<Surroundings, number>();
  const keys = cases.map((one, at) => {
    const suite = around[at];
    if (suite !== undefined && !suites.has(suite)) suites.set(suite, suites.size);
    return `${suite === undefined ? "" : (suites.get(suite) ?? "")} ${keyOf(one)}`;
  });
  for (const [at, key] of keys.entries()) last.set(key, at);
  if (last.size === cases.length) return null;
  const isUnknown = (one: Case, at: number): boolean =>
    one.outcome === "PASSED" && one.attempts.length === 1 && last.get(keys[at] ?? "") !== at;
  return cases.some(isUnknown) ? cases.map((one, at) => (isUnknown(one, at) ? { ...one, attempts: [] } : one)) : null;
}

export const RERUN_UNKNOWN =
  "pytest-rerunfailures ran tests again and does not say how they failed before: only their last attempts are known.";
