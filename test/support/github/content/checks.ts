/** What checks and statuses say of a commit. */
import type { CheckApp, CheckRun, Repository, Status, Suite, World } from "../world.ts";

type Outcome = { readonly status: CheckRun["status"]; readonly conclusion: CheckRun["conclusion"] };

/** Newest of each name within a suite: a re-run has the same name and a new id. */
export function latestRuns(runs: readonly CheckRun[]): readonly CheckRun[] {
  const newest = new Map<string, CheckRun>();
  for (const run of runs) {
    const key = `${run.suite.id} ${run.name}`;
    if ((newest.get(key)?.id ?? 0) < run.id) newest.set(key, run);
  }
  return [...newest.values()];
}

export const latestStatuses = (repo: Repository, sha: string): readonly Status[] => [
  ...new Map(repo.statuses.filter((one) => one.sha === sha).map((one) => [one.context, one])).values(),
];

const WORST = ["failure", "timed_out", "cancelled", "action_required", "success", "neutral", "skipped"] as const;

/** A suite is as far as its runs are; one without runs never gets further than being queued. */
export function suiteOutcome(repo: Repository, suite: Suite): Outcome {
  const runs = latestRuns(repo.checkRuns.filter((run) => run.suite === suite));
  if (runs.every((run) => run.status === "queued")) return { status: "queued", conclusion: null };
  if (runs.some((run) => run.status !== "completed")) return { status: "in_progress", conclusion: null };
  return { status: "completed", conclusion: WORST.find((one) => runs.some((run) => run.conclusion === one)) ?? null };
}

export function suiteOf(world: World, repo: Repository, app: CheckApp, sha: string, branch: string | null): Suite {
  const found = repo.suites.find((one) => one.app.id === app.id && one.sha === sha);
  if (found !== undefined) return found;
  const suite: Suite = { id: world.nextId(), app, sha, branch, before: null, at: world.now() };
  repo.suites.push(suite);
  return suite;
}

export type Verdict = "PASSED" | "FAILED" | "EXPECTED";
const GOOD: ReadonlySet<string | null> = new Set(["success", "neutral", "skipped"]);

/** What a protected branch makes of a name: a check and a status of the same name both have to pass. */
export function verdictOf(repo: Repository, sha: string, context: string, appId: number | null): Verdict {
  const runs = repo.checkRuns.filter(
    (run) => run.suite.sha === sha && run.name === context && (appId === null || run.suite.app.id === appId),
  );
  const run = [...latestRuns(runs)].sort((a, b) => b.id - a.id)[0];
  const status = appId === null ? latestStatuses(repo, sha).find((one) => one.context === context) : undefined;
  const verdicts = [...(run === undefined ? [] : [ofRun(run)]), ...(status === undefined ? [] : [ofStatus(status)])];
  if (verdicts.includes("FAILED")) return "FAILED";
  return verdicts.length === 0 || verdicts.includes("EXPECTED") ? "EXPECTED" : "PASSED";
}

function ofRun(run: CheckRun): Verdict {
  if (run.status !== "completed") return "EXPECTED";
  return GOOD.has(run.conclusion) ? "PASSED" : "FAILED";
}

function ofStatus(status: Status): Verdict {
  if (status.state === "pending") return "EXPECTED";
  return status.state === "success" ? "PASSED" : "FAILED";
}

/** Whether anything at all on a commit is not (yet) good. */
export function isUnstable(repo: Repository, sha: string): boolean {
  const runs = latestRuns(repo.checkRuns.filter((run) => run.suite.sha === sha));
  const verdicts = [...runs.map(ofRun), ...latestStatuses(repo, sha).map(ofStatus)];
  return verdicts.some((one) => one !== "PASSED");
}
