import type { Draft } from "./draft.ts";
import type { Entry } from "./types.ts";

/**
 * What to try. Nothing here decides what is true: a wrong guess costs runs and time, never a wrong landing.
 *
 * The likely path: an undecided predecessor is assumed to land, unless its run has failed (more often than not it
 * fails again) or it cannot even be merged behind one that is assumed to land.
 */
export function isAssumedToLand(draft: Pick<Draft, "entries">, entry: Entry): boolean {
  if (entry.state === "PENDING_FAILURE") return false;
  const opponent = entry.conflictsWith === null ? undefined : draft.entries.get(entry.conflictsWith);
  return opponent === undefined || opponent.state === "PENDING_FAILURE" || opponent.state === "NOT_READY";
}
