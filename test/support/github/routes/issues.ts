/** Comments and labels of pull requests. Writing either needs a right to issues or to pull requests. */
import { allows } from "../auth/tokens.ts";
import { addComment, editComment, react, removeComment } from "../content/comments.ts";
import { addLabels, createLabel, removeLabel } from "../content/labels.ts";
import {
  type Answer,
  created,
  noContent,
  notFound,
  ok,
  page,
  Refusal,
  type RepositoryCall,
  type Route,
  text,
  unprocessable,
} from "../http/call.ts";
import { commentShape, reactionShape } from "../render/comment.ts";
import { issueShape, labellingShape } from "../render/issue.ts";
import { label } from "../render/pull.ts";
import { type Comment, type Level, type Pull, REACTIONS } from "../world.ts";
import { pullOf } from "./pulls.ts";

const REPO = "/repos/{owner}/{repo}";

/** Either right will do, for pull requests. */
function requireEither({ actor }: RepositoryCall, level: Level): void {
  const held = actor.kind === "APP" ? {} : actor.token.permissions;
  const now = actor.kind === "APP" ? {} : actor.installation.permissions;
  const has = (name: string): boolean => allows(held, name, level) && allows(now, name, level);
  if (has("issues") || has("pull_requests")) return;
  throw new Refusal(
    403,
    "Resource not accessible by integration",
    {},
    {
      "x-accepted-github-permissions": `issues=${level}; pull_requests=${level}`,
    },
  );
}

const reading =
  (handle: (call: RepositoryCall) => Promise<Answer> | Answer, level: Level = "read") =>
  (call: RepositoryCall): Promise<Answer> | Answer => {
    requireEither(call, level);
    return handle(call);
  };
const writing = (handle: (call: RepositoryCall) => Promise<Answer> | Answer) => reading(handle, "write");

function commentOf({ repo, params }: RepositoryCall): { readonly comment: Comment; readonly pull: Pull } {
  const comment = repo.comments.find((one) => `${one.id}` === params["comment_id"]);
  const pull = repo.pulls.get(comment?.number ?? 0);
  if (comment === undefined || pull === undefined) throw notFound();
  return { comment, pull };
}

const issue = (call: RepositoryCall): Pull => pullOf(call, "issue_number");

const comments = (call: RepositoryCall): Promise<Answer> => {
  const { world, repo, query } = call;
  const since = Date.parse(query.get("since") ?? "") || 0;
  const { number } = issue(call);
  const found = repo.comments.filter((one) => one.number === number && one.updatedAt >= since);
  return page(call, found, (one) => commentShape(world, repo, one));
};

/** Those of the whole repository, oldest first unless the newest change is asked for first. */
function allComments(call: RepositoryCall): Promise<Answer> {
  const { world, repo, query } = call;
  const since = Date.parse(query.get("since") ?? "") || 0;
  const key = query.get("sort") === "updated" ? "updatedAt" : "createdAt";
  // GitHub ignores the direction where no order is asked for.
  const turn = query.has("sort") && query.get("direction") !== "asc" ? -1 : 1;
  const found = repo.comments.filter((one) => one.updatedAt >= since);
  const sorted = found.sort((a, b) => (a[key] - b[key] || a.id - b.id) * turn);
  return page(call, sorted, (one) => commentShape(world, repo, one));
}

/** Pull requests are issues as well, and here the only ones; of labels that are named all have to be there. */
function issues(call: RepositoryCall): Promise<Answer> {
  const { world, repo, query } = call;
  const state = query.get("state") ?? "open";
  const since = Date.parse(query.get("since") ?? "") || 0;
  const wanted = (query.get("labels") ?? "").split(",").filter(Boolean);
  const key = query.get("sort") === "updated" ? "updatedAt" : "createdAt";
  const turn = query.get("direction") === "asc" ? 1 : -1;
  const found = [...repo.pulls.values()].filter(
    (pull) =>
      (state === "all" || pull.state === state) &&
      pull.updatedAt >= since &&
      wanted.every((name) => pull.labels.some((one) => one.toLowerCase() === name.toLowerCase())),
  );
  const sorted = found.sort((a, b) => (a[key] - b[key] || a.number - b.number) * turn);
  return page(call, sorted, (pull) => issueShape(world, repo, pull));
}

function labellings(call: RepositoryCall): Promise<Answer> {
  const { world, repo } = call;
  const { number } = issue(call);
  const found = repo.labellings.filter((one) => one.number === number);
  return page(call, found, (one) => labellingShape(world, repo, one));
}

function reaction(call: RepositoryCall): Answer {
  const content = REACTIONS.find((one) => one === call.body["content"]);
  if (content === undefined) throw unprocessable("Invalid request.\n\ncontent is not one of GitHub's reactions");
  const left = react(call.world, commentOf(call).comment, call.sender, content);
  return { status: left.isNew ? 201 : 200, body: reactionShape(call.world, left.reaction) };
}

function comment(call: RepositoryCall): Answer {
  const { world, repo, body, sender } = call;
  const made = addComment(world, repo, issue(call), text(body["body"]) ?? "", sender, true);
  return created(commentShape(world, repo, made));
}

/** An app may edit what others wrote only with the right to; the queue's comment is its own. */
function edit(call: RepositoryCall): Answer {
  const { world, repo, body } = call;
  const found = commentOf(call);
  editComment(world, repo, found.pull, found.comment, text(body["body"]) ?? "");
  return ok(commentShape(world, repo, found.comment));
}

function remove(call: RepositoryCall): Answer {
  const found = commentOf(call);
  removeComment(call.world, call.repo, found.pull, found.comment);
  return noContent;
}

const labelsOf = ({ world, repo }: RepositoryCall, pull: Pull) => pull.labels.map((name) => label(world, repo, name));

async function add(call: RepositoryCall): Promise<Answer> {
  const { world, repo, body, sender } = call;
  const pull = issue(call);
  const wanted = Array.isArray(body["labels"]) ? body["labels"] : [];
  const names = wanted.map((one: unknown) =>
    typeof one === "object" && one !== null && "name" in one ? String(one.name) : String(one),
  );
  await addLabels(world, repo, pull, names, sender);
  return ok(labelsOf(call, pull));
}

async function unlabel(call: RepositoryCall): Promise<Answer> {
  const pull = issue(call);
  const isThere = await removeLabel(call.world, call.repo, pull, call.params["name"] ?? "", call.sender);
  if (!isThere) throw new Refusal(404, "Label does not exist");
  return ok(labelsOf(call, pull));
}

function newLabel(call: RepositoryCall): Answer {
  const { world, repo, body } = call;
  const name = text(body["name"]) ?? "";
  createLabel(world, repo, name, text(body["color"]), text(body["description"]));
  return created(label(world, repo, name));
}

function oneLabel({ world, repo, params }: RepositoryCall): Answer {
  const name = params["name"] ?? "";
  if (!repo.labels.has(name.toLowerCase())) throw notFound();
  return ok(label(world, repo, name));
}

const allLabels = (call: RepositoryCall): Promise<Answer> =>
  page(call, [...call.repo.labels.values()], ({ name }) => label(call.world, call.repo, name));

export const issueRoutes: readonly Route[] = (
  [
    [`GET ${REPO}/issues`, reading(issues)],
    [`GET ${REPO}/issues/comments`, reading(allComments)],
    [`POST ${REPO}/issues/comments/{comment_id}/reactions`, writing(reaction)],
    [`GET ${REPO}/issues/{issue_number}/events`, reading(labellings)],
    [`GET ${REPO}/issues/{issue_number}/comments`, reading(comments)],
    [`POST ${REPO}/issues/{issue_number}/comments`, writing(comment)],
    [
      `GET ${REPO}/issues/comments/{comment_id}`,
      reading((call) => ok(commentShape(call.world, call.repo, commentOf(call).comment))),
    ],
    [`PATCH ${REPO}/issues/comments/{comment_id}`, writing(edit)],
    [`DELETE ${REPO}/issues/comments/{comment_id}`, writing(remove)],
    [
      `GET ${REPO}/issues/{issue_number}/labels`,
      reading((call) => page(call, labelsOf(call, issue(call)), (one) => one)),
    ],
    [`POST ${REPO}/issues/{issue_number}/labels`, writing(add)],
    [`DELETE ${REPO}/issues/{issue_number}/labels/{name}`, writing(unlabel)],
    [`GET ${REPO}/labels`, reading(allLabels)],
    [`POST ${REPO}/labels`, writing(newLabel)],
    [`GET ${REPO}/labels/{name}`, reading(oneLabel)],
  ] as const
).map(([operation, handle]) => ({
  operation,
  as: "REPOSITORY",
  needs: { permission: "metadata", level: "read" },
  handle,
}));
