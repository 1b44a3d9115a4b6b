/**
 * What the queue needs of a place where pull requests live. Two adapters: `git/` (bare repositories on disk)
 * and `github/`; both pass test/conformance. Everything may be called twice for one thing: the second call
 * finds what the first one did.
 */
import type { CommitSha, EntryId, OrgSlug, RepoKey, RunId, TreeSha } from "../kernel/ids.ts";
import type { EpochMs } from "../kernel/time.ts";
import type {
  Change,
  MergeMethod,
  NotBuilt,
  NotLanded,
  PullRequestFacts,
  StatusCheck,
  Tip,
} from "../queue/engine/types.ts";
import type { People } from "./people.ts";

/**
 * The host could not be asked, or broke while working. Says nothing about the pull request; try again later.
 * The message is for people who use the queue: a repository that is not there, a disk, a lock.
 */
export class HostUnavailable extends Error {
  override readonly name = "HostUnavailable";
}

/** No connection leads to the repository. The message says who has to make one, and how. */
export class NotConnected extends HostUnavailable {}

/** What was asked for can wait, and has to until then: others need what is left of the host's limits. */
export class NotNow extends HostUnavailable {
  readonly until: EpochMs;
  /** The host is to be asked for nothing at all until then. False: something else may be asked for. */
  readonly isForAll: boolean;
  constructor(message: string, until: EpochMs, isForAll = false) {
    super(message);
    this.until = until;
    this.isForAll = isForAll;
  }
}

export type BuildRequest = {
  readonly run: RunId;
  readonly repo: RepoKey;
  readonly branch: string;
  readonly base: CommitSha;
  readonly changes: readonly Change[];
  readonly mergeMethod: MergeMethod;
  /** Statuses that must come; one that the tested content does not define is reported as FAILURE. */
  readonly required: readonly string[];
  /** What it is tested for: the branch into which its changes are to land. */
  readonly targetBranch: string;
  /** On a host that opens pull requests: opens a draft into the target, so that the workflows run which it has for them. */
  readonly opensDraft?: boolean;
};

export type Built = { readonly commit: CommitSha; readonly tree: TreeSha };

export type LandRequest = {
  /** Null for a direct merge: `commit` is then a pull request's head that contains the tip. */
  readonly run: RunId | null;
  readonly repo: RepoKey;
  readonly targetBranch: string;
  /** The tested commit and its tree. */
  readonly commit: CommitSha;
  readonly tree: TreeSha;
  /** The tip the tested commit was built on. */
  readonly base: CommitSha;
  readonly expectedTip: CommitSha;
  /** What lands now, in order: what the tested commit adds to `expectedTip`. */
  readonly changes: readonly Change[];
  readonly mergeMethod: MergeMethod;
};

/**
 * `tip` is the target as this landing left it. If somebody pushed on top since, it is not where the branch is now:
 * that is a movement of its own, for the next look at the tip. `trees`: the tip's tree is the tested one, or where the
 * changes were merged onto a tip of other lanes, that merge's.
 */
export type Landed = {
  readonly tip: Tip;
  readonly trees: "EQUAL" | "DIFFERENT";
  /** Those that landed, where a host that merges one by one stopped half-way. Absent: all. */
  readonly landed?: readonly EntryId[];
  /** Somebody else moved the target while it landed. Absent: nobody did. */
  readonly onMovedTip?: boolean;
};

export type RunStatuses = {
  readonly statuses: readonly StatusCheck[];
  /** No further status will come. */
  readonly complete: boolean;
  readonly repeats: number;
  /** Set when the run was ended by infrastructure: it has no verdict. */
  readonly broken: string | null;
};

/** A run of somebody's workflow, which asks something in the name of a fork's pull request. */
export type ForkRun = {
  /** The pull request's. */
  readonly headSha: CommitSha;
  readonly isInProgress: boolean;
  /** Of a pull request from another repository. */
  readonly isOfFork: boolean;
  /** It is of the head that the pull request has now. */
  readonly isOfHead: boolean;
};

/** A connection to one code host, made for one organization; it is never used for another. */
export type CodeHost = {
  /** It can open pull requests for testing branches, and is told whether it should. */
  readonly opensPullRequests?: boolean;
  /** Absent: pull requests have no pages here that people look at. */
  readonly people?: People;
  /**
   * Facts about a pull request; mergeability, and whether the head contains the target, are judged against
   * `targetBranch`'s present tip. A repository that is not there is HostUnavailable, here and everywhere: a disk that is
   * away must not look like pull requests that are gone.
   */
  readonly pullRequest: (
    repo: RepoKey,
    prNumber: number,
    targetBranch: string,
  ) => Promise<PullRequestFacts | "NOT_FOUND">;
  /**
   * The target branch. `reached` names those of `heads` that it contains now and that `since` did not contain
   * (a PR merged by hand); empty when `since` is null.
   */
  readonly tip: (
    repo: RepoKey,
    branch: string,
    since: CommitSha | null,
    heads: readonly CommitSha[],
  ) => Promise<{ readonly tip: Tip; readonly reached: readonly CommitSha[] } | "MISSING">;
  /**
   * Impacted targets of a commit of a pull request, by the config file at the branch's tip and the paths that the commit
   * changes since it left that branch; each once. ALL where a path belongs to no target, where there are too many, and
   * where the config file names none.
   */
  readonly impactedTargets: (
    repo: RepoKey,
    prNumber: number,
    headSha: CommitSha,
    branch: string,
  ) => Promise<"ALL" | readonly string[]>;
  /** A workflow run of this repository, and whether it is of that pull request; on a host that knows workflows. */
  readonly forkRun?: (repo: RepoKey, run: number, prNumber: number) => Promise<ForkRun | "NOT_FOUND">;
  /** The CODEOWNERS file of the default branch, where GitHub looks for one; null where there is none. */
  readonly codeowners?: (repo: RepoKey) => Promise<string | null>;
  /**
   * Builds the content on its own branch and starts its checks. What fails for infrastructure throws. A run is built
   * once: asked again it answers the same, and does not start again what was closed.
   */
  readonly buildRun: (
    request: BuildRequest,
  ) => Promise<{ readonly ok: true; readonly value: Built } | { readonly ok: false; readonly why: NotBuilt }>;
  /** Runs these checks of the run once more, on the same commit. `repeat` counts from 1. */
  readonly repeatChecks: (repo: RepoKey, run: RunId, repeat: number, contexts: readonly string[]) => Promise<void>;
  /** What is known of the run's checks now. A run the host has never heard of is `broken`. */
  readonly statuses: (repo: RepoKey, run: RunId) => Promise<RunStatuses>;
  /** Ends the run's checks and removes its branch. A no-op for a run that is closed or unknown. */
  readonly closeRun: (repo: RepoKey, run: RunId, branch: string) => Promise<void>;
  /**
   * Moves the target to the tested content in one compare-and-swap from `expectedTip`, all changes or none. A landing
   * that succeeded before, and whose answer was lost, succeeds again with the same answer. Refuses a commit that is
   * anything else than the expected tip with exactly these changes. Where the tested commit does not contain the expected
   * tip, what lands is the changes merged onto that. A direct merge lands the content of the head, by the merge method.
   */
  readonly land: (
    request: LandRequest,
  ) => Promise<{ readonly ok: true; readonly value: Landed } | { readonly ok: false; readonly why: NotLanded }>;
};

/** Which connection serves an organization's repositories on a host; undefined when none is connected. */
export type CodeHosts = (org: OrgSlug, host: string) => CodeHost | undefined;

/** A JUnit file that a check of a run wrote. */
export type CheckReport = {
  readonly run: RunId;
  readonly branch: string;
  readonly commit: CommitSha;
  /** Whose changes the run tests. */
  readonly prNumbers: readonly number[];
  readonly check: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly bytes: Uint8Array;
};

/** How a host that notices things by itself tells the service: cheap, repeatable, loses nothing when lost. */
export type HostNews = {
  readonly checksMoved: (repo: RepoKey, run: RunId) => void;
  readonly refsMoved: (
    repo: RepoKey,
    moved: { readonly prNumbers: readonly number[]; readonly branches: readonly string[] },
  ) => void;
  /** False: it was not taken, and is to be brought again. */
  readonly reported: (repo: RepoKey, report: CheckReport) => Promise<boolean>;
};
