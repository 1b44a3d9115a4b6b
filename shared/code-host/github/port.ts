/** What the connection to GitHub keeps, since between two calls of it everything else is forgotten. */
import type { EpochMs } from "../../kernel/time.ts";
import type { CommitSha, OrgSlug, RepoKey, RunId, TreeSha } from "../../kernel/ids.ts";

/** Which check run of a name was asked to run again: until another result comes, it has none. */
export type Superseded = { readonly context: string; readonly id: number; readonly completedAt: string | null };

/** The target requires this status from this App: GitHub calls it the expected source. */
export type Source = { readonly context: string; readonly app: number };

export type GitHubRun = {
  readonly run: RunId;
  readonly repo: RepoKey;
  readonly branch: string;
  readonly commit: CommitSha;
  readonly tree: TreeSha;
  readonly required: readonly string[];
  /** As it was when the run was built. */
  readonly sources: readonly Source[];
  /** The draft pull request of the branch. */
  readonly pullRequest: number | null;
  readonly repeats: number;
  readonly superseded: readonly Superseded[];
  /** GitHub is being asked to repeat some checks, or was by somebody who died before he could say so. */
  readonly repeating?: Repeating | undefined;
  readonly closed: boolean;
};

/** `attempts`: of GitHub's own workflow runs, by their numbers, before they were asked to run again. */
export type Repeating = {
  readonly repeat: number;
  readonly superseded: readonly Superseded[];
  readonly attempts: Readonly<Record<string, number>>;
};

/** A change merged onto whatever holds that tree, and that much of the change's history. */
export type OntoContent = `${TreeSha}+${CommitSha}`;
/** One change merged onto one commit, or onto a content. */
export type Step = { readonly parent: CommitSha | OntoContent; readonly head: CommitSha };
export type Stepped = { readonly commit: CommitSha; readonly tree: TreeSha };

/** One of GitHub's repositories: its number is for good, the rest is as it was when somebody looked last. */
export type GitHubRepository = {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  /** Under which its installation is linked, in lower case: its owner's login, if that was not changed since. */
  readonly account: string;
};

/** All of one organization's. What is lost is made again, or tested again. */
export type GitHubMemory = {
  readonly run: (run: RunId) => Promise<GitHubRun | undefined>;
  readonly putRun: (run: GitHubRun) => Promise<void>;
  /** A run that was closed while nothing was known of it: whoever builds it at this moment is to remove it. */
  readonly bury: (run: RunId) => Promise<void>;
  readonly isBuried: (run: RunId) => Promise<boolean>;
  readonly step: (repo: RepoKey, step: Step) => Promise<Stepped | undefined>;
  readonly putStep: (repo: RepoKey, step: Step, made: Stepped) => Promise<void>;
  /** The repository that a queue's is. */
  readonly repository: (repo: RepoKey) => Promise<GitHubRepository | undefined>;
  /** False: it is another one already. */
  readonly putRepository: (repo: RepoKey, is: GitHubRepository) => Promise<boolean>;
  /** The queues' names of a repository. */
  readonly repositoriesOfId: (host: string, id: number) => Promise<readonly RepoKey[]>;
};

/** The App's installation on an account, by the account's login in lower case, if it is linked to this organization. */
export type InstallationOf = (org: OrgSlug, host: string, account: string) => Promise<number | undefined>;

/** Points as GitHub prices calls, and how many of the calls create content. */
export type Spent = { readonly points: number; readonly content: number };

/** What an installation has spent in the windows around now, in all processes together. */
export type BudgetState = {
  readonly minute: { readonly before: Spent; readonly now: Spent };
  readonly hour: { readonly before: Spent; readonly now: Spent };
  /** GitHub told somebody to ask nothing until then. */
  readonly waitUntil: EpochMs;
  /** What GitHub's headers said last; null before anybody was answered. */
  readonly requests: RequestsLeft | null;
};

export type RequestsLeft = { readonly remaining: number; readonly limit: number; readonly resetAt: EpochMs };

/** What the present windows may hold at most for a spending to be taken. */
export type Caps = { readonly points: number; readonly contentOfMinute: number; readonly contentOfHour: number };

/** One installation's, shared by all processes. */
export type Budget = {
  readonly read: (now: EpochMs) => Promise<BudgetState>;
  /** OVER: nothing was written. Without caps it has been spent already. */
  readonly spend: (
    now: EpochMs,
    spent: Spent,
    told: RequestsLeft | null,
    caps: Caps | null,
  ) => Promise<"SPENT" | "OVER">;
  readonly wait: (now: EpochMs, until: EpochMs) => Promise<void>;
};

export type Budgets = (installation: number) => Budget;
