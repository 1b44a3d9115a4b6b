/** Real merges without a worktree: `git merge-tree --write-tree`. */
import { type CommitSha, treeSha, type TreeSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { type Git, GIT_CRASHED, gitTrouble } from "./git.ts";
import { cut } from "./names.ts";

export type Merged =
  | { readonly kind: "CLEAN"; readonly tree: TreeSha }
  | { readonly kind: "CONFLICT"; readonly paths: readonly string[] }
  | { readonly kind: "UNRELATED" };

const MOST_PATHS = 50;
/** A name in a tree may have any length, and what conflicts is stored and told. */
const MOST_PATH = 200;

/** Merges two commits that are known to exist. */
export async function mergeCommits(git: Git, ours: CommitSha, theirs: CommitSha): Promise<Merged> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--end-of-options", ours, theirs];
  const answer = await git(args);
  const [tree = "", ...rest] = answer.out.toString("utf8").split("\0");
  // What is more than is read is a list of conflicts: of a clean merge git names the tree and nothing else.
  if (answer.code === 0 && !answer.truncated) return { kind: "CLEAN", tree: treeSha(tree.trim()) };
  if (answer.code === 1 || answer.truncated) return { kind: "CONFLICT", paths: shownPaths(rest) };
  if (answer.code === GIT_CRASHED) return { kind: "CONFLICT", paths: ["a tree that git cannot merge"] };
  const base = await git(["merge-base", "--end-of-options", ours, theirs]);
  if (base.code === 1 && base.out.length === 0) return { kind: "UNRELATED" };
  throw new HostUnavailable(gitTrouble(args, answer));
}

const shownPaths = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.filter((path) => path !== "").map((path) => cut(path, MOST_PATH)))].slice(0, MOST_PATHS);

/** Paths in a sentence: a path may hold anything, and there may be many. */
export function pathsInWords(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).map((path) => (/^[^\p{Cc}\s"]+$/u.test(path) ? path : JSON.stringify(path)));
  return paths.length > shown.length ? `${shown.join(", ")} and ${paths.length - shown.length} more` : shown.join(", ");
}
