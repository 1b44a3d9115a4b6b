/**
 * What the queue's use cases need of the world. `shared/table` and `shared/code-host` are joined to it in
 * functions/wiring.ts.
 */
import type { Heard } from "../../code-host/people.ts";
import type { CodeHosts } from "../../code-host/port.ts";
import type { CommitSha, NewId, OrgSlug, QueueId, QueueKey, RepoKey, RunId } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { Receipt } from "../../kernel/receipt.ts";
import type { Clock, EpochMs } from "../../kernel/time.ts";
import type { Waiting } from "../../kernel/waiting.ts";
import type {
  Asked,
  Decision,
  Effect,
  EndedRun,
  Entry,
  Move,
  QueueConfig,
  QueueEvent,
  QueueState,
  Targets,
} from "../engine/types.ts";
import type { HeardStore, HeardWrite } from "./people/ports.ts";
import type { QueueSettings, SettingsPatch } from "./settings.ts";

/** A queue as people made it. Requests write it, each on condition of `revision`. */
export type QueueRecord = {
  readonly key: QueueKey;
  readonly id: QueueId;
  /** As it was written, for showing; the key compares without regard to case. */
  readonly repo: RepoKey;
  readonly patch: SettingsPatch;
  /** Its windows are those that are open or open next, where all of the queue was read; elsewhere none. */
  readonly config: QueueConfig & { readonly settings: QueueSettings };
  /** What opened until then, an operator has closed. */
  readonly windowsClosedAt: EpochMs | null;
  readonly createdAt: EpochMs;
  readonly revision: number;
  /** It is being deleted: nothing may be added to it. */
  readonly deleting: boolean;
};

/** A live entry as it is stored: the engine's, and what requests and the loop need to agree about it. */
export type StoredEntry = {
  readonly entry: Entry;
  readonly queue: QueueId;
  /** Raised by every write: whoever writes on condition of it has seen all that came before. */
  readonly revision: number;
  /** The loop has taken the submission in. */
  readonly seen: boolean;
  /** It is part of a landing that was sent: it can no longer be cancelled or restarted. */
  readonly landing: boolean;
};

/** The loop's own part of a queue, without config, entries and runs. */
export type QueueMeta = Omit<QueueState, "config" | "entries" | "runs">;

/** A queue with all that is live in it, as one consistent-enough read: what changed since is caught by conditions. */
export type LoadedQueue = {
  readonly record: QueueRecord;
  /** Raised by every commit of the loop; its condition makes the loop one writer. */
  readonly version: number;
  readonly wakeAt: EpochMs | undefined;
  /** The loop failed on it for a reason of its own; it is tried again then. */
  readonly degraded: { readonly what: string; readonly retryAt: EpochMs } | null;
  readonly meta: QueueMeta;
  readonly entries: readonly StoredEntry[];
  readonly state: QueueState;
  readonly inbox: readonly InboxItem[];
};

export type InboxItem = { readonly sk: string; readonly event: QueueEvent };

/** An answer to be recorded under an `Idempotency-Key`, in the same transaction as the change that it tells of. */
export type Recorded =
  | { readonly receipt: Receipt; readonly body: string }
  /** Or that something was done which somebody asked for on a page. */
  | { readonly heard: HeardWrite };

/** Makes the recorded answer of a view, when the request can be told from others. */
export type Recording<View> = (view: View) => Recorded | undefined;

/** What several steps decided together, to be committed at once. */
export type Folded = {
  readonly decision: Decision;
  readonly taken: readonly InboxItem[];
};

/** What the loop does not decide: pages that show what it decided, and what people said. */
export type PeopleEffect =
  | {
      readonly type: "show";
      readonly key: string;
      readonly prNumbers: readonly number[];
      /** When it became due. */
      readonly at: EpochMs;
      /** Somebody asked: in a comment of its own, below what people said since, also where none is made otherwise. */
      readonly anew?: true | undefined;
    }
  | { readonly type: "hear"; readonly key: string; readonly heard: Heard };

export type OutboxEffect = Effect | PeopleEffect;

/** Somebody else wrote first: read again and decide again. */
export type Conflict = "CONFLICT";

export type QueueStore = {
  readonly find: (key: QueueKey) => Promise<QueueRecord | undefined>;
  readonly list: (org: OrgSlug, repo?: RepoKey) => Promise<readonly QueueKey[]>;
  readonly create: (
    record: QueueRecord,
    state: QueueState,
    recorded: Recorded | undefined,
  ) => Promise<"CREATED" | Conflict>;
  /** On condition of `record.revision`; writes `next` with the revision raised, and wakes the loop. */
  readonly update: (
    record: QueueRecord,
    next: QueueRecord,
    recorded: Recorded | undefined,
  ) => Promise<"UPDATED" | Conflict>;
  /** Removes a queue that is marked as being deleted. */
  readonly remove: (record: QueueRecord, recorded: Recorded | undefined) => Promise<"REMOVED" | Conflict>;

  /** Everything live, with the inbox. */
  readonly load: (key: QueueKey) => Promise<LoadedQueue | undefined>;
  /** Everything live, without the inbox, for showing. */
  readonly view: (key: QueueKey) => Promise<LoadedQueue | undefined>;
  /** `also` are effects of its moves that the engine knows nothing of. */
  readonly commit: (
    loaded: LoadedQueue,
    folded: Folded,
    now: EpochMs,
    also?: readonly PeopleEffect[],
  ) => Promise<"COMMITTED" | Conflict>;
  readonly degrade: (key: QueueKey, what: string, retryAt: EpochMs) => Promise<void>;

  readonly entry: (key: QueueKey, prNumber: number) => Promise<StoredEntry | undefined>;
  /** The latest submission of each, live or ended, in one round trip per hundred. */
  readonly submissions: (key: QueueKey, prNumbers: readonly number[]) => Promise<ReadonlyMap<number, Submission>>;
  readonly prNumberOfBranch: (key: QueueKey, headBranch: string) => Promise<number | undefined>;
  /** Puts a new entry, unless the PR has a live one. */
  readonly submit: (
    key: QueueKey,
    stored: StoredEntry,
    recorded: Recorded | undefined,
  ) => Promise<"SUBMITTED" | Conflict>;
  /** Takes back a submission that met a queue being deleted. */
  readonly withdraw: (key: QueueKey, stored: StoredEntry) => Promise<void>;
  /** Adds wishes to a live entry, on condition that it is as it was read. */
  readonly ask: (
    key: QueueKey,
    stored: StoredEntry,
    asked: Asked,
    recorded: Recorded | undefined,
  ) => Promise<"ASKED" | Conflict>;

  readonly timeline: (key: QueueKey, prNumber: number, entry: Entry["id"]) => Promise<readonly Move[]>;
  /** What ended in [since, until), newest first. */
  readonly history: (key: QueueKey, page: HistoryPage) => Promise<{ entries: readonly Entry[]; next?: string }>;
  readonly endedRun: (key: QueueKey, run: RunId) => Promise<EndedRun | undefined>;

  /** Leaves a fact for the loop. */
  readonly tell: (key: QueueKey, event: QueueEvent) => Promise<void>;

  readonly due: () => Promise<readonly DueQueue[]>;
  readonly hasInbox: (key: QueueKey) => Promise<boolean>;
  /** Keys of effects that nobody is working on. */
  readonly waitingEffects: (key: QueueKey, now: EpochMs) => Promise<readonly string[]>;
  /** Claims an effect for a while; undefined when it is done, claimed, or to be tried later. */
  readonly claim: (key: QueueKey, effect: string, now: EpochMs, leaseMs: number) => Promise<ClaimedEffect | undefined>;
  /** Removes the effect and leaves its result for the loop, at once; a no-op when the claim was lost. */
  readonly finish: (key: QueueKey, claimed: ClaimedEffect, result: QueueEvent | null) => Promise<void>;
  /** Effects that failed and are tried again later. */
  readonly troubles: (key: QueueKey) => Promise<readonly EffectTrouble[]>;
  /** Gives the claim back, to be tried again at that time. */
  readonly postpone: (key: QueueKey, claimed: ClaimedEffect, until: EpochMs, what: string) => Promise<void>;
};

export type Submission = { readonly entry: Entry; readonly stored: StoredEntry | undefined };

export type HistoryPage = {
  readonly since?: EpochMs | undefined;
  readonly until?: EpochMs | undefined;
  readonly after?: string | undefined;
  readonly take: number;
};

/** What a message from outside leaves for a queue: a fact, or something to look at. */
export type Left =
  | { readonly key: QueueKey; readonly event: QueueEvent }
  | { readonly key: QueueKey; readonly effect: OutboxEffect };

export type DueQueue = { readonly key: QueueKey; readonly wakeAt: EpochMs | null };

export type EffectTrouble = { readonly effect: OutboxEffect; readonly what: string; readonly retryAt: EpochMs };

export type ClaimedEffect = { readonly effect: OutboxEffect; readonly owner: string; readonly attempts: number };

export const TARGETS_SOURCES = ["UPLOAD", "PATHS", "FORK"] as const;
/**
 * Who said it: somebody who sent them, the service itself, from the paths that the commit changes, or a fork's workflow
 * that brought no token. What stands earlier here is not replaced by what stands later.
 */
export type TargetsSource = (typeof TARGETS_SOURCES)[number];

/** Impacted targets of one commit of a PR. */
export type TargetsRecord = {
  readonly targets: Targets;
  readonly source: TargetsSource;
  /** The first thousand, for showing; empty for ALL. */
  readonly shown: readonly string[];
};

export type TargetSet = Extract<Targets, { kind: "SET" }>;

/** Two words for each target, the lower one first: 64 bits that are equal for equal targets. */
export type Hashes = Uint32Array;

export type TargetsStore = {
  readonly find: (org: OrgSlug, repo: RepoKey, prNumber: number, sha: CommitSha) => Promise<TargetsRecord | undefined>;
  /**
   * Stores the set, before what names it. `targets` holds each string once. Answers what stands: a source replaces what
   * is its own or comes after it.
   */
  readonly put: (
    org: OrgSlug,
    repo: RepoKey,
    prNumber: number,
    sha: CommitSha,
    targets: "ALL" | readonly string[],
    source: TargetsSource,
  ) => Promise<TargetsRecord>;
  /**
   * What sets are compared by, by digest, also of sets that have been replaced since. One that cannot be found, or is
   * damaged, is left out. All of them are in memory at once: ask for a few megabytes at a time.
   */
  readonly hashes: (org: OrgSlug, sets: readonly TargetSet[]) => Promise<ReadonlyMap<string, Hashes>>;
};

/** Bytes too large for the table. Keys are chosen by the caller; writing one twice is writing it once. */
export type BlobStore = {
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>;
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
};

/** What is asked of test health about a failed run, and whether quarantined tests alone failed in its checks. */
export type Forgiving = (
  key: QueueKey,
  asked: Extract<Effect, { type: "ask-forgiveness" }>,
) => Promise<Extract<QueueEvent, { type: "forgiveness" }>["forgiven"] | "LATER">;

export type QueueApp = {
  readonly forgives: Forgiving;
  readonly queues: QueueStore;
  readonly targets: TargetsStore;
  readonly hosts: CodeHosts;
  readonly heard: HeardStore;
  /** Whether people look at the pull requests of this host on pages of its own. */
  readonly hasPages: (host: string) => boolean;
  /** A patch with the defaults under it. */
  readonly resolveSettings: (patch: SettingsPatch) => QueueSettings;
  /** Does nothing, except where a test wants the process to die: between each write and what follows from it. */
  readonly passing: (point: CrashPoint) => void;
  readonly clock: Clock;
  readonly waiting: Waiting;
  readonly newId: NewId;
  readonly log: Log;
};

/** Every place between a write and its effect, by name. */
export const CRASH_POINTS = [
  "submit:before-write",
  "submit:after-write",
  "ask:after-write",
  "advance:before-commit",
  "advance:after-commit",
  "effect:claimed",
  "effect:build-run:done",
  "effect:repeat-checks:done",
  "effect:read-statuses:done",
  "effect:ask-forgiveness:done",
  "effect:close-run:done",
  "effect:land:done",
  "effect:read-pull-request:done",
  "effect:read-tip:done",
  "effect:compare-targets:done",
  "effect:compute-targets:done",
  "effect:finished",
  "report:before-write",
  "host:branch-made",
  "host:job-recorded",
  "host:result-written",
  "host:close-recorded",
  "host:branch-removed",
  "host:target-moved",
  "host:merge-noted",
] as const;
/** Those of maintenance windows, which not every queue has. */
export const WINDOW_CRASH_POINTS = ["window:after-write", "waking:made"] as const;
/** Those of hosts where people look at pull requests. */
export const PEOPLE_CRASH_POINTS = ["effect:show:done", "effect:hear:done"] as const;
export type CrashPoint = (typeof CRASH_POINTS | typeof WINDOW_CRASH_POINTS | typeof PEOPLE_CRASH_POINTS)[number];
