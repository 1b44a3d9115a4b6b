import type { EntryId } from "../../kernel/ids.ts";
import type { Draft } from "./draft.ts";
import type { Group } from "./line.ts";
import { type Chances, chanceOf, chanceToLand, estimatesNow, floorOf, secondPathFloor } from "./policy.ts";
import { type Assumptions, assumptionsFor, hasRunOn } from "./runs.ts";
import { isLikelyToLand } from "./states.ts";

/** How likely each entry lands as things stand; looked up once per entry and plan. */
export function chancesNow(draft: Draft): Chances {
  const estimates = estimatesNow(draft);
  const known = new Map<EntryId, number>();
  const chance = (id: EntryId): number => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const entry = draft.entries.get(id);
    if (entry === undefined) return 0;
    if (draft.isLanding(id) || draft.clearingRun(id) !== undefined) return 1;
    const failed = draft.runsOf(id).find((run) => run.failure !== null);
    const standing = failed === undefined ? undefined : draft.standing(failed);
    // What stands ahead of it may be at fault as well.
    const others =
      standing?.kind === "GOOD" ? standing.before.reduce((product, other) => product * chance(other), 1) : 1;
    const result = chanceToLand(estimates, entry, failed, others);
    known.set(id, result);
    return result;
  };
  return chance;
}

const busyShare = (draft: Draft): number => draft.inProgress(false) / Math.max(1, draft.config.settings.concurrency);

/** How likely a run on these assumptions is needed, 0 to 1. */
export const chanceOnPath = (chances: Chances, on: Assumptions): number =>
  chanceOf(chances, on.predecessors, on.assumedOut);

/** The likeliest path is likely enough to be needed, for as busy as the slots are. Looks no further than that takes. */
export function isWorthIt(draft: Draft, chances: Chances, group: Group): boolean {
  const floor = floorOf(busyShare(draft));
  let chance = 1;
  for (const id of draft.line().eachPredecessor(group)) {
    chance *= isLikelyToLand(draft, id) ? chances(id) : 1 - chances(id);
    if (chance < floor) return false;
  }
  return true;
}

/**
 * The second most likely assumptions: the likeliest with the one predecessor turned over that is the least certain.
 * Undefined where there is none, or where it is too unlikely for as busy as the slots are.
 */
export function secondPathOf(draft: Draft, chances: Chances, group: Group): Assumptions | undefined {
  const floor = secondPathFloor(busyShare(draft));
  const [first] = group.members;
  if (floor > 1 || first === undefined || draft.runsOf(first).length === 0) return undefined;
  const on = assumptionsFor(draft, group);
  if (!hasRunOn(draft, group, on)) return undefined;
  let turned: EntryId | undefined;
  let best = 0;
  for (const [ids, lands] of [
    [on.predecessors, true],
    [on.assumedOut, false],
  ] as const)
    for (const id of ids) {
      const chance = lands ? chances(id) : 1 - chances(id);
      const ratio = chance === 0 ? Number.POSITIVE_INFINITY : (1 - chance) / chance;
      if (ratio > best) [best, turned] = [ratio, id];
    }
  if (turned === undefined || chanceOnPath(chances, on) * best < floor) return undefined;
  return turnOver(draft, group, on, turned);
}

/** Members of one batch land together or not at all. */
function turnOver(draft: Draft, group: Group, on: Assumptions, id: EntryId): Assumptions {
  const turned = new Set(draft.groupOf(id)?.members ?? [id]);
  const lands = on.assumedOut.some((one) => turned.has(one));
  const predecessors: EntryId[] = [];
  const assumedOut: EntryId[] = [];
  for (const one of draft.line().predecessorsOf(group)) {
    const isIn = turned.has(one) ? lands : on.predecessors.includes(one);
    (isIn ? predecessors : assumedOut).push(one);
  }
  return { predecessors, assumedOut };
}
