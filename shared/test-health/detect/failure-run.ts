/** A test whose last runs all failed. Time changes nothing in it; one pass ends it. */
import type { EpochMs } from "../../kernel/time.ts";
import { counted, type Finding, shortSha, uploadsOf } from "./finding.ts";
import type { Evidence, Observation } from "./history.ts";
import type { FailureRunRule } from "./rules.ts";
import { byBranch, hasOnlyFailed, hasPassed } from "./runs.ts";

/** Each branch by itself: what fails on one is not mended by a pass on another. The longest of them is told. */
export function failureRun(runs: readonly Observation[], rule: FailureRunRule, now: EpochMs): Finding {
  const evidence = [...byBranch(runs).values()]
    .map((branch) => branch.slice(branch.findLastIndex(hasPassed) + 1).filter(hasOnlyFailed))
    .filter((failed) => failed.length > 0 && failed.length >= rule.runsMin)
    .toSorted((a, b) => b.length - a.length)
    .flatMap(ofRun);
  return {
    rule: "failure-run",
    says: "BROKEN",
    forecast: [{ from: now, strength: evidence.length > 0 ? "ENOUGH" : "NOTHING" }],
    reason: evidence[0]?.what ?? "its last run passed",
    evidence,
  };
}

function ofRun(failed: readonly Observation[]): readonly Evidence[] {
  const [first, last] = [failed[0], failed.at(-1)];
  if (first === undefined || last === undefined) return [];
  const what = `the last ${counted(failed.length, "run")} on ${last.branch} failed, since ${shortSha(first.sha)}`;
  return [{ rule: "failure-run", sha: first.sha, at: last.at, uploads: uploadsOf(failed), what }];
}
