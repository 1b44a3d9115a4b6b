import type { EntryState, Move, Reason } from "./types.ts";

/**
 * Which state may follow which: the table of the design, complete, so that a move that is not in it is a bug. `null` is
 * the beginning.
 */
const NEXT: Readonly<Record<EntryState | "NONE", readonly EntryState[]>> = {
  NONE: ["NOT_READY"],
  NOT_READY: ["PENDING", "CANCELLED", "MERGED"],
  PENDING: ["TESTING", "TESTS_PASSED", "PENDING_FAILURE", "NOT_READY", "MERGED", "FAILED", "CANCELLED"],
  TESTING: ["TESTS_PASSED", "PENDING_FAILURE", "PENDING", "NOT_READY", "CANCELLED", "MERGED"],
  TESTS_PASSED: ["MERGED", "TESTING", "PENDING_FAILURE", "PENDING", "NOT_READY", "FAILED", "CANCELLED"],
  PENDING_FAILURE: ["TESTS_PASSED", "TESTING", "PENDING", "NOT_READY", "FAILED", "CANCELLED", "MERGED"],
  MERGED: [],
  FAILED: [],
  CANCELLED: [],
};

/** The reasons that end a submission, by where it ends and where it stood; any other state ends for none of them. */
const MERGED_FROM: Readonly<Partial<Record<EntryState, readonly Reason[]>>> = {
  PENDING: ["MERGED_DIRECTLY", "MERGED_BY_HAND"],
  TESTS_PASSED: ["MERGED", "MERGED_BY_HAND"],
};
const FAILED_FROM: Readonly<Partial<Record<EntryState, readonly Reason[]>>> = {
  PENDING: ["CANNOT_BE_BUILT", "LANDING_REFUSED"],
  TESTS_PASSED: ["LANDING_REFUSED"],
  PENDING_FAILURE: ["TESTS_FAILED", "TESTING_TIMEOUT", "NO_REQUIRED_STATUSES"],
};

/** Whether an entry may move so. Total: it answers for every pair of states and every reason. */
export function isLegal(move: Pick<Move, "from" | "to" | "reason">): boolean {
  const { from, to, reason } = move;
  if (!NEXT[from ?? "NONE"].includes(to)) return false;
  if (from === null) return true;
  if (to === "MERGED") return (MERGED_FROM[from] ?? ["MERGED_BY_HAND"]).includes(reason);
  if (to === "FAILED") return (FAILED_FROM[from] ?? []).includes(reason);
  return true;
}

export const statesAfter = (from: EntryState | null): readonly EntryState[] => NEXT[from ?? "NONE"];
