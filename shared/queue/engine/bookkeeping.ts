import type { EpochMs } from "../../kernel/time.ts";
import type { RunId } from "../../kernel/ids.ts";
import type { Why } from "./draft.ts";
import type { EndedRun, Entry, EntryState } from "./types.ts";

const RESTARTS_KEPT = 20;

/**
 * What a change of state implies for an entry's other fields. `closedMs`: how long the queue has admitted nobody so
 * far. `run`: the one that brought it about.
 */
export function bookkeeping(
  entry: Entry,
  to: EntryState,
  now: EpochMs,
  closedMs: number,
  run: RunId | null,
): Partial<Entry> {
  const left = entry.state === "TESTING" ? { testedMs: entry.testedMs + (now - entry.stateChangedAt) } : {};
  switch (to) {
    case "TESTING":
      return { ...left, firstTestAt: entry.firstTestAt ?? now, lastRun: run ?? entry.lastRun };
    case "PENDING":
      if (entry.state === "NOT_READY") return { admittedAt: now, closedMsBefore: closedMs };
      if (entry.state !== "TESTING") return left;
      return { ...left, restartedAt: [...entry.restartedAt, now].slice(-RESTARTS_KEPT) };
    case "NOT_READY":
      return { ...left, admittedAt: null, place: null, group: null, conflictsWith: null, closedMsBefore: closedMs };
    case "TESTS_PASSED":
      return { ...left, broken: null, verifiedBy: run ?? entry.verifiedBy };
    case "PENDING_FAILURE":
      return { ...left, broken: null };
    case "MERGED":
    case "FAILED":
    case "CANCELLED":
      return left;
  }
}

/** What the rest of its batch is told. */
export const leaving = (entry: Entry, to: EntryState, why: Why): Why =>
  entry.group === null
    ? why
    : { ...why, reason: "BATCH_CHANGED", message: `PR #${entry.prNumber}, tested together with it, ended ${to}` };

/** As it is kept with a run that has ended. */
export const shownOf = (entry: Entry | undefined): EndedRun["tested"] =>
  entry === undefined ? [] : [{ prNumber: entry.prNumber, title: entry.pr?.title ?? null, url: entry.pr?.url ?? null }];
