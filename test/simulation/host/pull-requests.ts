/** Pull requests as their host keeps them. */
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import type { PullRequestFacts } from "../../../shared/queue/engine/types.ts";
import { headOf } from "./content.ts";

export type HostPr = {
  readonly number: number;
  version: number;
  state: PullRequestFacts["state"];
  isDraft: boolean;
  baseBranch: string;
  readonly fromFork: boolean;
  /** Why the host would not let it be merged: a review that is missing. */
  obstacle: string | null;
  /** Why the host refuses to land it, although it says that it can be merged. */
  refusal: string | null;
};

export const changeOf = (pr: HostPr): string => `${pr.number}@${pr.version}`;

export class PullRequests {
  readonly all = new Map<number, HostPr>();
  /** Every head that a pull request ever had; the host keeps the objects. */
  private readonly heads = new Map<CommitSha, { readonly pr: HostPr; readonly change: string }>();

  open(number: number, fromFork = false): HostPr {
    const made: HostPr = {
      number,
      version: 0,
      state: "OPEN",
      isDraft: false,
      baseBranch: "main",
      fromFork,
      obstacle: null,
      refusal: null,
    };
    this.all.set(number, made);
    this.push(made);
    return made;
  }

  push(pr: HostPr): void {
    pr.version += 1;
    this.heads.set(headOf(changeOf(pr)), { pr, change: changeOf(pr) });
  }

  byHead(head: CommitSha): { readonly pr: HostPr; readonly change: string } | undefined {
    return this.heads.get(head);
  }
}

export const factsOf = (pr: HostPr, conflict: string | undefined, tip: CommitSha | null): PullRequestFacts => {
  const obstacle = pr.obstacle ?? (conflict === undefined ? null : `it conflicts with ${conflict}`);
  return {
    number: pr.number,
    state: pr.state,
    draft: pr.isDraft,
    title: `Change ${pr.number}`,
    url: `https://git.local/acme/app/pull/${pr.number}`,
    author: { name: "Ann Example", email: "ann@example.org" },
    headSha: headOf(changeOf(pr)),
    headBranch: `ann/change-${pr.number}`,
    baseBranch: pr.baseBranch,
    fromFork: pr.fromFork,
    mergeability: obstacle === null ? "MERGEABLE" : "NOT_MERGEABLE",
    judgedOn: tip,
    obstacle,
  };
};
