/** Histories in few words. */
import * as fc from "fast-check";
import type { Observation, TestStatus, Verdict } from "../../../shared/test-health/detect/history.ts";
import { DEFAULT_RULES, type DetectionRules } from "../../../shared/test-health/detect/rules.ts";
import { verdictOf } from "../../../shared/test-health/detect/verdict.ts";
import { DAY_MS, type EpochMs, epochMs, HOUR_MS } from "../../../shared/kernel/time.ts";

export const START = epochMs(1_760_000_000_000);
export const hour = (hours: number): EpochMs => epochMs(START + Math.round(hours * HOUR_MS));
export const day = (days: number): EpochMs => epochMs(START + Math.round(days * DAY_MS));

/** On the default branch, passing, with its own commit and upload, unless said otherwise. */
export function aRun(at: EpochMs, change: Partial<Observation> = {}): Observation {
  const name = `${(at - START).toString(36)}${change.branch ?? ""}`;
  const { passed = 1, failed = 0, branch = "main" } = change;
  return {
    at,
    sha: `c${name}`,
    branch,
    isDefaultBranch: branch === "main",
    upload: `u${name}`,
    isOutage: false,
    ...change,
    passed,
    failed,
  };
}

export const aPass = (at: EpochMs, change: Partial<Observation> = {}): Observation => aRun(at, change);
export const aFailure = (at: EpochMs, change: Partial<Observation> = {}): Observation =>
  aRun(at, { passed: 0, failed: 1, ...change });
/** It failed, and passed when it was repeated. */
export const aRetriedRun = (at: EpochMs, change: Partial<Observation> = {}): Observation =>
  aRun(at, { passed: 1, failed: 1, ...change });

/** One run an hour from an hour on: `.` passed, `F` failed, `R` failed and then passed, anything else none. */
export function runs(text: string, from = 0, change: Partial<Observation> = {}): readonly Observation[] {
  const makers = new Map([
    [".", aPass],
    ["F", aFailure],
    ["R", aRetriedRun],
  ]);
  return Array.from(text).flatMap((kind, at) => makers.get(kind)?.(hour(from + at), change) ?? []);
}

type Rule = keyof DetectionRules;

/** The defaults with only these rules on. */
export function only(...names: readonly Rule[]): DetectionRules {
  const { sameCommit, shortEpisodes, failureRate, failureRun } = DEFAULT_RULES;
  return {
    sameCommit: { ...sameCommit, isOn: names.includes("sameCommit") },
    shortEpisodes: { ...shortEpisodes, isOn: names.includes("shortEpisodes") },
    failureRate: { ...failureRate, isOn: names.includes("failureRate") },
    failureRun: { ...failureRun, isOn: names.includes("failureRun") },
  };
}

export const judged = (
  history: readonly Observation[],
  now: EpochMs,
  { rules = DEFAULT_RULES, previous = "HEALTHY" }: { rules?: DetectionRules; previous?: TestStatus } = {},
): Verdict => verdictOf(history, rules, previous, now);

/** Few commits, branches, uploads and hours, so that they meet; up to ten days. */
export const anObservation: fc.Arbitrary<Observation> = fc
  .record({
    minutes: fc.oneof(
      { weight: 60, arbitrary: fc.nat(40 * 60) },
      { weight: 39, arbitrary: fc.nat(20).map((halves) => halves * 120) },
      { weight: 1, arbitrary: fc.nat(240 * 60) },
    ),
    commit: fc.oneof(fc.nat(6), fc.nat(60)),
    upload: fc.oneof(fc.nat(2), fc.nat(200)),
    branch: fc.constantFrom("main", "main", "main", "pr/1", "release/2"),
    outcome: fc.constantFrom([1, 0], [1, 0], [0, 1], [0, 1], [0, 3], [1, 1], [1, 2], [0, 0]),
    isOutage: fc.constantFrom(false, false, false, false, true),
  })
  .map(({ minutes, commit, upload, branch, outcome: [passed = 0, failed = 0], isOutage }) => ({
    at: hour(minutes / 60),
    sha: `commit-${commit}`,
    branch,
    isDefaultBranch: branch === "main",
    upload: `upload-${upload}`,
    passed,
    failed,
    isOutage,
  }));

/** Thresholds that short histories reach. */
export const someRules: fc.Arbitrary<DetectionRules> = fc
  .record({
    on: fc.constantFrom([true, true, true, true], [true], [false, true], [false, false, true], [true, false, true]),
    branches: fc.constantFrom(["**"], [":default"], [":default", "release/*"], ["pr/*"], []),
    least: fc.integer({ min: 1, max: 4 }),
    days: fc.integer({ min: 1, max: 8 }),
    rate: fc.constantFrom(0.2, 0.5, 0.8, 1),
  })
  .map(({ on, branches, least, days, rate }) => ({
    sameCommit: { isOn: on[0] ?? false, branches, commitsMin: least, windowDays: days },
    shortEpisodes: {
      isOn: on[1] ?? false,
      branches,
      commitsMax: 2,
      countMin: least - 0.5,
      halfLifeDays: days,
      apartMinutes: 10 * least - 10,
    },
    failureRate: {
      isOn: on[2] ?? false,
      branches,
      rateMin: rate,
      runsMin: least,
      windowHours: 6 * days,
      quietHoursMax: 12 * days,
    },
    failureRun: { isOn: on[3] ?? false, branches, runsMin: least },
  }));

export const aHistory = fc.array(anObservation, { maxLength: 40 });
export const aStatus: fc.Arbitrary<TestStatus> = fc.constantFrom("HEALTHY", "FLAKY", "BROKEN");
export const aTime: fc.Arbitrary<EpochMs> = fc
  .integer({ min: 24 * 60, max: 120 * 60 })
  .map((minutes) => hour(minutes / 60));
