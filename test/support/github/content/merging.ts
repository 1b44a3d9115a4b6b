/** The three ways of merging a pull request, as commits on top of a tip. Null: they conflict. */
import type { Git } from "../git.ts";
import type { Signature } from "../world.ts";
import { commit, range, mergedTree, writeCommit } from "./commits.ts";

export type MergeWords = { readonly author: Signature; readonly committer: Signature; readonly message: string };

export async function merged(git: Git, tip: string, head: string, words: MergeWords): Promise<string | null> {
  const tree = await mergedTree(git, tip, head);
  return tree === null ? null : writeCommit(git, { tree, parents: [tip, head], ...words });
}

export async function squashed(git: Git, tip: string, head: string, words: MergeWords): Promise<string | null> {
  const tree = await mergedTree(git, tip, head);
  return tree === null ? null : writeCommit(git, { tree, parents: [tip], ...words });
}

/**
 * Each commit of the pull request anew, merges left out. GitHub names itself as committer, so the commits are new ones
 * even where the head is already on top of the tip.
 */
export async function rebased(git: Git, tip: string, head: string, by: Signature): Promise<string | null> {
  const own = await range(git, tip, head, ["--topo-order", "--no-merges"]);
  let at = tip;
  for (const one of own) {
    const [parent] = one.parents;
    if (parent === undefined) return null;
    const present = await commit(git, at);
    // A passing commit with the present content and the original's parent: their merge is a cherry-pick.
    const ours = await writeCommit(git, { ...present, parents: [parent], message: "passing" });
    const tree = await mergedTree(git, ours, one.sha);
    if (tree === null) return null;
    at = await writeCommit(git, { tree, parents: [at], message: one.message, author: one.author, committer: by });
  }
  return at;
}

/** What GitHub writes when nobody says anything else: the title, and the commits as points of a list. */
export async function squashMessage(git: Git, tip: string, head: string): Promise<string> {
  const own = await range(git, tip, head, ["--no-merges"]);
  if (own.length === 1) return own[0]?.message.split("\n").slice(1).join("\n").trim() ?? "";
  return own.map((one) => `* ${one.message}`).join("\n\n");
}
