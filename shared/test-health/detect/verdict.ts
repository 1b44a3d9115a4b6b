/**
 * Whether a test is HEALTHY, FLAKY or BROKEN, from what is known of its runs.
 *
 *     history ─ less outages, less what is later than now, in order ─┬─ same commit    ─┐
 *                                                                    ├─ short episodes ─┴─ FLAKY  ─┐
 *                                                                    ├─ failure rate   ─┐          ├─ the worst of them
 *                                                                    └─ failure run    ─┴─ BROKEN ─┘
 *
 * Each rule says what it finds now, and what it will if nothing more happens; the verdict is the worst that a rule
 * finds enough for, or that the test is already and a rule finds worth keeping.
 */
import { type EpochMs, earliest, epochMs } from "../../kernel/time.ts";
import { failureRate } from "./failure-rate.ts";
import { failureRun } from "./failure-run.ts";
import { counted, type Finding, strengthAt } from "./finding.ts";
import type { Evidence, Observation, TestStatus, Verdict } from "./history.ts";
import type { DetectionRules } from "./rules.ts";
import { hasOnlyFailed, hasPassed, inOrder, runsOn } from "./runs.ts";
import { sameCommit } from "./same-commit.ts";
import { shortEpisodes } from "./short-episodes.ts";

const EVIDENCE_MAX = 20;

/**
 * The verdict at a time. A function of nothing but what is handed in, and of the set of observations, not their order:
 * late results count as if they had come in time.
 *
 * `previous`: what the test was called last, by the service or anew; what is FLAKY or BROKEN stays so for longer than
 * it takes to become it. What was BROKEN and is not any more becomes FLAKY only on evidence enough for that.
 *
 * `revisitAt` is exact: without news, and with this verdict's status as the previous one, the status at any earlier time
 * is this verdict's, and at that time it is another (or an observation from the future begins to count).
 *
 * To be asked again at each failure and each pass on a commit that has failed, at each pass of a branch whose last
 * failure is not clear of it yet (`apartMinutes` of the episodes) or while it is BROKEN, and at `revisitAt`.
 *
 * The history should reach back six half-lives of the episodes (42 days by default), or as far as it is kept.
 */
export function verdictOf(
  history: readonly Observation[],
  rules: DetectionRules,
  previous: TestStatus,
  now: EpochMs,
): Verdict {
  const counting = history.filter((run) => !run.isOutage && (hasPassed(run) || hasOnlyFailed(run)));
  const runs = inOrder(counting.filter((run) => run.at <= now));
  const findings = findingsOf(runs, rules, previous, now);
  const status = statusAt(findings, previous, now);
  const holding = findings.filter((one) => one.says === status && isHolding(one, previous, now));
  return {
    status,
    reason: status === "HEALTHY" ? healthyReason(runs, history) : reasonOf(holding, now),
    rules: holding.map((one) => one.rule),
    evidence: newestOf(holding),
    revisitAt: revisitAt(findings, status, now, counting),
  };
}

function findingsOf(
  runs: readonly Observation[],
  rules: DetectionRules,
  previous: TestStatus,
  now: EpochMs,
): readonly Finding[] {
  const { sameCommit: commit, shortEpisodes: episodes, failureRate: rate, failureRun: run } = rules;
  const asked = { now, canKeep: previous === "BROKEN" };
  return [
    ...(commit.isOn ? [sameCommit(runsOn(commit.branches, runs), commit, now)] : []),
    ...(episodes.isOn ? [shortEpisodes(runsOn(episodes.branches, runs), episodes, now)] : []),
    ...(rate.isOn ? [failureRate(runsOn(rate.branches, runs), rate, asked)] : []),
    ...(run.isOn ? [failureRun(runsOn(run.branches, runs), run, now)] : []),
  ];
}

function isHolding(finding: Finding, previous: TestStatus, at: EpochMs): boolean {
  const strength = strengthAt(finding, at);
  return strength === "ENOUGH" || (strength === "TO_KEEP" && previous === finding.says);
}

function statusAt(findings: readonly Finding[], previous: TestStatus, at: EpochMs): TestStatus {
  const said = new Set(findings.filter((one) => isHolding(one, previous, at)).map((one) => one.says));
  if (said.has("BROKEN")) return "BROKEN";
  return said.has("FLAKY") ? "FLAKY" : "HEALTHY";
}

function revisitAt(
  findings: readonly Finding[],
  status: TestStatus,
  now: EpochMs,
  counting: readonly Observation[],
): EpochMs | null {
  const turns = [...new Set(findings.flatMap((one) => one.forecast.map((saying) => saying.from)))];
  const next = turns.toSorted((a, b) => a - b).find((at) => at > now && statusAt(findings, status, at) !== status);
  const news = counting.reduce((first, { at }) => (at > now && at < first ? at : first), Number.POSITIVE_INFINITY);
  return earliest(next, Number.isFinite(news) ? epochMs(news) : null) ?? null;
}

function newestOf(findings: readonly Finding[]): readonly Evidence[] {
  const order = findings.map((one) => one.rule);
  return findings
    .flatMap((one) => one.evidence)
    .toSorted((a, b) => b.at - a.at || order.indexOf(a.rule) - order.indexOf(b.rule))
    .slice(0, EVIDENCE_MAX);
}

function reasonOf(holding: readonly Finding[], now: EpochMs): string {
  const kept = holding.every((one) => strengthAt(one, now) === "TO_KEEP") ? "not cleared yet: " : "";
  return kept + holding.map((one) => one.reason).join("; ");
}

function healthyReason(runs: readonly Observation[], history: readonly Observation[]): string {
  const failed = runs.filter(hasOnlyFailed).length;
  const mixed = runs.filter((run) => run.failed > 0).length - failed;
  const outages = history.filter((run) => run.isOutage).length;
  const counts = [`${failed} failed`, `${mixed} failed and then passed`];
  if (outages > 0) counts.push(`${counted(outages, "run")} in an outage not counted`);
  return runs.length === 0 && outages === 0
    ? "0 runs are known"
    : `of ${counted(runs.length, "run")} ${counts.join(", ")}: too few for any rule`;
}
