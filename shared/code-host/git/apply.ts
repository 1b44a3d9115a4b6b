/**
 * Puts one pull request on top of a commit, by the queue's merge method. Everything that goes into the commits comes
 * from the request or from git objects, so the same change on the same parent gives the same commit, whenever and
 * how often it is built.
 */
import { type CommitSha, treeSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import type { Change, MergeMethod } from "../../queue/engine/types.ts";
import type { Git } from "./git.ts";
import { mergeCommits } from "./merge.ts";
import { cut, oneLine } from "./names.ts";
import { type Commit, commitsBetween, readCommit, readCommits, writeCommit } from "./objects.ts";

export type Applied =
  | { readonly kind: "BUILT"; readonly commit: CommitSha }
  | { readonly kind: "CONFLICT"; readonly paths: readonly string[] }
  | { readonly kind: "OWN"; readonly what: string };

const MOST_SQUASHED_MESSAGES = 250;
const MOST_BODY = 32_000;
/** Each costs several runs of git, for every test that contains it. */
const MOST_REBASED = 500;

export async function applyChange(git: Git, method: MergeMethod, parent: CommitSha, change: Change): Promise<Applied> {
  return method === "REBASE" ? rebase(git, parent, change) : merge(git, method, parent, change);
}

const dateOf = (change: Change): string => `${Math.floor(change.date / 1000)} +0000`;
const titleOf = (change: Change): string => oneLine(change.title) || `Pull request ${change.prNumber}`;

/** An empty change gives an empty commit: it was asked for, and its landing should show. */
async function merge(git: Git, method: "MERGE_COMMIT" | "SQUASH", parent: CommitSha, change: Change): Promise<Applied> {
  const merged = await mergeCommits(git, parent, change.headSha);
  if (merged.kind === "CONFLICT") return merged;
  if (merged.kind === "UNRELATED") return { kind: "OWN", what: UNRELATED };
  const squash = method === "SQUASH";
  const commit = await writeCommit(git, {
    tree: merged.tree,
    parents: squash ? [parent] : [parent, change.headSha],
    author: change.author,
    authorDate: dateOf(change),
    committerDate: dateOf(change),
    message: squash
      ? `${titleOf(change)} (#${change.prNumber})\n\n${await squashedBody(git, parent, change)}`
      : `Merge #${change.prNumber}: ${titleOf(change)}`,
  });
  return { kind: "BUILT", commit };
}

const UNRELATED = "its history has no commit in common with the target branch";

/** The messages that squashing would lose: the body of an only commit, else every commit as a point of a list. */
async function squashedBody(git: Git, parent: CommitSha, change: Change): Promise<string> {
  const options = ["--no-merges", `--max-count=${MOST_SQUASHED_MESSAGES}`];
  const names = (await commitsBetween(git, parent, change.headSha, options)) ?? [];
  const commits = (await readCommits(git, names)).filter((commit) => commit !== undefined);
  const [only] = commits;
  const body =
    commits.length === 1 && only !== undefined
      ? bodyOf(only)
      : commits.map((commit) => `* ${[commit.subject, bodyOf(commit)].filter(Boolean).join("\n\n")}`).join("\n\n");
  return cut(body, MOST_BODY);
}

const bodyOf = (commit: Commit): string =>
  commit.message
    .trim()
    .split(/\n\s*\n/u)
    .slice(1)
    .join("\n\n")
    .trim();

/**
 * One new commit for each of the PR's own, in order; merges inside it are left out. What changes nothing on its new
 * parent is left out too, so an empty PR moves nothing. The original author and author's date are kept.
 */
async function rebase(git: Git, parent: CommitSha, change: Change): Promise<Applied> {
  const options = ["--no-merges", `--max-count=${MOST_REBASED + 1}`];
  const names = await commitsBetween(git, parent, change.headSha, options);
  if (names === undefined) throw new HostUnavailable("the history of the pull request cannot be read");
  if (names.length > MOST_REBASED)
    return { kind: "OWN", what: `it has more than ${MOST_REBASED} commits to rebase: squash some of them` };
  let at = parent;
  for (const name of names) {
    // One at a time: together they may be larger than what is read at once.
    const original = await readCommit(git, name);
    if (original === undefined) return { kind: "OWN", what: "a commit of it is missing" };
    const picked = await pick(git, at, name, original, change);
    if (picked.kind !== "BUILT") return picked;
    at = picked.commit;
  }
  return { kind: "BUILT", commit: at };
}

/**
 * Cherry-picks. git 2.38 can only merge commits whose common ancestor it finds itself, so the present content is put
 * into a passing commit whose parent is the original's parent: then that is the common ancestor, as cherry-pick wants.
 */
async function pick(git: Git, onto: CommitSha, name: CommitSha, original: Commit, change: Change): Promise<Applied> {
  const [before] = original.parents;
  const present = await readCommit(git, onto);
  if (present === undefined) throw new HostUnavailable(`commit ${onto} cannot be read`);
  if (before === undefined) return { kind: "OWN", what: UNRELATED };
  const dates = { authorDate: original.authorDate, committerDate: dateOf(change) };
  const passing = { tree: present.tree, parents: [before], author: original.author, ...dates, message: "passing" };
  const merged = await mergeCommits(git, await writeCommit(git, passing), name);
  if (merged.kind === "CONFLICT") return merged;
  if (merged.kind === "UNRELATED") return { kind: "OWN", what: UNRELATED };
  if (merged.tree === present.tree) return { kind: "BUILT", commit: onto };
  const commit = await writeCommit(git, {
    tree: treeSha(merged.tree),
    parents: [onto],
    author: original.author,
    ...dates,
    message: original.message.trim() === "" ? titleOf(change) : original.message,
  });
  return { kind: "BUILT", commit };
}
