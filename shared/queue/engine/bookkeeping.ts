import type { EpochMs } from "../../kernel/time.ts";
import type { RunId } from "../../kernel/ids.ts";
import type { Entry, EntryState } from "./types.ts";

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
