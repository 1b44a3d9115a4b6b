/** What test health's use cases need of the world, and what is kept. `functions/wiring.ts` joins the two. */
import type { NewId, OrgSlug, RepoKey } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { Clock, EpochMs } from "../../kernel/time.ts";
import type { Waiting } from "../../kernel/waiting.ts";
import type { Evidence, RuleName, TestStatus } from "../detect/history.ts";
import type { Counts, Issue } from "../junit/report.ts";
import type { RepositorySettings } from "./settings.ts";

/** Everything is kept under an organization and a repository. */
export type Repository = { readonly org: OrgSlug; readonly repo: RepoKey };

/** What is kept ends after that: uploads, failures, and tests that failed in none of them. */
export const RETENTION_DAYS = 45;

/** The facts of the run that wrote the files. */
export type RunFacts = {
  readonly sha: string;
  readonly branch: string;
  /** Pull requests whose changes it tested: its own, or those of a run of the queue. */
  readonly pullRequests: readonly number[];
  readonly variant: string;
  /** What the CI calls it; uploads of one job are compared with each other. */
  readonly job: string;
  readonly attempt: number;
  /** When it ran. */
  readonly at: EpochMs;
  readonly runUrl: string | null;
  readonly isMergeQueue: boolean;
  /** The queue's test run. */
  readonly testRun: string | null;
};

/** One upload in the repository's list of them: what every figure is counted from. */
export type UploadEntry = Pick<RunFacts, "sha" | "branch" | "job" | "at" | "testRun"> & {
  readonly id: string;
  readonly receivedAt: EpochMs;
  readonly isDefaultBranch: boolean;
  /** The set of its tests that were executed, by the digest of their ids; skipped ones are not among them. */
  readonly executed: string;
  readonly tests: number;
  /** Tests of which an attempt failed, and those that failed in the end. */
  readonly failed: number;
  readonly failing: number;
  /** Far more of it failed than its job normally has failing, or of all that its commit has brought. */
  readonly isOutage: boolean;
  readonly isCommitOutage: boolean;
};

/** What one upload says of a test of which an attempt failed. */
export type Failure = {
  readonly test: string;
  readonly upload: string;
  readonly at: EpochMs;
  /** Executions of each kind. */
  readonly passed: number;
  readonly failed: number;
  /** The key of its failure's summary. */
  readonly summary: string;
  readonly pullRequests: readonly number[];
  /** Its failures did not count for the upload's verdict. */
  readonly wasQuarantined: boolean;
};

export const QUARANTINE_SETTINGS = ["ALWAYS_QUARANTINE", "NEVER_QUARANTINE", "UNSPECIFIED"] as const;
export type QuarantineSetting = (typeof QUARANTINE_SETTINGS)[number];

export type Transition = {
  readonly at: EpochMs;
  readonly status: TestStatus;
  readonly reason: string;
  readonly rules: readonly RuleName[];
  /** The upload that brought it; null where time did. */
  readonly upload: string | null;
};

export type Summary = {
  readonly key: string;
  readonly text: string;
  /** The latest failure as it was, cut short; "" but of the latest of all. */
  readonly example: string;
  readonly lastAt: EpochMs;
};

/** A test of which an attempt has ever failed, or that somebody has set something for. */
export type TestRecord = {
  readonly id: string;
  readonly name: string;
  readonly classname: string;
  readonly parent: string;
  readonly file: string;
  readonly variant: string;
  readonly firstFailedAt: EpochMs | null;
  readonly lastFailedAt: EpochMs | null;
  /** Why it is what it is now. */
  readonly reason: string;
  /** Newest last; at most 50. Empty: it has always been healthy. */
  readonly transitions: readonly Transition[];
  readonly evidence: readonly Evidence[];
  readonly revisitAt: EpochMs | null;
  readonly setting: QuarantineSetting;
  /** When somebody set that; null where nobody did. */
  readonly settingAt: EpochMs | null;
  readonly ticket: string | null;
  /** The latest summaries of its failures; at most 20. */
  readonly summaries: readonly Summary[];
  /** Raised by every write: whoever writes on condition of it has seen all that came before. */
  readonly revision: number;
};

/** An upload as it is looked up afterwards. */
export type UploadRecord = {
  readonly id: string;
  readonly receivedAt: EpochMs;
  readonly state: "PROCESSED" | "WAITING" | "FAILED";
  /** What went wrong with it, for its sender. */
  readonly problem: string | null;
  readonly facts: RunFacts | null;
  readonly answer: UploadAnswer | null;
};

export type UploadAnswer = Counts & {
  readonly uploadId: string;
  readonly issues: readonly Issue[];
  /** Ids of the failing tests that are quarantined. */
  readonly quarantined: readonly string[];
  /** Ignores quarantined failures. */
  readonly verdict: "PASS" | "FAIL";
};

/** Ids that a set holds, for asking one by one. */
export type TestSet = { readonly has: (test: string) => boolean; readonly size: number };

/** A repository of which something may be due. */
export type Due = { readonly repository: Repository; readonly at: EpochMs; readonly stamp: string };

/** A bundle that was announced and is not read yet. */
export type Bundle = {
  readonly id: string;
  readonly repository: Repository;
  readonly announcedAt: EpochMs;
  /** How often reading it failed for a reason of ours. */
  readonly failures: number;
};

/** Where bundles are put by their senders. */
export type BundleDoor = {
  readonly grantPut: (grant: {
    readonly uploadId: string;
    readonly maxBytes: number;
    readonly expiresAt: EpochMs;
  }) => Promise<string>;
  /** As it was sent; undefined before. */
  readonly readUpload: (uploadId: string) => Promise<Uint8Array | undefined>;
  readonly removeUpload: (uploadId: string) => Promise<void>;
};

export type HealthStore = {
  readonly settings: (repository: Repository) => Promise<RepositorySettings>;
  /** Reads, changes and writes them; what somebody else writes meanwhile is changed, too, and not lost. */
  readonly changeSettings: (
    repository: Repository,
    make: (present: RepositorySettings) => RepositorySettings,
  ) => Promise<RepositorySettings>;

  /** Keeps a set of tests under its digest, at the cost of what differs from the latest one of the same `job`. */
  readonly keepSet: (repository: Repository, job: string, tests: readonly string[]) => Promise<string>;
  readonly sets: (repository: Repository, digests: readonly string[]) => Promise<ReadonlyMap<string, TestSet>>;

  /** The first thing to be written of an upload, unless it is there: answers what is. */
  readonly claimUpload: (repository: Repository, record: UploadRecord) => Promise<UploadRecord>;
  /** The last thing to be written of an upload: what else was written of it counts from then on, and is not moved. */
  readonly putUpload: (repository: Repository, entry: UploadEntry, record: UploadRecord) => Promise<void>;
  readonly putRecord: (repository: Repository, record: UploadRecord) => Promise<void>;
  readonly upload: (repository: Repository, id: string) => Promise<UploadRecord | undefined>;
  /** Those that ran from `from` until before `until`, oldest first. */
  readonly uploads: (
    repository: Repository,
    from: EpochMs,
    until: EpochMs,
    eventually?: boolean,
  ) => Promise<readonly UploadEntry[]>;

  readonly putFailures: (repository: Repository, failures: readonly Failure[]) => Promise<void>;
  /** All of a time, or of some tests only. May hold failures of uploads that are not, or not yet, in the list. */
  readonly failures: (
    repository: Repository,
    from: EpochMs,
    until: EpochMs,
    tests?: readonly string[],
    eventually?: boolean,
  ) => Promise<readonly Failure[]>;

  /** `eventually` costs half and may miss what somebody has just set. */
  readonly tests: (
    repository: Repository,
    ids: readonly string[],
    eventually?: boolean,
  ) => Promise<ReadonlyMap<string, TestRecord>>;
  readonly allTests: (repository: Repository) => Promise<readonly TestRecord[]>;
  /** On condition of `record.revision`; false: somebody else wrote first. */
  readonly putTest: (repository: Repository, record: TestRecord) => Promise<boolean>;

  /** Those that are on their way, of all organizations. */
  readonly putBundle: (bundle: Bundle) => Promise<void>;
  readonly bundles: () => Promise<readonly Bundle[]>;
  readonly removeBundle: (id: string) => Promise<void>;

  /** Has the repository looked at: at once when something came in, later when only time passes. */
  readonly markDue: (repository: Repository, at: EpochMs) => Promise<void>;
  readonly due: (until: EpochMs) => Promise<readonly Due[]>;
  /** Sets when it is next due, null for never, unless something came in since it was read. */
  readonly rearm: (due: Due, at: EpochMs | null) => Promise<void>;
};

export type HealthApp = {
  readonly health: HealthStore;
  readonly clock: Clock;
  readonly waiting: Waiting;
  readonly newId: NewId;
  readonly log: Log;
};
