/** What the connection to GitHub keeps, since between two calls of it everything else is forgotten. */
import type { CommitSha, OrgSlug, RepoKey, RunId, TreeSha } from "../../kernel/ids.ts";

/** Which check run of a name was asked to run again: until another result comes, it has none. */
export type Superseded = { readonly context: string; readonly id: number; readonly completedAt: string | null };

export type GitHubRun = {
  readonly run: RunId;
  readonly repo: RepoKey;
  readonly branch: string;
  readonly commit: CommitSha;
  readonly tree: TreeSha;
  readonly required: readonly string[];
  /** The draft pull request of the branch. */
  readonly pullRequest: number | null;
  readonly repeats: number;
  readonly superseded: readonly Superseded[];
  readonly closed: boolean;
};

/** One change merged onto one commit. */
export type Step = { readonly parent: CommitSha; readonly head: CommitSha };
export type Stepped = { readonly commit: CommitSha; readonly tree: TreeSha };

/** All of one organization's. What is lost is made again, or tested again. */
export type GitHubMemory = {
  readonly run: (run: RunId) => Promise<GitHubRun | undefined>;
  readonly putRun: (run: GitHubRun) => Promise<void>;
  readonly step: (repo: RepoKey, step: Step) => Promise<Stepped | undefined>;
  readonly putStep: (repo: RepoKey, step: Step, made: Stepped) => Promise<void>;
};

/** The App's installation on an account, by the account's login in lower case, if it is linked to this organization. */
export type InstallationOf = (org: OrgSlug, host: string, account: string) => Promise<number | undefined>;
