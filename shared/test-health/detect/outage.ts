/**
 * When a database is down, a suite fails in hundreds of tests at once, and passes on the next attempt: evidence of an
 * outage, not of hundreds of flaky tests. Such an upload is shown as what it is and feeds no rule.
 *
 * The same question is asked of an upload, among those of its job, and of a commit, among commits: `commitsOf`.
 */
import { type EpochMs, epochMs, HOUR_MS } from "../../kernel/time.ts";

/** What one upload, or all uploads of one commit, say of a suite as a whole. */
export type SuiteRun = {
  readonly at: EpochMs;
  readonly sha: string;
  /** Tests that ran: those skipped are left out. */
  readonly tests: number;
  /** Tests of which at least one execution failed, whatever their retries did. */
  readonly failing: number;
  /** What was made of it. */
  readonly wasOutage: boolean;
};

export type OutageRules = {
  readonly testsMin: number;
  readonly failingMin: number;
  /** A share above this, 0 to 1, … */
  readonly share: number;
  /** … and above so many times the suite's normal one. */
  readonly timesNormal: number;
  /** Whichever comes first ends it: a real break looks the same, and is not to be hidden for long. */
  readonly commitsMax: number;
  readonly hoursMax: number;
  /** Normal is the median of the latest so many ordinary ones; of fewer than the least it is not known. */
  readonly normalOfMax: number;
  readonly normalOfMin: number;
};

export const DEFAULT_OUTAGE_RULES: OutageRules = {
  testsMin: 50,
  failingMin: 20,
  share: 0.25,
  timesNormal: 8,
  commitsMax: 5,
  hoursMax: 24,
  normalOfMax: 50,
  normalOfMin: 5,
};

/**
 * Whether this run is an outage. `recent`: earlier ones, in any order, of the same job and the same class of branch
 * (default, pull request, queue), since a break of one class is not "in a row" when the others pass in between; later
 * ones are not looked at. Without a known normal nothing is an outage.
 */
export function isOutage(
  one: Omit<SuiteRun, "wasOutage">,
  recent: readonly SuiteRun[],
  rules: OutageRules = DEFAULT_OUTAGE_RULES,
): boolean {
  const before = recent.filter((run) => run.at <= one.at).toSorted((a, b) => b.at - a.at);
  const normal = normalShare(before, rules);
  if (normal === null || !isFarAbove(one, normal, rules)) return false;
  const row = rowBefore(before, normal, rules);
  const begun = row.reduce<number>((first, run) => Math.min(first, run.at), one.at);
  const commits = new Set([one.sha, ...row.map((run) => run.sha)]).size;
  return commits <= rules.commitsMax && one.at - begun <= rules.hoursMax * HOUR_MS;
}

/**
 * A commit is all of its uploads, of the job or of all jobs, as one: at the time of the first, and an outage if one of
 * them was. A test counts in each upload it ran in; what matters is the share.
 */
export function commitsOf(uploads: readonly SuiteRun[]): readonly SuiteRun[] {
  return [...Map.groupBy(uploads, (run) => run.sha).entries()].map(([sha, runs]) => ({
    sha,
    at: epochMs(runs.reduce((first, run) => Math.min(first, run.at), Number.POSITIVE_INFINITY)),
    tests: runs.reduce((sum, run) => sum + run.tests, 0),
    failing: runs.reduce((sum, run) => sum + run.failing, 0),
    wasOutage: runs.some((run) => run.wasOutage),
  }));
}

type Size = Pick<SuiteRun, "tests" | "failing">;

const isLarge = ({ tests }: Size, { testsMin }: OutageRules): boolean => tests >= testsMin && tests > 0;

const isFarAbove = (one: Size, normal: number, rules: OutageRules): boolean =>
  isLarge(one, rules) &&
  one.failing >= rules.failingMin &&
  one.failing / one.tests > rules.share &&
  one.failing / one.tests > rules.timesNormal * normal;

/** The median: half of them may be wrong, and a break that lasts becomes normal in the end. */
function normalShare(newestFirst: readonly SuiteRun[], rules: OutageRules): number | null {
  const shares = newestFirst
    .filter((run) => !run.wasOutage && isLarge(run, rules))
    .slice(0, rules.normalOfMax)
    .map((run) => run.failing / run.tests)
    .toSorted((a, b) => a - b);
  if (shares.length < Math.max(1, rules.normalOfMin)) return null;
  const [low, high] = [shares[Math.floor((shares.length - 1) / 2)], shares[Math.floor(shares.length / 2)]];
  return ((low ?? 0) + (high ?? 0)) / 2;
}

/**
 * All that are as bad, back to the last ordinary one. Not only those that were called outages: the sixth is not, and
 * the seventh must not begin a new row behind it. What is too small to be judged neither adds to it nor ends it.
 */
function rowBefore(newestFirst: readonly SuiteRun[], normal: number, rules: OutageRules): readonly SuiteRun[] {
  const judged = newestFirst.filter((run) => run.wasOutage || isLarge(run, rules));
  const end = judged.findIndex((run) => !run.wasOutage && !isFarAbove(run, normal, rules));
  return end < 0 ? judged : judged.slice(0, end);
}
