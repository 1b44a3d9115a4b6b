/** Comments and labels of pull requests. Writing either needs a right to issues or to pull requests. */
import { allows } from "../auth/tokens.ts";
import { addComment, editComment, removeComment } from "../content/comments.ts";
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
} from "../http/call.ts";
import { commentShape } from "../render/comment.ts";
import { label } from "../render/pull.ts";
import type { Comment, Level, Pull } from "../world.ts";
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
