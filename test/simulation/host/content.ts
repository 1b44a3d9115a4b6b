/**
 * What a branch holds: the changes that made it, in order. A change is `<number>@<version>` for a pull request's head,
 * or `push<n>`; how it came in stands before it: `squash:7@1`, `hand:7@1`. Two commits with the same changes in the
 * same order hold the same files; they are the same commit only where those came in the same way.
 */
import { createHash } from "node:crypto";
import { type CommitSha, commitSha, type TreeSha, treeSha } from "../../../shared/kernel/ids.ts";
import type { MergeMethod } from "../../../shared/queue/engine/types.ts";

export type Content = readonly string[];

const objectName = (what: string): string => createHash("sha1").update(what).digest("hex");

export const headOf = (change: string): CommitSha => commitSha(objectName(`head ${change}`));
export const treeOf = (content: Content): TreeSha => treeSha(objectName(`tree ${changesOf(content).join()}`));

const WAYS = { SQUASH: "squash", MERGE_COMMIT: "merge", REBASE: "rebase" } as const satisfies Record<
  MergeMethod,
  string
>;
export const landedBy = (method: MergeMethod, change: string): string => `${WAYS[method]}:${change}`;

export const changesOf = (content: Content): readonly string[] => content.map((one) => one.slice(one.indexOf(":") + 1));

/** Changes whose head commit itself is part of the history: a squash or a rebase leaves the head outside. */
export const headsIn = (content: Content): readonly CommitSha[] =>
  content
    .filter((one) => one.startsWith("merge:") || one.startsWith("hand:"))
    .map((one) => headOf(one.slice(one.indexOf(":") + 1)));

export const startsWith = <T>(whole: readonly T[], first: readonly T[]): boolean =>
  first.length <= whole.length && first.every((one, at) => whole[at] === one);

/** Every commit that anybody made. */
export class Commits {
  private readonly contents = new Map<CommitSha, Content>();

  keep(content: Content): CommitSha {
    const sha = commitSha(objectName(`commit ${content.join()}`));
    this.contents.set(sha, content);
    return sha;
  }

  /** Under a name that it has already: a pull request's head. */
  keepAs(sha: CommitSha, content: Content): void {
    this.contents.set(sha, content);
  }

  find(sha: CommitSha): Content | undefined {
    return this.contents.get(sha);
  }
}
