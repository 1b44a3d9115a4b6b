import { later, MINUTE_MS } from "../../kernel/time.ts";
import type { EntryId } from "../../kernel/ids.ts";
import { groupId } from "../../kernel/ids.ts";
import { batchFrom } from "./batching.ts";
import type { Draft } from "./draft.ts";
import { forgivenUntil } from "./forgiving.ts";
import { isOver, mayRepeat } from "./judge.ts";
import { mergesDirectly } from "./landing.ts";
import { interruptLast, isUrgentGroup, leastLikelyRun, takeOver } from "./giving-way.ts";
import type { Group } from "./line.ts";
import { clearingToStart } from "./optimism.ts";
import { chancesNow, isWorthIt, secondPathOf } from "./paths.ts";
import type { Permits } from "./permits.ts";
import { assumptionsFor, cannotBeBuilt, freeSlots, hasRunOn, keepPlaces, startRun } from "./runs.ts";
import { mayStart } from "./starting.ts";
import { isOnLikelyPath } from "./states.ts";
import type { Run } from "./types.ts";
import { requiredNow, verdictOf } from "./verdict.ts";

/**
 * Fills the slots: repeats of failed checks first, then a test of the tip, then parts of batches that are taken apart
 * (in their own slots), runs that may clear a failure, runs in queue order, and where slots idle, second guesses.
 */
export function plan(draft: Draft, permits: Permits): void {
  if (draft.tip === null || draft.tipDoubted || draft.holds.some((hold) => hold.kind === "TARGET_MISSING")) return;
  repeatFailedChecks(draft, permits);
  testTip(draft);
  startParts(draft, permits);
  startClearingRuns(draft, permits);
  startRuns(draft, permits);
  startSecondGuesses(draft, permits);
}

function repeatFailedChecks(draft: Draft, permits: Permits): void {
  for (const run of draft.runs.values()) {
    if (!mayRepeat(draft, run) || forgivenUntil(draft, run) !== undefined || !isLikelyToCount(draft, run)) continue;
    const group = run.group[0] === undefined ? undefined : draft.groupOf(run.group[0]);
    if (run.kind !== "TIP" && (group === undefined || !mayRepeatNow(draft, permits, group))) continue;
    if (!draft.hasRoom()) return;
    if (freeSlots(draft, run.kind) < 1) continue;
    const contexts = contextsToRepeat(draft, run);
    if (contexts.length > 0) repeat(draft, run, contexts);
  }
}

const mayRepeatNow = (draft: Draft, permits: Permits, group: Group): boolean =>
  group.members.every((id) => {
    const entry = draft.entries.get(id);
    return entry !== undefined && permits.starts(entry);
  });

/** A failure on assumptions that are no longer the likeliest will most likely be void: its repeat waits. */
const isLikelyToCount = (draft: Draft, run: Run): boolean => run.kind === "TIP" || isOnLikelyPath(draft, run);

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
  if (draft.tipTestDue === null || freeSlots(draft, "TIP") < 1 || !draft.hasRoom()) return;
  if (draft.tipTestBroken !== null && draft.now < draft.tipTestBroken.retryAt) return;
  if ([...draft.runs.values()].some((run) => run.kind === "TIP")) return;
  draft.note(null, `testing the tip: ${draft.tipTestDue}`);
  draft.tipTestDue = null;
  startRun(draft, "TIP", [], { predecessors: [], assumedOut: [] });
}

/** Every part that has no run on what is likeliest of the parts before it. */
function startParts(draft: Draft, permits: Permits): void {
  if (draft.bisections.length === 0) return;
  for (const group of draft.line().groups) {
    if (!group.isBisected || !mayStart(draft, permits, group)) continue;
    if (freeSlots(draft, "BISECTION") < 1) return;
    const on = assumptionsFor(draft, group);
    if (hasRunOn(draft, group, on) || cannotBeBuilt(draft, group, on)) continue;
    if (!draft.hasRoom()) return;
    startRun(draft, "BISECTION", group.members, on);
  }
}

/** For each failed group that waits to be cleared by a successor: one run that contains it. */
function startClearingRuns(draft: Draft, permits: Permits): void {
  const { canOptimisticallyMerge, pendingFailureDepth } = draft.config.settings;
  if (!canOptimisticallyMerge || pendingFailureDepth === 0) return;
  for (const group of draft.line().groups) {
    const run = failedRunOf(draft, group);
    if (run === undefined) continue;
    const clearing = clearingToStart(draft, group, permits);
    if (clearing === undefined) continue;
    if (!draft.hasRoom()) return;
    startRun(draft, "MAIN", clearing.group.members, clearing.on);
  }
}

/** Its failed run, where everything ahead of it is settled. */
function failedRunOf(draft: Draft, group: Group): Run | undefined {
  const [first] = group.members;
  if (first === undefined || draft.entries.get(first)?.state !== "PENDING_FAILURE") return undefined;
  return draft.line().hasPredecessors(group)
    ? undefined
    : draft.runsOf(first).find((run) => run.phase === "FAILED" || run.phase === "REPEATING");
}

function startRuns(draft: Draft, permits: Permits): void {
  const chances = chancesNow(draft);
  // The line is asked anew each time: a batch that forms, or a place that is given, changes it.
  for (let at = 0; at < draft.line().groups.length; at += 1) {
    const group = draft.line().groups[at];
    if (group === undefined) return;
    const urgent = isUrgentGroup(draft, group);
    const isFull = freeSlots(draft, "MAIN") < 1;
    if (isFull && !urgent && leastLikelyRun(draft, chances) === undefined) return;
    if (
      group.isBisected ||
      !mayStart(draft, permits, group) ||
      group.members.some((id) => mergesDirectly(draft, permits, id))
    )
      continue;
    if (!urgent && !isWorthIt(draft, chances, group)) continue;
    const on = assumptionsFor(draft, group);
    if (hasRunOn(draft, group, on) || cannotBeBuilt(draft, group, on)) continue;
    const batch = batchFrom(draft, group, permits);
    if (batch.waitsUntil !== undefined) continue;
    if (!draft.hasRoom()) return;
    if (isFull && !(urgent ? interruptLast(draft, group) : takeOver(draft, chances, group, on))) continue;
    if (!join(draft, group, batch.members) || !draft.hasRoom()) return;
    startRun(draft, "MAIN", batch.members, on);
  }
}

/** Makes them one batch, as far as there is room; false: the rest in a later step. */
function join(draft: Draft, group: Group, members: readonly EntryId[]): boolean {
  if (members.length === group.members.length) return true;
  const [first] = members;
  const known = first === undefined ? null : draft.entries.get(first)?.group;
  const batch = known ?? groupId(`${draft.id}-batch-${draft.nextPlace}`);
  // Its members may all have places already, and the next batch must not have the name of this one.
  if (known === null) draft.nextPlace += 1;
  for (const id of members) {
    if (draft.entries.get(id)?.group === batch) continue;
    if (!draft.hasRoom()) return false;
    keepPlaces(draft, [id]);
    draft.patch(id, { group: batch });
  }
  return true;
}

/** Where slots idle, the second most likely outcome of those ahead is tested as well. */
function startSecondGuesses(draft: Draft, permits: Permits): void {
  const chances = chancesNow(draft);
  for (const group of draft.line().groups) {
    if (freeSlots(draft, "MAIN") < 1) return;
    if (group.isBisected || !mayStart(draft, permits, group)) continue;
    const on = secondPathOf(draft, chances, group);
    if (on === undefined || hasRunOn(draft, group, on) || cannotBeBuilt(draft, group, on)) continue;
    if (!draft.hasRoom()) return;
    startRun(draft, "MAIN", group.members, on);
  }
}
