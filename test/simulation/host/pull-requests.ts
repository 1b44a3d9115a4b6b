/** Pull requests as their host keeps them. */
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import type { OwnEvidence, PullRequestFacts } from "../../../shared/queue/engine/types.ts";
import type { HostRun } from "./checks.ts";
import { type Content, headOf } from "./content.ts";

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

/** A commit that a pull request had as its head, and has perhaps still. */
export type Head = {
  readonly pr: HostPr;
  readonly change: string;
  /** What the target held when it was pushed: the head contains that. */
  readonly base: Content;
  /** What is tested of the head by itself. */
  readonly own: HostRun;
};

export const changeOf = (pr: HostPr): string => `${pr.number}@${pr.version}`;

export const aPullRequest = (number: number, fromFork: boolean): HostPr => ({
  number,
  version: 1,
  state: "OPEN",
  isDraft: false,
  baseBranch: "main",
  fromFork,
  obstacle: null,
  refusal: null,
});

/** What the host says beside what the pull request itself says. */
export type Seen = {
  readonly tip: CommitSha | null;
  readonly conflict: string | undefined;
  readonly own: OwnEvidence | null;
};

export const factsOf = (pr: HostPr, { tip, conflict, own }: Seen): PullRequestFacts => {
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
    own,
  };
};
