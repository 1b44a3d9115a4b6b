import { later, MINUTE_MS } from "../../kernel/time.ts";
import type { EntryId } from "../../kernel/ids.ts";
import type { Draft } from "./draft.ts";
import { isOver, mayRepeat } from "./judge.ts";
import { isUrgent } from "./order.ts";
import type { Permits } from "./permits.ts";
import { assumptionsFor, closeRun, isInProgress, isOnLikelyPath, mainSlotsUsed, startRun } from "./runs.ts";
import type { Entry, Run } from "./types.ts";
import { requiredNow, verdictOf } from "./verdict.ts";

/** Fills the slots: repeats of failed checks first, then a test of the tip, then runs in queue order. */
export function plan(draft: Draft, permits: Permits): void {
  if (draft.tip === null || draft.tipDoubted || draft.holds.some((hold) => hold.kind === "TARGET_MISSING")) return;
  repeatFailedChecks(draft, permits);
  testTip(draft);
  startRuns(draft, permits);
}

const freeSlots = (draft: Draft): number => draft.config.settings.concurrency - mainSlotsUsed(draft);

function repeatFailedChecks(draft: Draft, permits: Permits): void {
  for (const run of draft.runs.values()) {
    if (!mayRepeat(draft, run) || !isWorthRepeating(draft, run)) continue;
    if (!run.group.every((id) => mayStart(draft, permits, id))) continue;
    if (freeSlots(draft) < 1 || !draft.hasRoom()) return;
    const contexts = contextsToRepeat(draft, run);
    if (contexts.length > 0) repeat(draft, run, contexts);
  }
}

const mayStart = (draft: Draft, permits: Permits, id: EntryId): boolean => {
  const entry = draft.entries.get(id);
  return entry !== undefined && permits.starts(entry);
};

/** A failure on assumptions that are no longer the likeliest will most likely be void: its repeat waits. */
const isWorthRepeating = (draft: Draft, run: Run): boolean => run.kind === "TIP" || isOnLikelyPath(draft, run);

/** The failed required checks, and at the timeout those without a result; none while some are still to come. */
function contextsToRepeat(draft: Draft, run: Run): readonly string[] {
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  if (verdict.kind === "OPEN") return run.failure?.kind === "TIMEOUT" ? verdict.waitsFor : [];
  if (verdict.kind !== "FAILED") return [];
  if (verdict.open.length > 0 && !isOver(draft, run)) return [];
  return [...verdict.failure.contexts, ...verdict.open];
}

function repeat(draft: Draft, run: Run, contexts: readonly string[]): void {
  const minutes = draft.config.settings.testingTimeoutMinutes;
  const repeats = run.repeats + 1;
  draft.setRun({
    ...run,
    phase: "REPEATING",
    repeats,
    complete: false,
    lateRead: "NONE",
    endedAt: null,
    deadline: minutes === 0 ? null : later(draft.now, minutes * MINUTE_MS),
    statuses: run.statuses.map((status) =>
      contexts.includes(status.context) ? { ...status, state: "PENDING", description: null } : status,
    ),
  });
  draft.add({ type: "repeat-checks", key: `repeat:${run.id}:${repeats}`, run: run.id, repeat: repeats, contexts });
  draft.count({ repeats: 1 });
}

function testTip(draft: Draft): void {
  if (draft.tipTestDue === null || freeSlots(draft) < 1 || !draft.hasRoom()) return;
  if (draft.tipTestBroken !== null && draft.now < draft.tipTestBroken.retryAt) return;
  if ([...draft.runs.values()].some((run) => run.kind === "TIP")) return;
  draft.note(null, `testing the tip: ${draft.tipTestDue}`);
  draft.tipTestDue = null;
  startRun(draft, "TIP", [], { predecessors: [], assumedOut: [] });
}

function startRuns(draft: Draft, permits: Permits): void {
  const order = draft.admitted();
  for (const [at, entry] of order.entries()) {
    if (freeSlots(draft) < 1 && !isUrgent(entry)) return;
    if (!mayStartNow(draft, permits, entry)) continue;
    const on = assumptionsFor(draft, [entry], order.slice(0, at));
    if (hasRunOn(draft, entry, on.assumedOut) || on.predecessors.some((other) => other.id === entry.conflictsWith))
      continue;
    if (!draft.hasRoom()) return;
    if (freeSlots(draft) < 1 && !interruptLast(draft, entry)) continue;
    startRun(draft, "MAIN", [entry], on);
  }
}

const mayStartNow = (draft: Draft, permits: Permits, entry: Entry): boolean =>
  !draft.isLanding(entry.id) && permits.starts(entry) && (entry.broken === null || draft.now >= entry.broken.retryAt);

/** Whether it has a run on the same assumptions already; what the run contains follows from what it leaves out. */
function hasRunOn(draft: Draft, entry: Entry, assumedOut: readonly Entry[]): boolean {
  return draft.runsOf(entry.id).some((run) => {
    const standing = draft.standing(run);
    if (standing.kind === "VOID" || standing.without.length !== assumedOut.length) return false;
    return assumedOut.every((other) => standing.without.includes(other.id));
  });
}

/** An urgent entry takes the slot of the last run of an entry that is not urgent. */
function interruptLast(draft: Draft, urgent: Entry): boolean {
  const order = draft.admitted();
  for (const entry of order.toReversed()) {
    if (isUrgent(entry)) continue;
    const run = draft.runsOf(entry.id).find((one) => one.kind === "MAIN" && isInProgress(one));
    if (run === undefined) continue;
    const message = `gave up its slot to PR #${urgent.prNumber}, which is urgent`;
    closeRun(draft, run, { reason: "SKIP_THE_LINE_INTERRUPTED", message, cause: "queue" });
    return true;
  }
  return false;
}
