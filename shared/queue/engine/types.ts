/**
 * The vocabulary of the queue: what is stored, what may happen, what is to be done.
 * Everything here is plain data; `step()` is the only function that makes new versions of it.
 */
import type { CommitSha, EntryId, GroupId, QueueId, RunId, TreeSha } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";

export const ENTRY_STATES = [
  "NOT_READY",
  "PENDING",
  "TESTING",
  "TESTS_PASSED",
  "PENDING_FAILURE",
  "MERGED",
  "FAILED",
  "CANCELLED",
] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export const QUEUE_STATES = ["RUNNING", "PAUSED", "DRAINING", "SWITCHING_MODES"] as const;
export type QueueStateName = (typeof QUEUE_STATES)[number];

export const MERGE_METHODS = ["MERGE_COMMIT", "SQUASH", "REBASE"] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];

export type Mode = "SINGLE" | "PARALLEL";

/** The settings that decide; the rest of a queue's settings ride along unseen. Units stand in the names; 0 means none. */
export type Settings = {
  readonly mode: Mode;
  readonly concurrency: number;
  readonly bisectionConcurrency: number;
  readonly batch: boolean;
  readonly batchingMinSize: number;
  readonly batchingMaxWaitTimeMinutes: number;
  readonly testingTimeoutMinutes: number;
  readonly notReadyTimeoutHours: number;
  readonly pendingFailureDepth: number;
  readonly canOptimisticallyMerge: boolean;
  /** A failure that only quarantined tests caused, by the reports of its checks, is a pass. */
  readonly forgiveQuarantined: boolean;
  readonly optimizationMode: "OFF" | "BISECTION_SKIP_REDUNDANT_TESTS";
  readonly retriesBeforeFailure: number;
  readonly directMergeMode: "OFF" | "ALWAYS";
  readonly mergeMethod: MergeMethod;
  readonly requiredStatuses: readonly string[] | null;
};

export type OperatorState = "RUNNING" | "PAUSED" | "DRAINING";

/** What people decide about a queue. Written by requests, read by the engine, never written by it. */
export type QueueConfig = {
  readonly settings: Settings;
  readonly operator: {
    readonly state: OperatorState;
    readonly reason: string | null;
    readonly since: EpochMs;
    /** Urgent entries pass through a PAUSED or DRAINING of the operator. */
    readonly allowUrgent: boolean;
  };
  /** Holds of the service that began at or before this time are lifted. */
  readonly holdsClearedAt: EpochMs | null;
  /** Maintenance windows: each is a hold that is open iff startsAt <= now < endsAt. */
  readonly windows: readonly MaintenanceWindow[];
};

export type MaintenanceWindow = {
  readonly id: string;
  readonly action: "DRAIN" | "PAUSE";
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly reason: string | null;
  readonly allowUrgent: boolean;
};

export const HOLD_KINDS = ["LANDING_MISMATCH", "LANDING_INCOMPLETE", "TIP_FAILED", "TARGET_MISSING"] as const;
export type HoldKind = (typeof HOLD_KINDS)[number];
/** The service's own brake. Each counts as PAUSED, tests of the tip excepted. */
export type Hold = { readonly kind: HoldKind; readonly since: EpochMs; readonly detail: string };

export const STATUS_SOURCES = ["MERGE_INSTANCE", "CONFIG_FILE", "BRANCH_PROTECTION"] as const;
/** Where the list of required statuses comes from: the queue's own setting, the config file at the tip, the host. */
export type StatusSource = (typeof STATUS_SOURCES)[number];

/** The target branch as the service last saw or moved it. */
export type Tip = {
  readonly sha: CommitSha;
  readonly tree: TreeSha;
  /** What the host says is required there; null when it names nothing. */
  readonly required: { readonly source: StatusSource; readonly statuses: readonly string[] } | null;
  /** Why the config file at the tip cannot be used, in words for its author; null when it can or there is none. */
  readonly configProblem: string | null;
  /** The config file maps paths to targets: nobody has to upload any. Absent: it does not. */
  readonly targetsFromPaths?: boolean;
};

export type Mergeability = "UNSPECIFIED" | "IN_PROGRESS" | "MERGEABLE" | "NOT_MERGEABLE";

/** What the code host says of a pull request. */
export type PullRequestFacts = {
  readonly number: number;
  readonly state: "OPEN" | "CLOSED" | "MERGED";
  readonly draft: boolean;
  readonly title: string;
  readonly url: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly headSha: CommitSha;
  readonly headBranch: string;
  readonly baseBranch: string;
  readonly fromFork: boolean;
  readonly mergeability: Mergeability;
  /** The tip that mergeability was judged against; null when it was not judged. */
  readonly judgedOn: CommitSha | null;
  /** Why it cannot be merged, in words; null when it can or nothing is known. */
  readonly obstacle: string | null;
  /** The head's own statuses, where the head contains the target as it was at `tip`. Absent or null: it does not. */
  readonly own?: OwnEvidence | null;
};

/** What the checks of the pull request itself say; `tree` is the head's. With it, a direct merge needs no run. */
export type OwnEvidence = {
  readonly tip: CommitSha;
  readonly tree: TreeSha;
  readonly statuses: readonly StatusCheck[];
};

/** Why the host's facts are missing: nothing is connected for this host, or it does not answer. */
export type HostTrouble = {
  readonly kind: "NOT_CONNECTED" | "UNREACHABLE" | "NOT_FOUND";
  readonly what: string;
  readonly count: number;
  readonly retryAt: EpochMs;
};

/** What infrastructure ended without a verdict, how often in a row, and when it is tried again. */
export type Broken = { readonly what: string; readonly count: number; readonly retryAt: EpochMs };

/** What a request asks of a live entry. Written by requests onto the entry, folded by the engine, then emptied. */
export type Asked = {
  readonly cancel?: { readonly by: string; readonly at: EpochMs };
  readonly restart?: { readonly by: string; readonly at: EpochMs };
  readonly priority?: Priority;
  readonly noBatch?: boolean;
  readonly targets?: Targets;
};

/** 0 is urgent and 255 last. `name` is set where the value was given, or defaulted, by name. */
export type Priority = { readonly value: number; readonly byDefault: boolean };

/** Impacted targets of the pinned head; the sets themselves are never loaded here. */
export type Targets =
  | { readonly kind: "ALL" }
  | { readonly kind: "SET"; readonly digest: string; readonly count: number };

/**
 * How an entry's targets stand to those of the others. Each is compared once, when it comes, with all that came before
 * it; so of two entries the one with the greater number knows whether they overlap.
 */
export type Lane = {
  /** Which targets of this queue they were, counted from 1. */
  readonly number: number;
  /** Numbers of earlier targets that they share one with, ascending. Empty for ALL and for none: their kind says it. */
  readonly overlaps: readonly number[];
  /** Landings of this queue when they came into force: with what landed earlier they were never compared. */
  readonly since: number;
  /** A batching rule of the queue says that it is never tested in a batch. */
  readonly isolated: boolean;
};

export type Conclusion = { readonly reason: Reason; readonly message: string };

/** One submission of a pull request to the queue. */
export type Entry = {
  readonly id: EntryId;
  readonly prNumber: number;
  readonly submittedAt: EpochMs;
  /** Who submitted it: the token's name. */
  readonly submittedBy: string;
  readonly state: EntryState;
  readonly stateChangedAt: EpochMs;
  /** The commit this submission is about. Re-pinned by a push only while NOT_READY; null until the host has been asked. */
  readonly headSha: CommitSha | null;
  /** The host's latest facts; null until it has been asked. */
  readonly pr: PullRequestFacts | null;
  /** When those facts were read: an answer that was read earlier and comes later is stale. */
  readonly factsAt: EpochMs | null;
  readonly trouble: HostTrouble | null;
  /** The tip for which the facts were asked for again, so that each tip asks once. */
  readonly askedAgainFor: CommitSha | null;
  readonly priority: Priority;
  readonly noBatch: boolean;
  readonly targets: Targets | null;
  /** Where those targets stand; null while they have not been compared (a queue in SINGLE mode never asks). */
  readonly lane: Lane | null;
  /** Targets that are being compared now and come into force with the answer. */
  readonly comparing: { readonly number: number; readonly targets: Targets } | null;
  /** The head for which targets were asked to be computed from its paths, so that each head asks once. */
  readonly computedFor: CommitSha | null;
  /** `closed.totalMs` of the queue when it became NOT_READY: that time does not count towards its timeout. */
  readonly closedMsBefore: number;
  readonly admittedAt: EpochMs | null;
  /** Kept from the first run that contains the entry until the end; smaller is earlier. */
  readonly place: number | null;
  /** Entries that share it are one batch: tested and landed as one. Null: it is tested alone. */
  readonly group: GroupId | null;
  /** The predecessor it conflicts with in text: it waits until that one is settled. */
  readonly conflictsWith: EntryId | null;
  /** A run ended without a verdict: what broke, how often in a row, and when to try again. Of a batch, on its first. */
  readonly broken: Broken | null;
  /** The last refusal of the host to land it; two in a row for the same reason end it. */
  readonly refusal: string | null;
  readonly lastRun: RunId | null;
  readonly verifiedBy: RunId | null;
  readonly firstTestAt: EpochMs | null;
  /** Milliseconds in TESTING in earlier stays, the present one excluded. */
  readonly testedMs: number;
  /** Times at which it went from TESTING back to PENDING, the latest twenty. */
  readonly restartedAt: readonly EpochMs[];
  /** Number of moves so far: the next move's number. */
  readonly moves: number;
  readonly endedAt: EpochMs | null;
  readonly conclusion: Conclusion | null;
  readonly asked: Asked;
};

export type CheckState = "PENDING" | "SUCCESS" | "FAILURE" | "ERROR";
export type StatusCheck = {
  readonly context: string;
  readonly state: CheckState;
  readonly url: string | null;
  readonly description: string | null;
};

export type RunKind = "MAIN" | "BISECTION" | "TIP";
export type RunPhase = "BUILDING" | "TESTING" | "PASSED" | "FAILED" | "REPEATING";

/** The test of `base + predecessors + group`, in that order, on its own branch. A test of the tip has neither. */
export type Run = {
  readonly id: RunId;
  readonly kind: RunKind;
  readonly group: readonly EntryId[];
  /** The live entries ahead that are assumed to land, in order, when the run was started. */
  readonly predecessors: readonly EntryId[];
  /** The live entries ahead that are assumed not to land. */
  readonly assumedOut: readonly EntryId[];
  readonly base: CommitSha;
  /** Landings of this queue before the run was started: the first step of the lineage that came after it. */
  readonly landingsBefore: number;
  readonly phase: RunPhase;
  readonly branch: string;
  readonly commit: CommitSha | null;
  readonly tree: TreeSha | null;
  readonly required: readonly string[];
  readonly requiredSource: StatusSource;
  readonly startedAt: EpochMs;
  readonly testingSince: EpochMs | null;
  /** When this attempt times out; null without a timeout, while building, and once it has passed or left the queue. */
  readonly deadline: EpochMs | null;
  /** The status read made after the deadline: its answer decides, so that an outage of the host fails nobody. */
  readonly lateRead: "NONE" | "ASKED" | "ANSWERED";
  readonly statuses: readonly StatusCheck[];
  /** The host says that no further status will come: what is missing now is missing for good. */
  readonly complete: boolean;
  /** Repeats of the failed checks that were started (before a failure counts). */
  readonly repeats: number;
  readonly failure: RunFailure | null;
  readonly endedAt: EpochMs | null;
  /** Of which attempt it was asked whether quarantined tests alone caused its failure, and until when that is awaited. */
  readonly forgiveness?: {
    readonly repeats: number;
    readonly until: EpochMs;
    /** Why it was forgiven; null: it was not, or not yet. */
    readonly why: string | null;
  };
};

export type RunFailure = {
  readonly kind: "CHECKS" | "TIMEOUT" | "NO_REQUIRED_STATUSES";
  readonly contexts: readonly string[];
};

/** How a run ended once it has left the queue. */
export type RunOutcome = "SUCCEEDED" | "FAILED" | "CANCELLED";
export type EndedRun = {
  readonly run: Run;
  /** Its group as it was; the entries themselves may be gone by the time somebody asks. */
  readonly tested: readonly { readonly prNumber: number; readonly title: string | null; readonly url: string | null }[];
  readonly outcome: RunOutcome;
  readonly why: string;
  readonly at: EpochMs;
};

/** A landing that has been sent to the host and whose result is not known yet. */
export type Landing = {
  /** `of` itself, and after that with the number of the attempt: a late answer to an earlier attempt is known as such. */
  readonly id: string;
  /** The run's id, or for a direct merge `direct-` and the entry's, and which sending of all it is. */
  readonly of: string;
  /** The run that proves it; null for a direct merge, which the pull request's own statuses prove. */
  readonly run: RunId | null;
  /** All that lands, in order: the run's group, before it those it contains and clears. */
  readonly group: readonly EntryId[];
  /** What lands: the tested commit, its tree, and the tip that it was built on. */
  readonly commit: CommitSha;
  readonly tree: TreeSha;
  readonly base: CommitSha;
  readonly expectedTip: CommitSha;
  readonly attempt: number;
  readonly sentAt: EpochMs;
  /** The target has moved; what is left is to end the entries (in portions, when there are many). */
  readonly landed: boolean;
  readonly trouble: { readonly what: string; readonly retryAt: EpochMs } | null;
  /** Why the host refuses it; what is left is to tell the entries (in portions, when there are many). Absent: it does not. */
  readonly refused?: string;
};

/** One movement of the target that this service made: evidence built on `from` is carried to `to`. */
export type LandedStep = {
  /** Which landing of the queue it was, counted from 0. */
  readonly number: number;
  readonly from: CommitSha;
  readonly to: CommitSha;
  readonly entries: readonly EntryId[];
  /** Runs of that moment that it contradicts: see `contradictedBy`. */
  readonly voids: readonly RunId[];
  /** Runs of that moment whose failure would prove nothing any more: see `doubtedBy`. */
  readonly doubts: readonly RunId[];
  /** Runs of that moment that clear nobody any more: see `staledBy`. */
  readonly stale: readonly RunId[];
};

/**
 * A batch that failed and is taken apart: each part is tested on all parts before it, in slots of its own. Members that
 * have ended are still named here, until all have.
 */
export type Bisection = {
  readonly group: GroupId;
  /** `depth`: how many failed groups around it the part was taken from. */
  readonly parts: readonly { readonly members: readonly EntryId[]; readonly depth: number }[];
};

/** Entries whose run was closed and whose states are still to be set anew: what one step had no room for. */
export type Untold = {
  readonly entries: readonly EntryId[];
  readonly reason: Reason;
  readonly message: string;
  readonly cause: string;
  readonly run: RunId | null;
};

export type Totals = {
  readonly merged: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly restarts: number;
  readonly runsStarted: number;
  readonly bisectionRunsStarted: number;
  /** How runs left the queue: each run is counted once, in one of these three. */
  readonly runsPassed: number;
  readonly runsFailed: number;
  readonly runsCancelled: number;
  readonly repeats: number;
  readonly landings: number;
  /** Runs that failed and then passed on the same content. */
  readonly flakes: number;
  /** Batches of several that were tested, and those that were taken apart. */
  readonly batches: number;
  readonly bisections: number;
  /** Merged though their own run had not passed: a run of a successor that contains them had. */
  readonly mergedByOptimism: number;
  readonly mergedDirectly: number;
};

/** A queue with everything live in it. What ended is not here. */
export type QueueState = {
  readonly id: QueueId;
  readonly branch: string;
  readonly config: QueueConfig;
  /** The mode in force; differs from config.settings.mode while modes switch. */
  readonly mode: Mode;
  readonly tip: Tip | null;
  /** Something says that the target moved: nothing lands until it has been read again. */
  readonly tipDoubted: boolean;
  /** The number of the read of the tip that is under way; an answer with another number is stale. */
  readonly tipRead: number | null;
  /** How long the queue has admitted nobody: timeouts of those who wait to be admitted stand still meanwhile. */
  readonly closed: { readonly totalMs: number; readonly since: EpochMs | null };
  readonly holds: readonly Hold[];
  readonly landing: Landing | null;
  /** Oldest first; only as far back as a run in the queue needs it. */
  readonly lineage: readonly LandedStep[];
  /** A test of the tip is due at once, with the reason; null when none is. */
  readonly tipTestDue: string | null;
  /** A test of the tip ended without a verdict: what broke, how often in a row, and when to try again. Absent: none. */
  readonly tipTestBroken?: Broken | null;
  /** PRs whose facts are still to be asked for: what one step had no room for. Absent: none. */
  readonly readsDue?: readonly number[];
  /** Heads that the target contains by another's hand and whose entries are still to be ended. Absent: none. */
  readonly reached?: readonly CommitSha[];
  readonly nextPlace: number;
  readonly nextRun: number;
  readonly nextRead: number;
  readonly nextTargets: number;
  readonly bisections: readonly Bisection[];
  readonly untold: readonly Untold[];
  readonly totals: Totals;
  readonly entries: ReadonlyMap<EntryId, Entry>;
  readonly runs: ReadonlyMap<RunId, Run>;
};

/** Why an entry moved. Closed: shown in timelines, conclusions and metrics, and translated by clients. */
export const REASONS = [
  "SUBMITTED",
  "RESUBMITTED",
  "ADMITTED",
  "TEST_STARTED",
  "TESTS_PASSED",
  "TESTS_FAILED",
  "TESTING_TIMEOUT",
  "NO_REQUIRED_STATUSES",
  "NO_VERDICT",
  "REPEAT_PASSED",
  "FORGIVEN",
  "RESTARTED_BY_USER",
  "PREDECESSOR_LEFT",
  "PREDECESSOR_LANDED",
  "PREDECESSORS_CHANGED",
  "SKIP_THE_LINE_INTERRUPTED",
  "MANUAL_PUSH_TO_TARGET_BRANCH",
  "REQUIRED_STATUSES_CHANGED",
  "TARGETS_CHANGED",
  "BATCH_CHANGED",
  "BISECTED",
  "CLEARED_BY_SUCCESSOR",
  "MERGE_CONFLICT",
  "CANNOT_BE_BUILT",
  "READINESS_LOST",
  "NOT_READY_TIMEOUT",
  "CANCELLED_BY_USER",
  "PULL_REQUEST_CLOSED",
  "PULL_REQUEST_PUSHED",
  "PULL_REQUEST_RETARGETED",
  "PULL_REQUEST_DRAFTED",
  "PULL_REQUEST_GONE",
  "LANDING_REFUSED",
  "LANDED_ON_MOVED_TIP",
  "MERGED",
  "MERGED_DIRECTLY",
  "MERGED_BY_HAND",
] as const;
export type Reason = (typeof REASONS)[number];

/** One line of a timeline. `cause` is who or what: `user:<token name>`, `host`, `run:<id>`, `queue`, `time`. */
export type Move = {
  readonly entry: EntryId;
  readonly prNumber: number;
  readonly number: number;
  readonly from: EntryState | null;
  readonly to: EntryState;
  readonly reason: Reason;
  readonly message: string;
  readonly cause: string;
  readonly run: RunId | null;
  readonly at: EpochMs;
};

export type NewEntry = Pick<
  Entry,
  "id" | "prNumber" | "submittedAt" | "submittedBy" | "pr" | "factsAt" | "trouble" | "priority" | "noBatch" | "targets"
>;

/** Facts. Each may come twice, late, out of order, or never; an unknown or stale one changes nothing. */
export type QueueEvent =
  | { readonly type: "wake" }
  | { readonly type: "configured"; readonly config: QueueConfig }
  | { readonly type: "submitted"; readonly entry: NewEntry }
  | { readonly type: "asked"; readonly entry: EntryId; readonly asked: Asked }
  /** Somebody noticed that these may have changed at the host. `tip` is what was seen there, null when not said. */
  | {
      readonly type: "news";
      readonly prNumbers: readonly number[];
      readonly tip: { readonly sha: CommitSha | null } | null;
    }
  | {
      readonly type: "pull-request";
      readonly prNumber: number;
      readonly facts: PullRequestFacts;
      readonly readAt: EpochMs;
    }
  | {
      readonly type: "pull-request-unknown";
      readonly prNumber: number;
      readonly kind: HostTrouble["kind"];
      readonly what: string;
    }
  /** `reached`: heads of live PRs that the branch contains now and did not contain before. */
  | { readonly type: "tip"; readonly read: number; readonly tip: Tip; readonly reached: readonly CommitSha[] }
  | { readonly type: "tip-missing"; readonly read: number; readonly what: string }
  /** `overlaps`: numbers of the earlier targets that share one with these. `isolated`: by a batching rule. */
  | {
      readonly type: "targets-compared";
      readonly entry: EntryId;
      readonly number: number;
      readonly overlaps: readonly number[];
      readonly isolated: boolean;
    }
  /** Computed from the paths that the head changes. */
  | {
      readonly type: "targets-computed";
      readonly entry: EntryId;
      readonly headSha: CommitSha;
      readonly targets: Targets;
    }
  | { readonly type: "run-built"; readonly run: RunId; readonly commit: CommitSha; readonly tree: TreeSha }
  | { readonly type: "run-not-built"; readonly run: RunId; readonly why: NotBuilt }
  | {
      readonly type: "statuses";
      readonly run: RunId;
      /** How many repeats the host knows of; an answer about an earlier attempt is stale. */
      readonly repeats: number;
      readonly statuses: readonly StatusCheck[];
      readonly complete: boolean;
      /** When the host was asked; null for a report that came by itself. */
      readonly readAt: EpochMs | null;
    }
  | { readonly type: "run-broken"; readonly run: RunId; readonly what: string }
  /** Checks of an attempt in which quarantined tests failed and no others, with their names; the rest are not forgiven. */
  | {
      readonly type: "forgiveness";
      readonly run: RunId;
      readonly repeats: number;
      readonly forgiven: readonly { readonly context: string; readonly tests: readonly string[] }[];
    }
  | {
      readonly type: "landed";
      readonly landing: string;
      readonly tip: Tip;
      readonly trees: "EQUAL" | "DIFFERENT";
      /** What landed: all of the landing's group, or its first part where a host that merges PR by PR stopped. */
      readonly entries: readonly EntryId[];
      /** Its parent was not the expected tip: somebody else moved the target in between. */
      readonly onMovedTip: boolean;
    }
  | { readonly type: "not-landed"; readonly landing: string; readonly why: NotLanded };

export type NotBuilt =
  /** `with` is the predecessor it conflicts with, null for the tip itself. */
  | {
      readonly kind: "CONFLICT";
      readonly entry: EntryId;
      readonly with: EntryId | null;
      readonly paths: readonly string[];
    }
  /** For a reason that is the entry's own: unrelated history, a submodule loop … */
  | { readonly kind: "OWN"; readonly entry: EntryId; readonly what: string }
  | { readonly kind: "INFRASTRUCTURE"; readonly what: string };

export type NotLanded =
  | { readonly kind: "TIP_MOVED" }
  | { readonly kind: "CONFLICT"; readonly what: string }
  | { readonly kind: "REFUSED"; readonly what: string }
  | { readonly kind: "INFRASTRUCTURE"; readonly what: string };

/** One pull request as a run or a landing contains it: all that is needed to build its commit again, byte for byte. */
export type Change = {
  readonly entry: EntryId;
  readonly prNumber: number;
  readonly headSha: CommitSha;
  readonly title: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Author and committer date of the commits that are built. */
  readonly date: EpochMs;
};

/** Things to do, each idempotent by its key: doing it twice is doing it once. */
export type Effect =
  | {
      readonly type: "build-run";
      readonly key: string;
      readonly run: RunId;
      readonly base: CommitSha;
      readonly branch: string;
      readonly changes: readonly Change[];
      readonly mergeMethod: MergeMethod;
      readonly required: readonly string[];
    }
  | {
      readonly type: "repeat-checks";
      readonly key: string;
      readonly run: RunId;
      readonly repeat: number;
      readonly contexts: readonly string[];
    }
  | { readonly type: "read-statuses"; readonly key: string; readonly run: RunId }
  /** Looks at what the checks of a run reported, until it has all come or that time. */
  | {
      readonly type: "ask-forgiveness";
      readonly key: string;
      readonly run: RunId;
      readonly repeats: number;
      readonly contexts: readonly string[];
      readonly startedAt: EpochMs;
      readonly until: EpochMs;
    }
  /** Stops what still runs and removes the testing branch. */
  | { readonly type: "close-run"; readonly key: string; readonly run: RunId; readonly branch: string }
  | {
      readonly type: "land";
      readonly key: string;
      readonly landing: string;
      /** Null for a direct merge: `commit` is then the pull request's head. */
      readonly run: RunId | null;
      readonly commit: CommitSha;
      readonly tree: TreeSha;
      /** The tip the run was built on. */
      readonly base: CommitSha;
      readonly expectedTip: CommitSha;
      readonly changes: readonly Change[];
      readonly mergeMethod: MergeMethod;
    }
  | { readonly type: "read-pull-request"; readonly key: string; readonly prNumber: number }
  /** Compares an entry's targets with those of all live entries that have a smaller number. */
  | {
      readonly type: "compare-targets";
      readonly key: string;
      readonly entry: EntryId;
      readonly prNumber: number;
      readonly headSha: CommitSha;
      readonly number: number;
    }
  /** Finds the targets of a head from the paths that it changes against the tip. */
  | {
      readonly type: "compute-targets";
      readonly key: string;
      readonly entry: EntryId;
      readonly prNumber: number;
      readonly headSha: CommitSha;
    }
  | {
      readonly type: "read-tip";
      readonly key: string;
      readonly read: number;
      readonly since: CommitSha | null;
    };

/** Explains one decision, in words; stored with the commit that made it. */
export type Note = { readonly entry: EntryId | null; readonly text: string };

export type Decision = {
  readonly state: QueueState;
  readonly effects: readonly Effect[];
  readonly moves: readonly Move[];
  /** Runs that left the queue in this step. */
  readonly endedRuns: readonly EndedRun[];
  /** Entries that ended in this step; they are no longer in `state.entries`. */
  readonly endedEntries: readonly Entry[];
  readonly notes: readonly Note[];
  /** When to look again even if nothing happens; undefined when only an event can change anything. */
  readonly wakeAt: EpochMs | undefined;
  /** The step's bound was reached: step again at once. */
  readonly more: boolean;
};
