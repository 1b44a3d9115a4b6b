import type { EpochMs } from "../../kernel/time.ts";
import type { Entry, EntryState } from "./types.ts";

const RESTARTS_KEPT = 20;

/** What a change of state implies for an entry's other fields. `closedMs`: how long the queue has admitted nobody so far. */
export function bookkeeping(entry: Entry, to: EntryState, now: EpochMs, closedMs: number): Partial<Entry> {
  const left = entry.state === "TESTING" ? { testedMs: entry.testedMs + (now - entry.stateChangedAt) } : {};
  switch (to) {
    case "TESTING":
      return { ...left, firstTestAt: entry.firstTestAt ?? now };
    case "PENDING":
      if (entry.state !== "TESTING") return { ...left, admittedAt: entry.admittedAt ?? now };
      return { ...left, restartedAt: [...entry.restartedAt, now].slice(-RESTARTS_KEPT) };
    case "NOT_READY":
      return { ...left, admittedAt: null, place: null, group: null, conflictsWith: null, closedMsBefore: closedMs };
    case "TESTS_PASSED":
    case "PENDING_FAILURE":
    case "MERGED":
    case "FAILED":
    case "CANCELLED":
      return left;
  }
}
