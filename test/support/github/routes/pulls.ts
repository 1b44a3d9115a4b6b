/** Pull requests: listing, opening, changing. */
import { range } from "../content/commits.ts";
import { askMergeability } from "../content/mergeability.ts";
import { changePull, openPull, type PullChange } from "../content/pulls.ts";
import {
  type Answer,
  created,
  type Needs,
  noContent,
  notFound,
  ok,
  page,
  type RepositoryCall,
  type Route,
  text,
} from "../http/call.ts";
import { instant, nodeId, user } from "../render/basics.ts";
import { commitShape } from "../render/commits.ts";
import { fullPull, simplePull } from "../render/pull.ts";
import { api, html } from "../render/repository.ts";
import type { Pull, Review } from "../world.ts";
import { changedFiles } from "../content/files.ts";
import { diffEntry } from "../render/files.ts";

export const PULLS_READ: Needs = { permission: "pull_requests", level: "read" };
export const PULLS_WRITE: Needs = { permission: "pull_requests", level: "write" };

export function pullOf(call: RepositoryCall, name = "pull_number"): Pull {
  const found = call.repo.pulls.get(Number(call.params[name]));
  if (found === undefined) throw notFound();
  return found;
}

function list(call: RepositoryCall): Promise<Answer> {
  const { world, repo, query } = call;
  const state = query.get("state") ?? "open";
  const [head, base] = [query.get("head"), query.get("base")];
  const found = [...repo.pulls.values()].filter(
    (pull) =>
      (state === "all" || pull.state === state) &&
      (head === null || `${pull.head.repo.owner.login}:${pull.head.ref}` === head) &&
      (base === null || pull.base.ref === base),
  );
  const key = query.get("sort") === "updated" ? "updatedAt" : "createdAt";
  const isRising =
    query.get("direction") === "asc" ||
    (query.has("sort") && query.get("sort") !== "created" && !query.has("direction"));
  const sorted = found.sort((a, b) => (a[key] - b[key] || a.number - b.number) * (isRising ? 1 : -1));
  return page(call, sorted, (pull) => simplePull(world, repo, pull));
}

async function one(call: RepositoryCall): Promise<Answer> {
  const pull = pullOf(call);
  const shown = await fullPull(call.world, call.repo, pull);
  askMergeability(call.world, call.repo, pull);
  return ok(shown);
}

async function open(call: RepositoryCall): Promise<Answer> {
  const { world, repo, body, sender } = call;
  const pull = await openPull(world, repo, {
    head: text(body["head"]) ?? "",
    base: text(body["base"]) ?? "",
    title: text(body["title"]) ?? "",
    body: text(body["body"]) ?? null,
    draft: body["draft"] === true,
    author: sender,
  });
  return created(await fullPull(world, repo, pull));
}

async function change(call: RepositoryCall): Promise<Answer> {
  const pull = pullOf(call);
  const wanted: PullChange = {};
  const [title, body, base] = [text(call.body["title"]), text(call.body["body"]), text(call.body["base"])];
  if (title !== undefined) wanted.title = title;
  if (body !== undefined) wanted.body = body;
  if (base !== undefined) wanted.base = base;
  const state = call.body["state"];
  if (state === "open" || state === "closed") wanted.state = state;
  await changePull(call.world, call.repo, pull, wanted, call.sender);
  return ok(await fullPull(call.world, call.repo, pull));
}

async function commits(call: RepositoryCall): Promise<Answer> {
  const pull = pullOf(call);
  // GitHub tells no more than the first 250.
  const found = await range(call.repo.git, pull.base.sha, pull.head.sha, ["--topo-order"]);
  return page(call, found.slice(0, 250), (commit) => commitShape(call.world, call.repo, commit));
}

async function files(call: RepositoryCall): Promise<Answer> {
  const pull = pullOf(call);
  const found = await changedFiles(call.repo.git, pull.base.sha, pull.head.sha);
  return page(call, found.slice(0, 3_000), (file) => diffEntry(call.world, call.repo, pull.head.sha, file));
}

const review = ({ world, repo }: RepositoryCall, pull: Pull, one: Review) => {
  const link = `${html(world, repo, `/pull/${pull.number}`)}#pullrequestreview-${one.id}`;
  const address = api(world, repo, `/pulls/${pull.number}`);
  return {
    id: one.id,
    node_id: nodeId("PullRequestReview", one.id),
    user: user(world, one.user),
    body: one.body,
    state: one.state,
    html_url: link,
    pull_request_url: address,
    _links: { html: { href: link }, pull_request: { href: address } },
    submitted_at: instant(one.at),
    commit_id: one.commit,
    author_association: "MEMBER",
  };
};

async function ofCommit(call: RepositoryCall): Promise<Answer> {
  const { world, repo, params } = call;
  const sha = params["commit_sha"] ?? "";
  const found = [...repo.pulls.values()].filter((pull) => pull.head.sha === sha || pull.merged?.commit === sha);
  return page(call, found, (pull) => simplePull(world, repo, pull));
}

export const pullRoutes: readonly Route[] = [
  { operation: "GET /repos/{owner}/{repo}/pulls", as: "REPOSITORY", needs: PULLS_READ, handle: list },
  { operation: "POST /repos/{owner}/{repo}/pulls", as: "REPOSITORY", needs: PULLS_WRITE, handle: open },
  { operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}", as: "REPOSITORY", needs: PULLS_READ, handle: one },
  {
    operation: "PATCH /repos/{owner}/{repo}/pulls/{pull_number}",
    as: "REPOSITORY",
    needs: PULLS_WRITE,
    handle: change,
  },
  {
    operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}/commits",
    as: "REPOSITORY",
    needs: PULLS_READ,
    handle: commits,
  },
  {
    operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}/files",
    as: "REPOSITORY",
    needs: PULLS_READ,
    handle: files,
  },
  {
    operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
    as: "REPOSITORY",
    needs: PULLS_READ,
    handle: (call) => page(call, pullOf(call).reviews, (item) => review(call, pullOf(call), item)),
  },
  {
    operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}/merge",
    as: "REPOSITORY",
    needs: PULLS_READ,
    handle: (call) => {
      if (pullOf(call).merged === null) throw notFound();
      return noContent;
    },
  },
  {
    operation: "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls",
    as: "REPOSITORY",
    needs: PULLS_READ,
    handle: ofCommit,
  },
];
