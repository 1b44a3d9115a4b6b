/** A test's history as the rules read it: in one order whatever came late, and by branch. */
import { globOf, partsOf } from "../../kernel/glob.ts";
import type { Observation } from "./history.ts";
import { type Branches, DEFAULT_BRANCH } from "./rules.ts";

/** One upload is one run of the test, however often it was retried in it: as the counters of uploads have it. */
export const hasPassed = (run: Observation): boolean => run.passed > 0;
/** It never passed in this run: a failure that a retry took back is not one. */
export const hasOnlyFailed = (run: Observation): boolean => run.failed > 0 && run.passed <= 0;

/** By time, then upload; the rest only so that two histories of the same runs are always the same list. */
export function inOrder(history: readonly Observation[]): readonly Observation[] {
  const isSorted = history.every((run, at) => at === 0 || compare(history[at - 1] ?? run, run) <= 0);
  return isSorted ? history : history.toSorted(compare);
}

const compare = (a: Observation, b: Observation): number =>
  a.at - b.at ||
  order(a.upload, b.upload) ||
  order(a.sha, b.sha) ||
  order(a.branch, b.branch) ||
  a.passed - b.passed ||
  a.failed - b.failed ||
  Number(a.isDefaultBranch) - Number(b.isDefaultBranch);

// Not by locale: the order must be the same everywhere.
const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const ALL_BRANCHES = "**";

/** Those on branches that the rule looks at, in their order. */
export function runsOn(branches: Branches, runs: readonly Observation[]): readonly Observation[] {
  if (branches.includes(ALL_BRANCHES)) return runs;
  const globs = branches.filter((pattern) => pattern !== DEFAULT_BRANCH).map(globOf);
  const hasDefault = globs.length < branches.length;
  const known = new Map<string, boolean>();
  const isMatched = (branch: string): boolean => {
    const before = known.get(branch);
    if (before !== undefined) return before;
    const parts = partsOf(branch);
    const isOne = globs.some((glob) => glob(parts));
    known.set(branch, isOne);
    return isOne;
  };
  return runs.filter((run) => (hasDefault && run.isDefaultBranch) || (globs.length > 0 && isMatched(run.branch)));
}

/** Each branch by itself; the default branch is one, under whatever names it went. */
export function byBranch(runs: readonly Observation[]): ReadonlyMap<string, readonly Observation[]> {
  return Map.groupBy(runs, (run) => (run.isDefaultBranch ? DEFAULT_BRANCH : run.branch));
}
