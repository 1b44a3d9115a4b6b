/** Check runs, check suites and statuses. */
import { latestRuns, latestStatuses } from "../content/checks.ts";
import { resolve } from "../content/commits.ts";
import { addRun, addStatus, changeRun, type RunChange } from "../content/reporting.ts";
import { emitRun, emitSuite } from "../events.ts";
import {
  type Answer,
  created,
  type Needs,
  notFound,
  ok,
  page,
  Refusal,
  type RepositoryCall,
  type Route,
  text,
  unprocessable,
} from "../http/call.ts";
import { ownApp } from "../render/basics.ts";
import { checkRun, checkSuite, simpleStatus, status } from "../render/checks.ts";
import { api, minimalRepository } from "../render/repository.ts";
import type { CheckRun, Status, Suite } from "../world.ts";

const CHECKS_READ: Needs = { permission: "checks", level: "read" };
const CHECKS_WRITE: Needs = { permission: "checks", level: "write" };
const STATUSES_READ: Needs = { permission: "statuses", level: "read" };
const STATUSES_WRITE: Needs = { permission: "statuses", level: "write" };

const NUMBER_OF_STATUSES_MOST = 1_000;

async function commitOf(call: RepositoryCall, name: string): Promise<string> {
  const sha = await resolve(call.repo.git, name);
  if (sha === undefined) throw unprocessable(`No commit found for SHA: ${name}`);
  return sha;
}

const runOf = ({ repo, params }: RepositoryCall): CheckRun => {
  const found = repo.checkRuns.find((run) => `${run.id}` === params["check_run_id"]);
  if (found === undefined) throw notFound();
  return found;
};

const suiteIn = ({ repo, params }: RepositoryCall): Suite => {
  const found = repo.suites.find((suite) => `${suite.id}` === params["check_suite_id"]);
  if (found === undefined) throw notFound();
  return found;
};

const RUN_STATUSES = ["queued", "in_progress", "completed"] as const;
const CONCLUSIONS = ["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"] as const;

function wantedRun({ body }: RepositoryCall): RunChange {
  const output: Readonly<Record<string, unknown>> =
    typeof body["output"] === "object" && body["output"] !== null
      ? Object.fromEntries(Object.entries(body["output"]))
      : {};
  const texts = { name: body["name"], externalId: body["external_id"], detailsUrl: body["details_url"] };
  const said = Object.entries({ ...texts, title: output["title"], summary: output["summary"], text: output["text"] });
  const run = RUN_STATUSES.find((one) => one === body["status"]);
  const conclusion = CONCLUSIONS.find((one) => one === body["conclusion"]);
  if (run === "completed" && conclusion === undefined)
    throw unprocessable('Invalid request.\n\nNo subschema in "anyOf" matched. "conclusion" wasn\'t supplied.');
  if ([output["summary"], output["text"]].some((one) => (text(one)?.length ?? 0) > 65_535))
    throw unprocessable("Only 65535 characters are allowed");
  return {
    ...Object.fromEntries(said.filter(([, value]) => typeof value === "string")),
    ...(run === undefined ? {} : { status: run }),
    ...(conclusion === undefined ? {} : { conclusion }),
  };
}

async function create(call: RepositoryCall): Promise<Answer> {
  const { world, repo, body, sender } = call;
  const sha = await commitOf(call, text(body["head_sha"]) ?? "");
  const run = await addRun(world, repo, ownApp(world.app), sha, wantedRun(call), sender);
  return created(checkRun(world, repo, run));
}

/** An app changes its own runs, and nobody else's. */
async function update(call: RepositoryCall): Promise<Answer> {
  const { world, repo, sender } = call;
  const run = runOf(call);
  if (run.suite.app.id !== world.app.appId)
    throw new Refusal(
      403,
      `Invalid app_id \`${world.app.appId}\` - check run can only be modified by the GitHub App that created it.`,
    );
  await changeRun(world, repo, run, wantedRun(call), sender);
  return ok(checkRun(world, repo, run));
}

async function list(call: RepositoryCall, candidates: readonly CheckRun[]): Promise<Answer> {
  const { world, repo, query } = call;
  const runs = query.get("filter") === "all" ? candidates : latestRuns(candidates);
  const [name, state, app] = [query.get("check_name"), query.get("status"), query.get("app_id")];
  const found = runs.filter(
    (run) =>
      (name === null || run.name === name) &&
      (state === null || run.status === state) &&
      (app === null || `${run.suite.app.id}` === app),
  );
  return page(
    call,
    found,
    (run) => checkRun(world, repo, run),
    (items, total) => ({ total_count: total, check_runs: items }),
  );
}

async function listForRef(call: RepositoryCall): Promise<Answer> {
  const sha = await commitOf(call, call.params["ref"] ?? "");
  return list(
    call,
    call.repo.checkRuns.filter((run) => run.suite.sha === sha),
  );
}

async function suites(call: RepositoryCall): Promise<Answer> {
  const { world, repo, query, params } = call;
  const sha = await commitOf(call, params["ref"] ?? "");
  const app = query.get("app_id");
  const found = repo.suites.filter((suite) => suite.sha === sha && (app === null || `${suite.app.id}` === app));
  const wrap = (items: readonly unknown[], total: number) => ({ total_count: total, check_suites: items });
  return page(call, found, (suite) => checkSuite(world, repo, suite), wrap);
}

function combinedState(statuses: readonly Status[]): string {
  if (statuses.some((one) => one.state === "failure" || one.state === "error")) return "failure";
  return statuses.length === 0 || statuses.some((one) => one.state === "pending") ? "pending" : "success";
}

async function combined(call: RepositoryCall): Promise<Answer> {
  const { world, repo, params } = call;
  const sha = await commitOf(call, params["ref"] ?? "");
  const statuses = latestStatuses(repo, sha);
  const wrap = (items: readonly unknown[], total: number) => ({
    state: combinedState(statuses),
    statuses: items,
    sha,
    total_count: total,
    repository: minimalRepository(world, repo),
    commit_url: api(world, repo, `/commits/${sha}`),
    url: api(world, repo, `/commits/${sha}/status`),
  });
  return page(call, statuses, (one) => simpleStatus(world, repo, one), wrap);
}

async function createStatus(call: RepositoryCall): Promise<Answer> {
  const { world, repo, body, params, sender } = call;
  const sha = await commitOf(call, params["sha"] ?? "");
  const context = text(body["context"]) ?? "default";
  if (repo.statuses.filter((one) => one.sha === sha && one.context === context).length >= NUMBER_OF_STATUSES_MOST)
    throw unprocessable("This SHA and context has reached the maximum number of statuses.");
  const state = (["error", "failure", "pending", "success"] as const).find((one) => one === body["state"]) ?? "pending";
  const made = await addStatus(world, repo, {
    sha,
    context,
    state,
    creator: sender,
    description: text(body["description"]) ?? null,
    targetUrl: text(body["target_url"]) ?? null,
  });
  return created(status(world, repo, made));
}

async function statuses(call: RepositoryCall): Promise<Answer> {
  const sha = await commitOf(call, call.params["ref"] ?? "");
  const found = call.repo.statuses.filter((one) => one.sha === sha).toReversed();
  return page(call, found, (one) => status(call.world, call.repo, one));
}

async function rerunSuite(call: RepositoryCall): Promise<Answer> {
  await emitSuite(call.world, call.repo, "rerequested", suiteIn(call), call.sender);
  return created({});
}

function rerun(call: RepositoryCall): Answer {
  const run = runOf(call);
  if (call.world.workflows && run.suite.app.id !== call.world.app.appId)
    throw new Refusal(403, "Resource not accessible by integration");
  emitRun(call.world, call.repo, "rerequested", run, call.sender);
  return created({});
}

const ofSuite = (call: RepositoryCall): Promise<Answer> => {
  const suite = suiteIn(call);
  return list(
    call,
    call.repo.checkRuns.filter((run) => run.suite === suite),
  );
};

const REPO = "/repos/{owner}/{repo}";

export const checkRoutes: readonly Route[] = [
  { operation: `POST ${REPO}/check-runs`, as: "REPOSITORY", needs: CHECKS_WRITE, handle: create },
  {
    operation: `GET ${REPO}/check-runs/{check_run_id}`,
    as: "REPOSITORY",
    needs: CHECKS_READ,
    handle: (call) => ok(checkRun(call.world, call.repo, runOf(call))),
  },
  { operation: `PATCH ${REPO}/check-runs/{check_run_id}`, as: "REPOSITORY", needs: CHECKS_WRITE, handle: update },
  {
    operation: `POST ${REPO}/check-runs/{check_run_id}/rerequest`,
    as: "REPOSITORY",
    needs: CHECKS_WRITE,
    handle: rerun,
  },
  { operation: `GET ${REPO}/commits/{ref}/check-runs`, as: "REPOSITORY", needs: CHECKS_READ, handle: listForRef },
  { operation: `GET ${REPO}/commits/{ref}/check-suites`, as: "REPOSITORY", needs: CHECKS_READ, handle: suites },
  {
    operation: `GET ${REPO}/check-suites/{check_suite_id}`,
    as: "REPOSITORY",
    needs: CHECKS_READ,
    handle: async (call) => ok(await checkSuite(call.world, call.repo, suiteIn(call))),
  },
  {
    operation: `GET ${REPO}/check-suites/{check_suite_id}/check-runs`,
    as: "REPOSITORY",
    needs: CHECKS_READ,
    handle: ofSuite,
  },
  {
    operation: `POST ${REPO}/check-suites/{check_suite_id}/rerequest`,
    as: "REPOSITORY",
    needs: CHECKS_WRITE,
    handle: rerunSuite,
  },
  { operation: `GET ${REPO}/commits/{ref}/status`, as: "REPOSITORY", needs: STATUSES_READ, handle: combined },
  { operation: `GET ${REPO}/commits/{ref}/statuses`, as: "REPOSITORY", needs: STATUSES_READ, handle: statuses },
  { operation: `POST ${REPO}/statuses/{sha}`, as: "REPOSITORY", needs: STATUSES_WRITE, handle: createStatus },
];
