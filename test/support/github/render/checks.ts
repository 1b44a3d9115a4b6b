/** Check runs, check suites and statuses in GitHub's shapes. */
import { commit } from "../content/commits.ts";
import { suiteOutcome } from "../content/checks.ts";
import type { Shape } from "../shapes/published.ts";
import type { CheckRun, Repository, Status, Suite, World } from "../world.ts";
import { instant, instantOr, integration, nodeId, user } from "./basics.ts";
import { simpleCommit } from "./commits.ts";
import { pullsOfCommit } from "./pull.ts";
import { api, html, minimalRepository } from "./repository.ts";

export function checkRun(world: World, repo: Repository, run: CheckRun): Shape<"check-run"> {
  const url = api(world, repo, `/check-runs/${run.id}`);
  const page = pageOf(world, repo, run);
  return {
    id: run.id,
    node_id: nodeId("CheckRun", run.id),
    head_sha: run.suite.sha,
    external_id: run.externalId,
    url,
    html_url: page,
    details_url: run.detailsUrl ?? page,
    status: run.status,
    conclusion: run.conclusion,
    started_at: instant(run.startedAt),
    completed_at: instantOr(run.completedAt),
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: 0,
      annotations_url: `${url}/annotations`,
    },
    name: run.name,
    check_suite: { id: run.suite.id },
    app: integration(world, run.suite.app),
    pull_requests: pullsOfCommit(world, repo, run.suite.sha),
  };
}

/** A job of GitHub Actions is shown with its workflow run, and its id is the check run's. */
function pageOf(world: World, repo: Repository, run: CheckRun): string {
  const workflow = [...repo.workflowRuns.values()].find((one) => one.suite === run.suite);
  const path = workflow === undefined ? `/runs/${run.id}` : `/actions/runs/${workflow.id}/job/${run.id}`;
  return html(world, repo, path);
}

const suiteBase = (world: World, repo: Repository, suite: Suite) => {
  const url = api(world, repo, `/check-suites/${suite.id}`);
  const { status, conclusion } = suiteOutcome(repo, suite);
  return {
    id: suite.id,
    node_id: nodeId("CheckSuite", suite.id),
    head_branch: suite.branch,
    head_sha: suite.sha,
    status,
    conclusion,
    url,
    before: suite.before,
    after: suite.sha,
    pull_requests: pullsOfCommit(world, repo, suite.sha),
    app: integration(world, suite.app),
    created_at: instant(suite.at),
    updated_at: instant(suite.at),
    latest_check_runs_count: repo.checkRuns.filter((run) => run.suite === suite).length,
    check_runs_url: `${url}/check-runs`,
  };
};

export async function checkSuite(world: World, repo: Repository, suite: Suite): Promise<Shape<"check-suite">> {
  return {
    ...suiteBase(world, repo, suite),
    repository: minimalRepository(world, repo),
    head_commit: simpleCommit(await commit(repo.git, suite.sha)),
  };
}

/** As webhooks carry it: without the repository, which they name beside it. */
export const hookedSuite = async (world: World, repo: Repository, suite: Suite) => ({
  ...suiteBase(world, repo, suite),
  head_commit: simpleCommit(await commit(repo.git, suite.sha)),
  rerequestable: true,
  runs_rerequestable: true,
});

export function hookedRun(world: World, repo: Repository, run: CheckRun) {
  const { head_branch, head_sha, status, conclusion, ...suite } = suiteBase(world, repo, run.suite);
  const { id, node_id, url, before, after, pull_requests, app, created_at, updated_at } = suite;
  return {
    ...checkRun(world, repo, run),
    check_suite: {
      id,
      node_id,
      head_branch,
      head_sha,
      status,
      conclusion,
      url,
      before,
      after,
      pull_requests,
      app,
      created_at,
      updated_at,
    },
  };
}

export function simpleStatus(world: World, repo: Repository, one: Status): Shape<"simple-commit-status"> {
  return {
    id: one.id,
    node_id: nodeId("Status", one.id),
    url: api(world, repo, `/statuses/${one.sha}`),
    avatar_url: `${world.url}/avatars/u/${one.creator.id}`,
    state: one.state,
    description: one.description,
    target_url: one.targetUrl,
    context: one.context,
    created_at: instant(one.at),
    updated_at: instant(one.at),
  };
}

export const status = (world: World, repo: Repository, one: Status): Shape<"status"> => ({
  ...simpleStatus(world, repo, one),
  creator: user(world, one.creator),
});
