import type { EntryId } from "../../kernel/ids.ts";
import type { Draft, Why } from "./draft.ts";
import { isAdmitted } from "./order.ts";
import { isAssumedToLand } from "./policy.ts";
import type { Entry, EntryState, Run, RunFailure } from "./types.ts";

/** What an entry's runs say, and the run that says it. */
type Told = { readonly state: EntryState; readonly run: Run | undefined };

/** The state of an admitted entry, from those of its runs that are not void (void ones are closed at once). */
export function stateFromRuns(draft: Draft, entry: Entry): Told {
  const runs = draft.runsOf(entry.id);
  const passed =
    runs.find((run) => run.phase === "PASSED" && isOnLikelyPath(draft, run)) ?? draft.clearingRun(entry.id);
  if (passed !== undefined) return { state: "TESTS_PASSED", run: passed };
  const testing = runs.find((run) => run.phase === "TESTING");
  if (testing !== undefined) return { state: "TESTING", run: testing };
  const failed = runs.find((run) => run.phase === "FAILED" || run.phase === "REPEATING");
  return failed === undefined ? { state: "PENDING", run: undefined } : { state: "PENDING_FAILURE", run: failed };
}

/** Whether what the run assumes of the live entries ahead is what is likeliest now. */
export function isOnLikelyPath(draft: Draft, run: Run): boolean {
  const standing = draft.standing(run);
  if (standing.kind === "VOID") return false;
  return (
    standing.before.every((id) => isLikelyToLand(draft, id)) &&
    !standing.without.some((id) => isLikelyToLand(draft, id))
  );
}

/** What new tests behind it assume of an entry. */
export function isLikelyToLand(draft: Draft, id: EntryId): boolean {
  const known = draft.likely.get(id) ?? foundLikely(draft, id);
  draft.likely.set(id, known);
  return known;
}

function foundLikely(draft: Draft, id: EntryId): boolean {
  const entry = draft.entries.get(id);
  if (draft.isLanding(id) || draft.clearingRun(id) !== undefined) return true;
  return entry !== undefined && (isAssumedToLand(draft, entry) || isFailedForAnother(draft, entry));
}

/**
 * Each of its failed tests contained one ahead that is not likely to land, and most likely failed for it: without this
 * one change at fault would let all behind it be tested without one another. Those ahead are asked the same in turn.
 */
function isFailedForAnother(draft: Draft, { id, state }: Entry): boolean {
  const failed = state === "PENDING_FAILURE" ? draft.runsOf(id).filter((run) => run.failure !== null) : [];
  return failed.length > 0 && failed.every((run) => heldOf(draft, run).some((one) => !isLikelyToLand(draft, one)));
}

/** Those ahead that are still to land and that the run contains. */
function heldOf(draft: Draft, run: Run): readonly EntryId[] {
  const standing = draft.standing(run);
  return standing.kind === "VOID" ? [] : standing.before;
}

/**
 * Sets an entry's state to what its runs say: a move, if that is another one, with this reason or the one that the run
 * gives.
 */
export function retell(draft: Draft, id: EntryId, why?: Why): void {
  const entry = draft.entries.get(id);
  if (entry === undefined || !isAdmitted(entry) || draft.isLanding(id)) return;
  const { state, run } = stateFromRuns(draft, entry);
  if (state !== entry.state) draft.move(entry, state, why ?? whyOf(draft, entry, state, run));
}

/** Sets the states of a run's entries, as far as there is room; the rest follow in a later step. */
export function retellAll(draft: Draft, ids: readonly EntryId[], why?: Why): void {
  for (const id of ids) {
    if (!draft.hasRoom()) return;
    retell(draft, id, why);
  }
}

/** Entries whose run was closed learn what they are now, with the reason for which it was closed. */
export function tellUntold(draft: Draft): void {
  while (draft.untold.length > 0) {
    const [first, ...rest] = draft.untold;
    if (first === undefined) return;
    const { entries, ...why } = first;
    for (const [at, id] of entries.entries()) {
      if (!draft.hasRoom()) {
        draft.untold = [{ ...first, entries: entries.slice(at) }, ...rest];
        return;
      }
      retell(draft, id, why);
    }
    draft.untold = rest;
  }
}

function whyOf(draft: Draft, entry: Entry, to: EntryState, run: Run | undefined): Why {
  const changed = "what is likeliest of the pull requests ahead changed";
  if (run === undefined)
    return { reason: "PREDECESSORS_CHANGED", message: passedInVain(draft, entry) ?? changed, cause: "queue" };
  const by = { cause: `run:${run.id}`, run: run.id };
  if (to === "TESTS_PASSED" && !run.group.includes(entry.id))
    return { reason: "CLEARED_BY_SUCCESSOR", message: clearedMessage(draft, run), ...by };
  if (to === "TESTS_PASSED" && entry.state === "PENDING")
    return { reason: "PREDECESSORS_CHANGED", message: `${changed}; its tests had passed on it`, ...by };
  if (to === "TESTS_PASSED")
    return {
      reason: run.repeats > 0 ? "REPEAT_PASSED" : "TESTS_PASSED",
      message: "all required statuses passed",
      ...by,
    };
  if (to === "TESTING" && entry.state === "PENDING")
    return { reason: "TEST_STARTED", message: startedMessage(draft, run), ...by };
  if (to === "PENDING_FAILURE" && run.failure !== null && entry.state === "TESTING")
    return { reason: reasonOf(run.failure), message: describe(run.failure), ...by };
  return { reason: "PREDECESSORS_CHANGED", message: passedInVain(draft, entry) ?? changed, ...by };
}

/** It has a run that passed, but on an outcome of those ahead that is not the likeliest any more. */
const passedInVain = (draft: Draft, entry: Entry): string | undefined =>
  draft.runsOf(entry.id).some((run) => run.phase === "PASSED")
    ? "its tests passed, but on an outcome of the pull requests ahead that is not the likeliest any more"
    : undefined;

const numbersOf = (draft: Draft, ids: readonly EntryId[]): string =>
  ids.map((id) => `#${draft.entries.get(id)?.prNumber ?? "?"}`).join(", ");

const clearedMessage = (draft: Draft, run: Run): string =>
  `cleared by ${run.id}: the test of ${numbersOf(draft, run.group)} contains it and passed`;

function startedMessage(draft: Draft, run: Run): string {
  const ahead = run.predecessors.filter((id) => draft.entries.has(id));
  const others = run.group.length > 1 ? ` in a batch of ${run.group.length} (${numbersOf(draft, run.group)})` : "";
  const what = run.kind === "BISECTION" ? `bisecting${others}, testing` : `testing${others}`;
  return ahead.length === 0
    ? `${what} on ${draft.branch}`
    : `${what} on ${draft.branch} with ${numbersOf(draft, ahead)} ahead of it`;
}

export const reasonOf = (failure: RunFailure): Why["reason"] =>
  failure.kind === "CHECKS" ? "TESTS_FAILED" : failure.kind === "TIMEOUT" ? "TESTING_TIMEOUT" : failure.kind;

export function describe(failure: RunFailure): string {
  switch (failure.kind) {
    case "CHECKS":
      return `${failure.contexts.join(", ")} failed`;
    case "TIMEOUT":
      return `${failure.contexts.join(", ")} did not end in time`;
    case "NO_REQUIRED_STATUSES":
      return "no status is required: name some in the queue's requiredStatuses, or define checks in .mainline.yaml";
  }
}
