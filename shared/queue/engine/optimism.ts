import { type EpochMs, later, MINUTE_MS } from "../../kernel/time.ts";
import type { Draft } from "./draft.ts";
import type { Group } from "./line.ts";
import type { Permits } from "./permits.ts";
import { isInProgress } from "./run-index.ts";
import { type Assumptions, assumptionsFor, cannotBeBuilt, freeSlots, hasRunOn } from "./runs.ts";
import { mayStart } from "./starting.ts";
import type { Run } from "./types.ts";

/** How long a failure waits for a successor where tests have no timeout. */
const LONGEST_WAIT_MINUTES = 300;

/** A run that may yet clear a failed group, and is not there yet. */
export type Clearing = { readonly group: Group; readonly on: Assumptions };

/**
 * Whether a failed group waits for a run of a successor that contains it: one that is in progress, or one that this
 * step can start. At most `pendingFailureDepth` places behind, and no longer than one testing timeout.
 */
export const waitsForSuccessor = (draft: Draft, run: Run, group: Group, permits: Permits): boolean =>
  successorFor(draft, run, group, permits) !== undefined;

/** The one it waits for. */
export function successorFor(draft: Draft, run: Run, group: Group, permits: Permits): Group | undefined {
  if (draft.now >= waitsUntil(draft, run)) return undefined;
  return (
    successors(draft, group).find((other) => isTestedWith(draft, other, group)) ??
    clearingToStart(draft, group, permits)?.group
  );
}

/** When a failed run stops waiting for a successor. */
export function waitsUntil(draft: Pick<Draft, "config">, run: Run): EpochMs {
  const minutes = draft.config.settings.testingTimeoutMinutes;
  return later(run.endedAt ?? run.startedAt, (minutes === 0 ? LONGEST_WAIT_MINUTES : minutes) * MINUTE_MS);
}

function successors(draft: Draft, group: Group): readonly Group[] {
  const { canOptimisticallyMerge, pendingFailureDepth } = draft.config.settings;
  return canOptimisticallyMerge && pendingFailureDepth > 0 ? draft.line().dependentsOf(group, pendingFailureDepth) : [];
}

/** A run in progress of `other` contains all of `group`. */
function isTestedWith(draft: Draft, other: Group, group: Group): boolean {
  const [first] = other.members;
  if (first === undefined) return false;
  return draft.runsOf(first).some((run) => {
    if (!isInProgress(run)) return false;
    const standing = draft.standing(run);
    return standing.kind === "GOOD" && group.members.every((id) => standing.before.includes(id));
  });
}

/**
 * The run to start for a failed group, on the path that contains it: of the nearest successor that may start and was
 * not tested so. None while one is in progress, or without a free slot.
 */
export function clearingToStart(draft: Draft, group: Group, permits: Permits): Clearing | undefined {
  if (freeSlots(draft, "MAIN") < 1) return undefined;
  const near = successors(draft, group);
  if (near.some((other) => isTestedWith(draft, other, group))) return undefined;
  for (const other of near) {
    if (other.isBisected || !mayStart(draft, permits, other)) continue;
    const on = assumptionsFor(draft, other, group.members);
    if (on.assumedOut.length > 0 || hasRunOn(draft, other, on) || cannotBeBuilt(draft, other, on)) continue;
    return { group: other, on };
  }
  return undefined;
}
