import { type EpochMs, earliest } from "../../kernel/time.ts";
import { batchDeadline } from "./batching.ts";
import { forgetBisections } from "./bisection.ts";
import { Draft } from "./draft.ts";
import { admitEntries, notReadyDeadline, settleEntries } from "./entries.ts";
import { fold } from "./fold.ts";
import { settleRuns } from "./judge.ts";
import { beginLanding, continueLanding } from "./landing.ts";
import { modeInForce, type Permits, permitsOf } from "./permits.ts";
import { waitsUntil } from "./optimism.ts";
import { plan } from "./plan.ts";
import { retellAll, tellUntold } from "./states.ts";
import type { Decision, QueueEvent, QueueState } from "./types.ts";

const PASSES_MAX = 100;

/**
 * Takes one fact in and decides everything that follows from all facts known. Pure and total: the same state, event
 * and time give the same decision, and an event that is unknown, late or repeated gives the same state back.
 *
 * A step is bounded (`more` says that the next is due at once); every state in between is valid.
 */
export function step(state: QueueState, event: QueueEvent, now: EpochMs): Decision {
  const draft = new Draft(state, now);
  fold(draft, event);
  for (let pass = 1, before = -1; draft.decisions !== before && draft.hasRoom(); pass += 1) {
    before = draft.decisions;
    settle(draft);
    // Never seen; but a step that goes round in circles must end, and show as one that is never done.
    if (pass === PASSES_MAX) draft.cut = true;
    if (draft.cut) break;
  }
  return draft.decision(wakeAt(draft, permitsOf(draft, now)));
}

/**
 * One pass over the queue: facts, then verdicts, then what the brakes allow. What one part decides the next ones see;
 * the last pass finds nothing to do.
 */
function settle(draft: Draft): void {
  // Until nothing follows any more from the verdicts, and from who comes in: what is started is decided by all of it.
  for (let times = 0, before = -1; draft.decisions !== before && times < PASSES_MAX && draft.hasRoom(); times += 1) {
    before = draft.decisions;
    settleVerdicts(draft);
    // Only now: verdicts on the tip may have put a hold on, and the last entry of the old mode may have ended.
    draft.mode = modeInForce(draft);
    const permits = permitsOf(draft, draft.now);
    countClosedTime(draft, permits);
    admitEntries(draft, permits);
  }
  const permits = permitsOf(draft, draft.now);
  beginLanding(draft, permits);
  plan(draft, permits);
  readTip(draft);
  readPullRequests(draft);
  trimLineage(draft);
  forgetBisections(draft);
}

function settleVerdicts(draft: Draft): void {
  liftClearedHolds(draft);
  continueLanding(draft);
  settleEntries(draft);
  // Repeats and clearing runs that may still start decide whether a failure counts already.
  settleRuns(draft, permitsOf(draft, draft.now));
  settleStates(draft);
}

function liftClearedHolds(draft: Draft): void {
  const clearedAt = draft.config.holdsClearedAt;
  if (clearedAt !== null && draft.holds.some((hold) => hold.since <= clearedAt))
    draft.holds = draft.holds.filter((hold) => hold.since > clearedAt);
}

function countClosedTime(draft: Draft, permits: Permits): void {
  if (permits.isOpen === (draft.closed.since === null)) return;
  draft.closed = permits.isOpen
    ? { totalMs: draft.closedMs(), since: null }
    : { totalMs: draft.closed.totalMs, since: draft.now };
}

/** States follow from runs and from what is likeliest ahead, which another entry's failure or repeat may change. */
function settleStates(draft: Draft): void {
  tellUntold(draft);
  retellAll(draft, draft.line().entries);
}

/** Asks for the facts that somebody said may have changed, as far as there is room. */
function readPullRequests(draft: Draft): void {
  const asked = draft.readsDue.findIndex((prNumber) => {
    if (!draft.hasRoom()) return true;
    draft.readPullRequest(prNumber);
    return false;
  });
  if (draft.readsDue.length > 0) draft.readsDue = asked < 0 ? [] : draft.readsDue.slice(asked);
}

/** Reads the target when it is unknown or doubted; not while a landing is on its way, whose answer brings it. */
function readTip(draft: Draft): void {
  const { landing, tip } = draft;
  if (draft.tipRead !== null || (landing !== null && !landing.landed)) return;
  const isMissing = draft.holds.some((hold) => hold.kind === "TARGET_MISSING");
  if (!draft.tipDoubted && (tip !== null || isMissing)) return;
  if (tip === null && ![...draft.entries.values()].some((entry) => entry.pr !== null)) return;
  const read = draft.nextRead;
  draft.nextRead += 1;
  draft.tipRead = read;
  draft.add({ type: "read-tip", key: `read-tip:${read}`, read, since: tip?.sha ?? null });
}

/** Keeps only those landings that a run in the queue has yet to be carried over. */
function trimLineage(draft: Draft): void {
  const oldest = Math.min(...[...draft.runs.values()].map((run) => run.landingsBefore), Number.POSITIVE_INFINITY);
  const landing = draft.landing !== null;
  if (!landing && draft.lineage.some((step) => step.number < oldest))
    draft.lineage = draft.lineage.filter((step) => step.number >= oldest);
}

/** When to look again even if nothing is heard: the earliest deadline, retry, timeout or edge of a window. */
function wakeAt(draft: Draft, permits: Permits): EpochMs | undefined {
  let first: EpochMs | undefined;
  // What was due up to now has been done by this step, or waits for something else.
  const consider = (at: EpochMs | null | undefined): void => {
    if (at !== null && at !== undefined && at > draft.now) first = earliest(first, at);
  };
  consider(permits.changesAt);
  consider(draft.landing?.trouble?.retryAt);
  consider(draft.tipTestBroken?.retryAt);
  for (const run of draft.runs.values()) {
    consider(run.deadline);
    consider(run.forgiveness?.until);
    if (run.phase === "FAILED" && draft.config.settings.canOptimisticallyMerge) consider(waitsUntil(draft, run));
  }
  for (const entry of draft.entries.values()) {
    consider(entry.broken?.retryAt);
    consider(entry.trouble?.retryAt);
    consider(batchDeadline(draft, entry));
    if (permits.isOpen) consider(notReadyDeadline(draft, entry));
  }
  return first;
}
