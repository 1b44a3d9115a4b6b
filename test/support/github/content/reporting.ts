/** Reporting checks and statuses, by the App and by other apps alike. */
import { emitRun, emitStatus, emitSuite } from "../events.ts";
import type { Account, CheckApp, CheckRun, Repository, Status, World } from "../world.ts";
import { ACTIONS } from "../people/actions.ts";
import { workflowOf } from "./workflows.ts";
import { suiteOf, suiteOutcome } from "./checks.ts";

export type RunChange = Partial<
  Pick<CheckRun, "name" | "status" | "conclusion" | "externalId" | "detailsUrl" | "title" | "summary" | "text">
>;

export async function addRun(
  world: World,
  repo: Repository,
  app: CheckApp,
  sha: string,
  wanted: RunChange,
  sender: Account,
): Promise<CheckRun> {
  const branch = [...repo.known].find(([ref, at]) => ref.startsWith("refs/heads/") && at === sha)?.[0];
  const suite = suiteOf(world, repo, app, sha, branch?.slice("refs/heads/".length) ?? null);
  if (world.workflows && app.id === ACTIONS.id) workflowOf(world, repo, suite);
  const run: CheckRun = {
    id: world.nextId(),
    suite,
    name: "",
    status: "queued",
    conclusion: null,
    startedAt: world.now(),
    completedAt: null,
    externalId: "",
    detailsUrl: null,
    title: null,
    summary: null,
    text: null,
  };
  repo.checkRuns.push(run);
  Object.assign(run, completed(world, wanted));
  emitRun(world, repo, "created", run, sender);
  await tellCompletion(world, repo, run, sender);
  return run;
}

/** A conclusion completes a run, whatever else is said. */
function completed(world: World, wanted: RunChange): RunChange & { completedAt?: number | null } {
  const isComplete = wanted.conclusion !== undefined && wanted.conclusion !== null;
  if (isComplete || wanted.status === "completed") return { ...wanted, status: "completed", completedAt: world.now() };
  return wanted.status === undefined ? wanted : { ...wanted, conclusion: null, completedAt: null };
}

export async function changeRun(
  world: World,
  repo: Repository,
  run: CheckRun,
  wanted: RunChange,
  sender: Account,
): Promise<void> {
  const was = run.status;
  Object.assign(run, completed(world, wanted));
  if (was !== "completed") await tellCompletion(world, repo, run, sender);
}

async function tellCompletion(world: World, repo: Repository, run: CheckRun, sender: Account): Promise<void> {
  if (run.status !== "completed") return;
  emitRun(world, repo, "completed", run, sender);
  if (suiteOutcome(repo, run.suite).status === "completed")
    await emitSuite(world, repo, "completed", run.suite, sender);
}

export async function addStatus(world: World, repo: Repository, wanted: Omit<Status, "id" | "at">): Promise<Status> {
  const status: Status = { ...wanted, id: world.nextId(), at: world.now() };
  repo.statuses.push(status);
  await emitStatus(world, repo, status, status.creator);
  return status;
}
