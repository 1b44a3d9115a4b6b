/** A test of which most runs failed lately, whether or not one of them passes now and then. */
import { type EpochMs, epochMs, HOUR_MS } from "../../kernel/time.ts";
import { counted, type Finding, type Saying, type Strength, shortSha, uploadsOf } from "./finding.ts";
import type { Evidence, Observation } from "./history.ts";
import { type FailureRateRule, KEPT_SHARE } from "./rules.ts";
import { hasOnlyFailed, hasPassed } from "./runs.ts";

/** `canKeep`: the test is BROKEN already; if it is not, there is nothing to keep. */
type Asked = { readonly now: EpochMs; readonly canKeep: boolean };

/** All branches the rule looks at are taken together. */
export function failureRate(all: readonly Observation[], rule: FailureRateRule, asked: Asked): Finding {
  const { now } = asked;
  const runs = all.filter((run) => hasPassed(run) || hasOnlyFailed(run));
  const recent = runs.filter((run) => run.at > now - rule.windowHours * HOUR_MS);
  const failed = recent.filter(hasOnlyFailed);
  const last = failed.at(-1) ?? runs.findLast(hasOnlyFailed);
  const what =
    `failed ${failed.length} of ${counted(recent.length, "run")} in the last ${counted(rule.windowHours, "hour")}` +
    (recent.length > 0 ? ` (${Math.round((100 * failed.length) / recent.length)} %)` : "");
  const evidence: readonly Evidence[] =
    last === undefined ? [] : [{ rule: "failure-rate", sha: last.sha, at: last.at, uploads: uploadsOf(failed), what }];
  const latest = last === undefined ? "" : `, latest at ${shortSha(last.sha)}`;
  return {
    rule: "failure-rate",
    says: "BROKEN",
    forecast: forecastOf(runs, rule, asked),
    reason: `${what}${latest}`,
    evidence,
  };
}

/**
 * It changes only when a run begins or leaves the window, or was the last for too long. What is to be kept is not seen
 * from now: two rules say BROKEN, and only the one that said it may keep it. Five failures in a row, which one pass
 * ends, are not to last for a day because most runs of that day failed. So the rule's own course is followed from the
 * beginning of the history, unless that cannot matter.
 */
function forecastOf(runs: readonly Observation[], rule: FailureRateRule, { now, canKeep }: Asked): Finding["forecast"] {
  const windowMs = rule.windowHours * HOUR_MS;
  const isEnough = strengthOf(newSight(runs, windowMs)(now), rule) === "ENOUGH";
  const isReplayed = canKeep && !isEnough && runs.filter(hasOnlyFailed).length >= rule.rateMin * rule.runsMin;
  const from = isReplayed ? Number.NEGATIVE_INFINITY : now;
  let atNow: Saying = { from: now, strength: isEnough ? "ENOUGH" : "NOTHING" };
  let { strength } = atNow;
  const later: Saying[] = [];
  const sight = newSight(runs, windowMs);
  for (const at of turningTimes(runs, rule, from)) {
    const seen = sight(at);
    const isQuiet = at - seen.lastAt >= rule.quietHoursMax * HOUR_MS;
    strength = strengthOf(seen, rule, isQuiet ? "NOTHING" : strength);
    if (at <= now) atNow = { from: now, strength };
    else later.push({ from: epochMs(at), strength });
  }
  return [atNow, ...later];
}

const turningTimes = (runs: readonly Observation[], rule: FailureRateRule, from: number): readonly number[] => {
  const after = [0, rule.windowHours * HOUR_MS, rule.quietHoursMax * HOUR_MS];
  const oldest = from - Math.max(...after);
  const times = runs.flatMap(({ at }) => (at < oldest ? [] : after.map((ms) => at + ms)));
  return [...new Set(times)].filter((at) => at > from).toSorted((a, b) => a - b);
};

/** What a window says, given what was said before it. */
function strengthOf({ runs, failed }: Seen, rule: FailureRateRule, before: Strength = "NOTHING"): Strength {
  if (runs > 0 && runs >= rule.runsMin && failed / runs >= rule.rateMin) return "ENOUGH";
  if (before === "NOTHING") return "NOTHING";
  return runs > 0 && failed / runs < rule.rateMin * KEPT_SHARE ? "NOTHING" : "TO_KEEP";
}

type Seen = { readonly runs: number; readonly failed: number; readonly lastAt: number };

/** Looks at the window that ends at ever later times; a run has left it when it is as old as the window is long. */
function newSight(runs: readonly Observation[], windowMs: number): (at: number) => Seen {
  let entered = 0;
  let left = 0;
  let failed = 0;
  return (at) => {
    for (let run = runs[entered]; run !== undefined && run.at <= at; run = runs[++entered])
      failed += Number(hasOnlyFailed(run));
    for (let run = runs[left]; run !== undefined && run.at <= at - windowMs; run = runs[++left])
      failed -= Number(hasOnlyFailed(run));
    return { runs: entered - left, failed, lastAt: runs[entered - 1]?.at ?? Number.NEGATIVE_INFINITY };
  };
}
