/** Workflow runs of GitHub Actions. */
import { commit } from "../content/commits.ts";
import { cancel, progressOf, rerunFailed } from "../content/workflows.ts";
import { type Answer, created, notFound, ok, page, Refusal, type RepositoryCall, type Route } from "../http/call.ts";
import { instant, nodeId, user } from "../render/basics.ts";
import { simpleCommit } from "../render/commits.ts";
import { api, html, minimalRepository } from "../render/repository.ts";
import type { Shape } from "../shapes/published.ts";
import type { WorkflowRun } from "../world.ts";

const READ = { permission: "actions", level: "read" } as const;
const WRITE = { permission: "actions", level: "write" } as const;

function runOf({ repo, params }: RepositoryCall): WorkflowRun {
  const run = repo.workflowRuns.get(Number(params["run_id"]));
  if (run === undefined) throw notFound();
  return run;
}

async function shape({ world, repo }: RepositoryCall, run: WorkflowRun): Promise<Shape<"workflow-run">> {
  const url = api(world, repo, `/actions/runs/${run.id}`);
  const actor = user(world, run.headRepository.owner);
  return {
    id: run.id,
    name: "CI",
    node_id: nodeId("WorkflowRun", run.id),
    head_branch: run.headBranch,
    head_sha: run.headSha,
    path: ".github/workflows/ci.yml",
    run_number: 1,
    run_attempt: run.attempt,
    event: run.event,
    ...progressOf(repo, run),
    workflow_id: 1,
    url,
    html_url: html(world, repo, `/actions/runs/${run.id}`),
    // GitHub names none for a run of a fork's pull request.
    pull_requests: [],
    created_at: instant(run.at),
    updated_at: instant(run.at),
    run_started_at: instant(run.at),
    actor,
    triggering_actor: actor,
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: api(world, repo, `/check-suites/${run.suite?.id ?? 1}`),
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: null,
    workflow_url: api(world, repo, "/actions/workflows/1"),
    head_commit: simpleCommit(await commit(run.headRepository.git, run.headSha)),
    repository: minimalRepository(world, repo),
    head_repository: minimalRepository(world, run.headRepository),
    display_title: "CI",
  };
}

function list(call: RepositoryCall): Promise<Answer> {
  const { repo, query } = call;
  const [sha, branch, event, status] = ["head_sha", "branch", "event", "status"].map((name) => query.get(name));
  const found = [...repo.workflowRuns.values()].filter((run) => {
    const progress = progressOf(repo, run);
    return (
      (sha === null || run.headSha === sha) &&
      (branch === null || run.headBranch === branch) &&
      (event === null || run.event === event) &&
      (status === null || progress.status === status || progress.conclusion === status)
    );
  });
  const wrap = (items: readonly unknown[], total: number) => ({ total_count: total, workflow_runs: items });
  return page(call, found.toReversed(), (run) => shape(call, run), wrap);
}

function stop(call: RepositoryCall): Answer {
  const run = runOf(call);
  if (progressOf(call.repo, run).status === "completed")
    throw new Refusal(409, "Cannot cancel a workflow run that is completed.");
  cancel(call.world, call.repo, run);
  return { status: 202, body: {} };
}

function rerun(call: RepositoryCall): Answer {
  const run = runOf(call);
  if (progressOf(call.repo, run).status !== "completed") throw new Refusal(403, "This workflow is already running");
  rerunFailed(call.world, call.repo, run);
  return created({});
}

const RUNS = "/repos/{owner}/{repo}/actions/runs";

export const actionRoutes: readonly Route[] = [
  { operation: `GET ${RUNS}`, as: "REPOSITORY", needs: READ, handle: list },
  {
    operation: `GET ${RUNS}/{run_id}`,
    as: "REPOSITORY",
    needs: READ,
    handle: async (call) => ok(await shape(call, runOf(call))),
  },
  { operation: `POST ${RUNS}/{run_id}/cancel`, as: "REPOSITORY", needs: WRITE, handle: stop },
  { operation: `POST ${RUNS}/{run_id}/rerun-failed-jobs`, as: "REPOSITORY", needs: WRITE, handle: rerun },
];
