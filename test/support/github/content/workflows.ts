/** Workflow runs of GitHub Actions; their jobs are the check runs of a suite. */
import { ACTIONS } from "../people/actions.ts";
import { fullName, type Repository, type Suite, type WorkflowRun, type World } from "../world.ts";
import { latestRuns, suiteOutcome } from "./checks.ts";

export function workflowOf(world: World, repo: Repository, suite: Suite): WorkflowRun {
  const found = [...repo.workflowRuns.values()].find((run) => run.suite === suite);
  if (found !== undefined) return found;
  const run: WorkflowRun = {
    id: world.nextId(),
    event: "push",
    suite,
    attempt: 1,
    status: "queued",
    conclusion: null,
    headSha: suite.sha,
    headBranch: suite.branch ?? "",
    headRepository: repo,
    at: world.now(),
  };
  repo.workflowRuns.set(run.id, run);
  return run;
}

export function progressOf(repo: Repository, run: WorkflowRun): Pick<WorkflowRun, "status" | "conclusion"> {
  const { suite, status, conclusion } = run;
  return suite === null ? { status, conclusion } : suiteOutcome(repo, suite);
}

export function cancel(world: World, repo: Repository, run: WorkflowRun): void {
  for (const job of repo.checkRuns.filter((one) => one.suite === run.suite && one.status !== "completed"))
    Object.assign(job, { status: "completed", conclusion: "cancelled", completedAt: world.now() });
  if (run.suite === null) Object.assign(run, { status: "completed", conclusion: "cancelled" });
  world.cancelled({ repository: fullName(repo), sha: run.headSha });
}

const GOOD: ReadonlySet<string | null> = new Set(["success", "neutral", "skipped"]);

/** Somebody's CI hears of it, and reports new check runs of the same names. */
export function rerunFailed(world: World, repo: Repository, run: WorkflowRun): void {
  const jobs = latestRuns(repo.checkRuns.filter((one) => one.suite === run.suite && one.suite.app.id === ACTIONS.id));
  run.attempt += 1;
  const names = jobs.filter((one) => !GOOD.has(one.conclusion)).map((one) => one.name);
  world.rerun({ repository: fullName(repo), sha: run.headSha, names });
}
