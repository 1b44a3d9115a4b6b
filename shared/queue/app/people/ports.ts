/** What is remembered of what people said on pull requests' pages. */
import type { EntryId, OrgSlug, QueueKey, RepoKey } from "../../../kernel/ids.ts";
import type { EpochMs } from "../../../kernel/time.ts";
import type { Conflict, Left, PeopleEffect } from "../ports.ts";

/** Of one pull request in one queue. */
export type HeardOf = {
  /** Raised by every write; zero where nothing was written yet. */
  readonly revision: number;
  /** Comments that were acted on, or refused in words: the latest of them. */
  readonly done: readonly number[];
  /** The newest comments that asked for these: what is older and says the opposite comes too late. Zero: none. */
  readonly lastMerge: number;
  readonly lastCancel: number;
  /** The newest coming or going of the label that was acted on, and the submission that came of it. */
  readonly label: { readonly event: number; readonly entry: EntryId | null } | null;
  /** What could not be done for somebody, told on the page until the next command can. */
  readonly said: { readonly text: string; readonly at: EpochMs } | null;
  /** When somebody last asked why, and was told in a comment of its own. */
  readonly explainedAt: EpochMs | null;
};

/** A change of that, on condition that nobody else changed it since it was read. */
export type HeardWrite = { readonly key: QueueKey; readonly prNumber: number; readonly next: HeardOf };

/** How far a repository was looked through for what no message told of. */
export type LookedThrough = {
  readonly lookedAt: EpochMs;
  readonly commentsSince: EpochMs;
  readonly pullsSince: EpochMs;
};

export type HeardStore = {
  readonly of: (key: QueueKey, prNumber: number) => Promise<HeardOf>;
  readonly write: (write: HeardWrite, also: readonly PeopleEffect[]) => Promise<"WRITTEN" | Conflict>;
  /** Leaves these unless something was taken under one of the marks before. */
  readonly take: (host: string, marks: readonly string[], left: readonly Left[]) => Promise<"TAKEN" | "SEEN">;
  /** Which of the marks something was taken under. */
  readonly taken: (host: string, marks: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly lookedThrough: (org: OrgSlug, repo: RepoKey) => Promise<LookedThrough | undefined>;
  /** On condition that nobody else looked since `before`. */
  readonly look: (
    org: OrgSlug,
    repo: RepoKey,
    before: LookedThrough | undefined,
    next: LookedThrough,
  ) => Promise<"LOOKED" | Conflict>;
};
