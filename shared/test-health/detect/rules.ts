/** The settings of the rules, as a repository keeps them: plain data, each rule with its branches and its switch. */

/** Which branches a rule looks at: globs over their names, or the default branch whatever it is called. */
export type Branches = readonly string[];

/** The default branch in a list of globs. Git allows no colon in a name, so no branch is called so. */
export const DEFAULT_BRANCH = ":default";

/** FLAKY: a test both passed and failed on one commit. */
export type SameCommitRule = {
  readonly isOn: boolean;
  readonly branches: Branches;
  /** Distinct commits that it takes; one is enough for what is FLAKY already to stay so. */
  readonly commitsMin: number;
  /** A commit counts while both a pass and a failure of it are younger. */
  readonly windowDays: number;
};

/** FLAKY: it failed for a commit or two and then passed, again and again. For teams without retries. */
export type ShortEpisodesRule = {
  readonly isOn: boolean;
  readonly branches: Branches;
  /** Consecutive commits of one branch; what fails for longer was broken and then mended. */
  readonly commitsMax: number;
  /**
   * An episode counts 1 when it ends, and half as much after each half-life. Two that are not of one moment count less
   * than 2, so that it takes three to reach it. What is FLAKY already stays so down to half of this.
   */
  readonly countMin: number;
  readonly halfLifeDays: number;
  /** Runs of neighbouring commits that lie no further apart have no certain order: as much as their times vary. */
  readonly apartMinutes: number;
};

/** BROKEN: most of the runs of a window failed. */
export type FailureRateRule = {
  readonly isOn: boolean;
  readonly branches: Branches;
  /** A share, 0 to 1. What this rule called BROKEN stays so down to half of it. */
  readonly rateMin: number;
  readonly runsMin: number;
  readonly windowHours: number;
  /** After so long without a run nothing is known any more, and the rule falls silent. */
  readonly quietHoursMax: number;
};

/** BROKEN: the last runs of a branch all failed. One pass ends it. */
export type FailureRunRule = {
  readonly isOn: boolean;
  readonly branches: Branches;
  readonly runsMin: number;
};

export type DetectionRules = {
  readonly sameCommit: SameCommitRule;
  readonly shortEpisodes: ShortEpisodesRule;
  readonly failureRate: FailureRateRule;
  readonly failureRun: FailureRunRule;
};

export const DEFAULT_RULES: DetectionRules = {
  sameCommit: { isOn: true, branches: ["**"], commitsMin: 2, windowDays: 7 },
  shortEpisodes: {
    isOn: true,
    branches: [DEFAULT_BRANCH],
    commitsMax: 2,
    countMin: 2,
    // Half of a week would do for what fails once in a hundred runs; a third of all flaky tests fail once in a thousand.
    halfLifeDays: 14,
    apartMinutes: 20,
  },
  failureRate: {
    isOn: true,
    branches: [DEFAULT_BRANCH],
    rateMin: 0.8,
    runsMin: 10,
    windowHours: 24,
    quietHoursMax: 48,
  },
  failureRun: { isOn: true, branches: [DEFAULT_BRANCH], runsMin: 5 },
};

/** Where a verdict stops being kept: at this share of what it took. */
export const KEPT_SHARE = 0.5;
