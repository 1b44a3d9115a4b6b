import type { EpochMs } from "../../kernel/time.ts";
import type { Entry, EntryState } from "../engine/types.ts";
import { grantedPriority } from "../engine/wishes.ts";
import type { QueueRecord } from "./ports.ts";

/** A submission as it is shown, with what its queue asks of it. */
export type EntryView = {
  readonly entry: Entry;
  /** The queue makes lanes, or is about to: without targets nobody gets in. */
  readonly requiresTargets: boolean;
};

export const viewIn = (queue: Pick<QueueRecord, "config"> | undefined, entry: Entry): EntryView => ({
  entry,
  requiresTargets: queue?.config.settings.mode === "PARALLEL",
});

/**
 * An entry as everybody is told of it: with the wishes that were acknowledged and that the loop takes in a moment
 * later. A cancelled PR is CANCELLED from the answer on that says so.
 */
export function shownEntry(entry: Entry): Entry {
  const { cancel, restart, priority, noBatch, targets } = entry.asked;
  if (cancel !== undefined) return cancelled(entry, cancel.by, cancel.at);
  const restarted = restart !== undefined && RESTARTED.has(entry.state);
  return {
    ...entry,
    ...(restarted ? { state: "PENDING", stateChangedAt: restart.at } : {}),
    priority: grantedPriority(entry, priority),
    noBatch: noBatch ?? entry.noBatch,
    targets: targets ?? entry.targets,
  };
}

const RESTARTED: ReadonlySet<EntryState> = new Set(["TESTING", "TESTS_PASSED", "PENDING_FAILURE"]);

const cancelled = (entry: Entry, by: string, at: EpochMs): Entry => ({
  ...entry,
  state: "CANCELLED",
  stateChangedAt: at,
  endedAt: at,
  conclusion: { reason: "CANCELLED_BY_USER", message: `cancelled by ${by}` },
});

/** Submitted and not ended. */
export const isInQueue = (entry: Entry): boolean =>
  entry.state !== "MERGED" && entry.state !== "FAILED" && entry.state !== "CANCELLED";
