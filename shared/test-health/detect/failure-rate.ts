/** A test of which most runs failed lately, whether or not one of them passes now and then. */
import { type EpochMs, epochMs, HOUR_MS } from "../../kernel/time.ts";
import { counted, type Finding, type Saying, type Strength, shortSha, uploadsOf } from "./finding.ts";
import type { Evidence, Observation } from "./history.ts";
import { type FailureRateRule, KEPT_SHARE } from "./rules.ts";
import { hasOnlyFailed, hasPassed } from "./runs.ts";

/** All branches the rule looks at are taken together. */
export function failureRate(all: readonly Observation[], rule: FailureRateRule, now: EpochMs): Finding {
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
    forecast: forecastOf(runs, rule, now),
    reason: `${what}${latest}`,
    evidence,
  };
}

/**
 * The rule's course through all of the history and beyond, since two rules say BROKEN and only the one that said it
 * may keep it: five failures in a row, which one pass ends, are not to last for a day because most runs of that day
 * failed. It changes only when a run begins or leaves the window, or was the last for too long.
 */
function forecastOf(runs: readonly Observation[], rule: FailureRateRule, now: EpochMs): readonly [Saying, ...Saying[]] {
  const silent: Saying = { from: now, strength: "NOTHING" };
  if (runs.filter(hasOnlyFailed).length < rule.rateMin * rule.runsMin) return [silent];
  const windowMs = rule.windowHours * HOUR_MS;
  const quietMs = rule.quietHoursMax * HOUR_MS;
  let atNow = silent;
  const later: Saying[] = [];
  let strength: Strength = "NOTHING";
  const sight = newSight(runs, windowMs);
  for (const at of turningTimes(runs, windowMs, quietMs)) {
    const seen = sight(at);
    strength = nextStrength(strength, seen, rule, at - seen.lastAt >= quietMs);
    if (at <= now) atNow = { from: now, strength };
    else later.push({ from: epochMs(at), strength });
  }
  return [atNow, ...later];
}

const turningTimes = (runs: readonly Observation[], windowMs: number, quietMs: number): readonly number[] =>
  [...new Set(runs.flatMap(({ at }) => [at, at + windowMs, at + quietMs]))].toSorted((a, b) => a - b);

type Seen = { readonly runs: number; readonly failed: number; readonly lastAt: number };

function nextStrength(before: Strength, { runs, failed }: Seen, rule: FailureRateRule, isQuiet: boolean): Strength {
  if (runs > 0 && runs >= rule.runsMin && failed / runs >= rule.rateMin) return "ENOUGH";
  if (before === "NOTHING" || isQuiet) return "NOTHING";
  return runs > 0 && failed / runs < rule.rateMin * KEPT_SHARE ? "NOTHING" : "TO_KEEP";
}

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
