/**
 * A test that both passed and failed on one commit: nothing but chance, or the world outside, changed in between.
 * Retries within an upload say so by themselves; uploads of the same commit, on whatever branches and by whatever jobs,
 * say so together, and are one commit.
 */
import { DAY_MS, type EpochMs, epochMs } from "../../kernel/time.ts";
import { counted, type Finding, type Saying, shortSha, uploadsOf } from "./finding.ts";
import type { Evidence, Observation } from "./history.ts";
import type { SameCommitRule } from "./rules.ts";

/**
 * A pass and a failure must both be younger than the window: a pass eight days after the failure tells as much of what
 * changed around the commit as of the test. So a commit ages from the earlier of its latest pass and latest failure.
 */
export function sameCommit(runs: readonly Observation[], rule: SameCommitRule, now: EpochMs): Finding {
  const windowMs = rule.windowDays * DAY_MS;
  const young = runs.filter((run) => run.at > now - windowMs);
  const evidence = [...Map.groupBy(young, (run) => run.sha).values()].flatMap(ofCommit);
  const newest = evidence.toSorted((a, b) => b.at - a.at || (a.sha < b.sha ? -1 : 1));
  const ends = [...new Set(newest.map((one) => epochMs(one.at + windowMs)))].toSorted((a, b) => a - b);
  const saying = (from: EpochMs): Saying => {
    const count = newest.filter((one) => one.at + windowMs > from).length;
    return { from, strength: strengthOf(count, rule.commitsMin) };
  };
  const latest = newest[0] === undefined ? "" : `, latest at ${shortSha(newest[0].sha)}`;
  return {
    rule: "same-commit",
    says: "FLAKY",
    forecast: [saying(now), ...ends.map(saying)],
    reason: `passed and failed on ${counted(newest.length, "commit")} in the last ${counted(rule.windowDays, "day")}${latest}`,
    evidence: newest,
  };
}

function strengthOf(count: number, commitsMin: number): Saying["strength"] {
  if (count >= commitsMin) return "ENOUGH";
  return count > 0 ? "TO_KEEP" : "NOTHING";
}

function ofCommit(runs: readonly Observation[]): readonly Evidence[] {
  const lastPass = runs.findLast((run) => run.passed > 0);
  const lastFailure = runs.findLast((run) => run.failed > 0);
  if (lastPass === undefined || lastFailure === undefined) return [];
  const sum = (of: (run: Observation) => number): number => runs.reduce((all, run) => all + Math.max(0, of(run)), 0);
  const failed = counted(
    sum((run) => run.failed),
    "time",
  );
  const passed = counted(
    sum((run) => run.passed),
    "time",
  );
  return [
    {
      rule: "same-commit",
      sha: lastFailure.sha,
      at: epochMs(Math.min(lastPass.at, lastFailure.at)),
      uploads: uploadsOf(runs),
      what: `failed ${failed} and passed ${passed} on ${shortSha(lastFailure.sha)}`,
    },
  ];
}
