/** What the twin knows: accounts, repositories, pull requests, checks. Plain data; people and requests change it. */
import type { Git } from "./git.ts";

export type Account = { readonly id: number; login: string; readonly type: "User" | "Organization" | "Bot" };

export type Level = "read" | "write" | "admin";
export type Permissions = Readonly<Record<string, Level>>;
export type Role = "admin" | "maintain" | "write" | "triage" | "read" | "none";

export type App = {
  readonly appId: number;
  readonly slug: string;
  readonly name: string;
  /** PEM, PKCS#1, as GitHub hands it out. */
  readonly privateKey: string;
  readonly publicKey: string;
  webhookSecret: string;
  readonly owner: Account;
  permissions: Permissions;
  events: readonly string[];
};

export type Installation = {
  readonly id: number;
  readonly account: Account;
  readonly repositories: Set<number>;
  permissions: Permissions;
  readonly createdAt: number;
  suspendedAt: number | null;
};

export type Token = {
  readonly installation: Installation;
  readonly expiresAt: number;
  readonly permissions: Permissions;
  /** Null: all of the installation's. */
  readonly repositories: ReadonlySet<number> | null;
};

export type Signature = { readonly name: string; readonly email: string; readonly date: string };

export type Mergeability =
  | { readonly kind: "UNKNOWN" | "COMPUTING" }
  | { readonly kind: "KNOWN"; readonly mergeCommit: string | null; readonly rebaseable: boolean };

export type Review = {
  readonly id: number;
  readonly user: Account;
  state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED";
  readonly body: string;
  readonly commit: string;
  readonly at: number;
};

export type Pull = {
  readonly id: number;
  readonly number: number;
  title: string;
  body: string | null;
  readonly author: Account;
  state: "open" | "closed";
  draft: boolean;
  readonly head: { readonly repo: Repository; readonly ref: string; sha: string };
  /** `sha` is where the base was when the pull request was opened or last changed, not where it is now. */
  base: { ref: string; sha: string };
  readonly createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  merged: { readonly at: number; readonly by: Account; readonly commit: string } | null;
  mergeability: Mergeability;
  readonly labels: string[];
  readonly reviews: Review[];
};

export type CheckApp = { readonly id: number; readonly slug: string; readonly name: string };
export type Conclusion = NonNullable<CheckRun["conclusion"]>;

export type Suite = {
  readonly id: number;
  readonly app: CheckApp;
  readonly sha: string;
  readonly branch: string | null;
  readonly before: string | null;
  readonly at: number;
};

export type CheckRun = {
  readonly id: number;
  readonly suite: Suite;
  name: string;
  status: "queued" | "in_progress" | "completed";
  conclusion: "success" | "failure" | "neutral" | "cancelled" | "skipped" | "timed_out" | "action_required" | null;
  startedAt: number;
  completedAt: number | null;
  externalId: string;
  detailsUrl: string | null;
  title: string | null;
  summary: string | null;
  text: string | null;
};

export type Status = {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: "error" | "failure" | "pending" | "success";
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly creator: Account;
  readonly at: number;
};

export type Comment = {
  readonly id: number;
  readonly number: number;
  body: string;
  readonly user: Account;
  readonly viaApp: boolean;
  readonly createdAt: number;
  updatedAt: number;
  readonly reactions: Reaction[];
};

export const REACTIONS = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"] as const;
export type Reaction = {
  readonly id: number;
  readonly user: Account;
  readonly content: (typeof REACTIONS)[number];
  readonly at: number;
};

/** What GitHub keeps of a label's coming and going. */
export type Labelling = {
  readonly id: number;
  readonly number: number;
  readonly event: "labeled" | "unlabeled";
  readonly label: string;
  readonly actor: Account;
  readonly at: number;
};

export type Label = { readonly id: number; readonly name: string; color: string; description: string };

export type Protection = {
  readonly requiredStatuses: readonly { readonly context: string; readonly appId: number | null }[];
  /** Where GitHub keeps it: the older branch protection, or a ruleset. */
  readonly by: "protection" | "ruleset";
  readonly strict: boolean;
  readonly approvals: number;
  readonly requirePullRequest: boolean;
  readonly linearHistory: boolean;
  /** Only these apps may push; null: everybody with write access. */
  readonly onlyApps: readonly string[] | null;
  /** These apps need not keep the rules about statuses, reviews and pull requests. */
  readonly bypass: readonly string[];
};

export type WorkflowRun = {
  readonly id: number;
  readonly event: string;
  /** Whose check runs are its jobs; it is then as far as they are. Null: it is as far as is said. */
  readonly suite: Suite | null;
  attempt: number;
  status: "queued" | "in_progress" | "completed";
  conclusion: string | null;
  readonly headSha: string;
  readonly headBranch: string;
  readonly headRepository: Repository;
  readonly at: number;
};

export type Repository = {
  readonly id: number;
  owner: Account;
  name: string;
  /** Former `owner/name`s, which redirect. */
  readonly formerly: Set<string>;
  /** Former names of branches, and what they are called. */
  readonly renamedBranches: Map<string, string>;
  readonly git: Git;
  defaultBranch: string;
  readonly parent: Repository | null;
  readonly allow: { merge: boolean; squash: boolean; rebase: boolean; deleteBranchOnMerge: boolean };
  readonly createdAt: number;
  nextNumber: number;
  readonly pulls: Map<number, Pull>;
  readonly suites: Suite[];
  readonly checkRuns: CheckRun[];
  readonly statuses: Status[];
  readonly comments: Comment[];
  readonly labels: Map<string, Label>;
  readonly labellings: Labelling[];
  readonly protections: Map<string, Protection>;
  readonly roles: Map<string, Role>;
  readonly workflowRuns: Map<number, WorkflowRun>;
  /** Branches and tags as last noticed. */
  known: ReadonlyMap<string, string>;
  /** Whatever changes the repository waits for what came before. */
  turn: Promise<unknown>;
};

export type Emit = (
  event: string,
  action: string | null,
  repo: Repository | null,
  payload: object,
  sender: Account,
) => void;
/** Failed jobs of a workflow run are to run again. */
export type Rerun = { readonly repository: string; readonly sha: string; readonly names: readonly string[] };
/** A workflow run was cancelled: its jobs that had not ended are to stop. */
export type Cancelled = { readonly repository: string; readonly sha: string };
export type Pushed = { readonly repository: string; readonly branch: string; readonly sha: string };

export type World = {
  /** The API's base address; set once the server listens. */
  url: string;
  readonly folder: string;
  readonly now: () => number;
  readonly nextId: () => number;
  readonly app: App;
  readonly accounts: Map<string, Account>;
  /** Apps other than the one under test, by their slugs: those that have reported something. */
  readonly apps: Map<string, CheckApp>;
  readonly repositories: Repository[];
  readonly installations: Installation[];
  readonly tokens: Map<string, Token>;
  readonly mergeabilityDelayMs: number;
  readonly emit: Emit;
  readonly pushed: (push: Pushed) => void;
  readonly rerun: (rerun: Rerun) => void;
  readonly cancelled: (cancelled: Cancelled) => void;
  /** Check runs of GitHub Actions are jobs of workflow runs, and nobody reruns another app's checks. */
  readonly workflows: boolean;
};

export const fullName = (repo: Repository): string => `${repo.owner.login}/${repo.name}`;

export function accountOf(world: World, login: string, type = kindOf(login)): Account {
  const key = login.toLowerCase();
  const found = world.accounts.get(key);
  if (found !== undefined) return found;
  const made: Account = { id: world.nextId(), login, type };
  world.accounts.set(key, made);
  return made;
}

const kindOf = (login: string): Account["type"] => (login.endsWith("[bot]") ? "Bot" : "User");

/** Somebody's work on a repository, after what others began. */
export function inTurn<T>(repo: Repository, work: () => Promise<T>): Promise<T> {
  const done = repo.turn.then(work);
  repo.turn = done.catch(() => {});
  return done;
}

export const botOf = (world: World): Account => accountOf(world, `${world.app.slug}[bot]`, "Bot");

export const findRepository = (world: World, name: string): Repository | undefined =>
  world.repositories.find((one) => fullName(one).toLowerCase() === name.toLowerCase());

export const installationOn = (world: World, repo: Repository): Installation | undefined =>
  world.installations.find((one) => one.repositories.has(repo.id));
