import type { EntryId } from "../../kernel/ids.ts";
import type { Draft } from "./draft.ts";
import type { Entry, QueueState, Run, Totals } from "./types.ts";

/*
 * What to try. Nothing here decides what is true: a wrong guess costs runs and time, never a wrong landing. The figures
 * come from simulations of queues of 5 to 400 changes an hour.
 */

/**
 * The likely path: an undecided predecessor is assumed to land, unless its run has failed (more often than not it
 * fails again; `isLikelyToLand` asks for whom it failed) or it cannot even be merged behind one that is assumed to land.
 */
export function isAssumedToLand(draft: Pick<Draft, "entries">, entry: Entry): boolean {
  if (entry.state === "PENDING_FAILURE") return false;
  if (entry.conflictsWith === null) return true;
  // Landed, if it is not there any more: what it left behind it conflicts with the target.
  const opponent = draft.entries.get(entry.conflictsWith);
  return opponent !== undefined && (opponent.state === "PENDING_FAILURE" || opponent.state === "NOT_READY");
}

/** How often a change is at fault, and how often a test fails by chance, by this queue's own record. */
export type Estimates = { readonly fault: number; readonly flake: number };

/** They begin at 1 in 12 and 1 in 40, and move with what was decided. */
export function estimatesOf({ failed, merged, flakes }: Totals): Estimates {
  return { fault: (failed + 1) / (failed + merged + 12), flake: (flakes + 1) / (merged + 40) };
}

/**
 * How likely a change is good although a test that contains it failed so many times in a row. `others`: how likely all
 * that is tested with it is good; if it is not, it fails each time.
 */
export function goodAfter({ fault, flake }: Estimates, failures: number, others = 1): number {
  const byChance = 1 - others + others * flake ** failures;
  const good = (1 - fault) * byChance;
  return good / (good + fault);
}

/** Whether a run that has failed so often is repeated once more. The first repeat is always worth it. */
export function isWorthRepeating(estimates: Estimates, failures: number): boolean {
  if (failures <= 1) return true;
  const { fault } = estimates;
  return goodAfter(estimates, failures) > Math.min(0.1, (0.003 * (1 - fault)) / fault);
}

/** How likely an entry lands, given its state; `others`: how likely all that was tested with it lands. */
export function chanceToLand(estimates: Estimates, entry: Entry, failed: Run | undefined, others: number): number {
  if (entry.state === "TESTS_PASSED") return PASSED;
  // Whom it conflicts with is likely to land: it then cannot.
  if (entry.conflictsWith !== null && entry.state === "PENDING") return estimates.fault;
  if (entry.state !== "PENDING_FAILURE" || failed === undefined) return 1 - estimates.fault;
  const size = failed.group.length;
  const failures = failed.repeats + Number(failed.phase === "FAILED");
  if (size === 1) return goodAfter(estimates, failures, others);
  // One of a batch: at least one of all, or of those ahead, is at fault, and which is not known.
  return 1 - estimates.fault / Math.max(estimates.fault, 1 - others * (1 - estimates.fault) ** size);
}

const PASSED = 0.99;

/** Below this chance of being needed a run is not started; slots that are scarce are kept for what is likelier. */
export function floorOf(busyShare: number): number {
  if (busyShare <= 0.5) return 0.03;
  if (busyShare <= 0.8) return 0.08;
  if (busyShare <= 0.95) return 0.15;
  return 0.3;
}

/**
 * While all slots are in use, a run below this chance gives way to one that waits and is likelier by a quarter. Without
 * it a failure at the front of a long lane leaves the slots to tests that contain it.
 */
export const KEPT_FROM = 0.2;
export const isLikelyEnoughToTakeOver = (waiting: number, running: number): boolean => running < 0.8 * waiting;

/** Where slots idle, a second run on the second most likely assumption is worth it from this chance on. */
export function secondPathFloor(busyShare: number): number {
  if (busyShare < 0.6) return 0.15;
  if (busyShare < 0.9) return 0.25;
  return Number.POSITIVE_INFINITY;
}

/**
 * Batching under load is a tool for capacity, never for latency: as many as are waiting for each slot, no more than is
 * cheapest at this rate of failures, no more than the operator allows.
 */
export function batchSizeUnderLoad(estimates: Estimates, most: number, waiting: number, slots: number): number {
  const cheapest = Math.round(1 / Math.sqrt(estimates.fault + estimates.flake));
  return Math.max(1, Math.min(most, cheapest, 1 + Math.floor(waiting / Math.max(1, slots))));
}

/** The chances of all entries ahead, for one plan. */
export type Chances = (id: EntryId) => number;

/** How likely a run on these assumptions is needed. */
export const chanceOf = (chances: Chances, land: readonly EntryId[], leave: readonly EntryId[]): number =>
  land.reduce((product, id) => product * chances(id), 1) *
  leave.reduce((product, id) => product * (1 - chances(id)), 1);

export const estimatesNow = (state: Pick<QueueState, "totals">): Estimates => estimatesOf(state.totals);
