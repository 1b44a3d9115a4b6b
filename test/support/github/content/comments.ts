/** Comments of pull requests, by people and by the App alike. */
import { emitComment } from "../events.ts";
import { Refusal } from "../http/call.ts";
import { commentShape } from "../render/comment.ts";
import type { Account, Comment, Pull, Reaction, Repository, World } from "../world.ts";

const LONGEST = 65_536;

function requireShort(body: string): void {
  if (body.length > LONGEST)
    throw new Refusal(422, "Validation Failed", {
      errors: [
        {
          resource: "IssueComment",
          code: "custom",
          field: "body",
          message: "body is too long (maximum is 65536 characters)",
        },
      ],
    });
}

export function addComment(
  world: World,
  repo: Repository,
  pull: Pull,
  body: string,
  user: Account,
  viaApp = false,
): Comment {
  requireShort(body);
  const now = world.now();
  const comment: Comment = {
    id: world.nextId(),
    number: pull.number,
    body,
    user,
    viaApp,
    createdAt: now,
    updatedAt: now,
    reactions: [],
  };
  repo.comments.push(comment);
  emitComment(world, repo, "created", pull, commentShape(world, repo, comment), comment);
  return comment;
}

export function editComment(world: World, repo: Repository, pull: Pull, comment: Comment, body: string): void {
  requireShort(body);
  const changes = { body: { from: comment.body } };
  comment.body = body;
  comment.updatedAt = world.now();
  emitComment(world, repo, "edited", pull, commentShape(world, repo, comment), comment, { changes });
}

export function removeComment(world: World, repo: Repository, pull: Pull, comment: Comment): void {
  repo.comments.splice(repo.comments.indexOf(comment), 1);
  emitComment(world, repo, "deleted", pull, commentShape(world, repo, comment), comment);
}

/** Whoever reacts twice in the same way is told of the first time; no webhook tells of either. */
export function react(
  world: World,
  comment: Comment,
  user: Account,
  content: Reaction["content"],
): { readonly reaction: Reaction; readonly isNew: boolean } {
  const found = comment.reactions.find((one) => one.user === user && one.content === content);
  if (found !== undefined) return { reaction: found, isNew: false };
  const reaction: Reaction = { id: world.nextId(), user, content, at: world.now() };
  comment.reactions.push(reaction);
  return { reaction, isNew: true };
}
