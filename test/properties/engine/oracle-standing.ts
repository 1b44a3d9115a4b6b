/** Which runs are evidence, by the rules and by what happened since they were started. */
import type { EntryId } from "../../../shared/kernel/ids.ts";
import type { QueueState, Run } from "../../../shared/queue/engine/types.ts";
import type { History, Movement } from "./history.ts";
import { type Names, namesOf, shareOne } from "./names.ts";
import { doOverlap, isLive, type NaiveGroup, naivePredecessors } from "./oracle-line.ts";

export type NaiveStanding =
  | {
      readonly kind: "GOOD";
      readonly before: readonly EntryId[];
      readonly without: readonly EntryId[];
      /** It lacks what landed and overlaps somebody that it holds ahead: of that it proves nothing. */
      readonly stale: boolean;
    }
  | { readonly kind: "VOID"; readonly why: string }
  /** Targets were replaced after a landing that the run lacks. They overlap nothing of it, and nobody compared them. */
  | { readonly kind: "EITHER" };

const isVoid = (why: string): NaiveStanding => ({ kind: "VOID", why });

export function naiveStanding(
  state: QueueState,
  history: History,
  groups: readonly NaiveGroup[],
  run: Run,
): NaiveStanding {
  // A test of the target is about one that is there.
  if (run.kind === "TIP" && run.base !== state.tip?.sha) return isVoid("the target is another one");
  let remaining: readonly EntryId[] = [...run.predecessors, ...run.group];
  let at = run.base;
  let uncompared = false;
  let stale = false;
  for (const movement of history.movements.slice(history.startedAt.get(run.id) ?? 0)) {
    if (movement.landed === null) {
      // Somebody else's movement counts as if the run had been started now, on the tip that it has.
      [at, remaining] = [run.base, [...run.predecessors, ...run.group]];
      continue;
    }
    if (movement.from !== at) continue;
    const landed = landedOn(state, movement, run, remaining);
    if (landed === undefined) return isVoid("what landed overlaps what it holds, and it lacks it");
    stale ||= isStaledBy(state, movement, run, remaining, landed);
    const isAll = movement.landed.every((one) => remaining.includes(one.id));
    uncompared ||= !isAll && landed.some((id) => hasOthers(state, movement, id));
    if (hasGrownInto(state, movement, remaining, landed))
      return isVoid("replaced targets overlap what landed without it");
    [at, remaining] = [movement.to, landed];
  }
  if (at !== state.tip?.sha) return isVoid("the target is another one");
  if (run.kind === "TIP") return { kind: "GOOD", before: [], without: [], stale };
  const standing = inTheQueue(state, groups, run, remaining, stale);
  return uncompared && standing.kind === "GOOD" ? { kind: "EITHER" } : standing;
}

const namesNow = (state: QueueState, id: EntryId): Names => namesOf(state.entries.get(id)?.targets ?? null);

/** Its targets were replaced since. Of one that has landed itself meanwhile nothing is asked any more. */
const hasOthers = ({ entries }: QueueState, { numbers }: Movement, id: EntryId): boolean =>
  entries.has(id) && numbers.get(id) !== entries.get(id)?.lane?.number;

/** What remains of the run when this landed; undefined if the landing contradicts it. */
function landedOn(
  state: QueueState,
  { landed, names }: Movement,
  { group }: Run,
  remaining: readonly EntryId[],
): readonly EntryId[] | undefined {
  let left = remaining;
  for (const one of landed ?? []) {
    // It is said of its group; what is ahead of that is said by others.
    const against = left.includes(one.id)
      ? left.slice(0, left.indexOf(one.id))
      : left.filter((id) => group.includes(id));
    if (against.some((id) => state.mode === "SINGLE" || shareOne(names.get(id) ?? "ALL", one.names))) return undefined;
    left = left.filter((id) => id !== one.id);
  }
  return left;
}

function isStaledBy(
  state: QueueState,
  { landed, names }: Movement,
  { group }: Run,
  held: readonly EntryId[],
  left: readonly EntryId[],
): boolean {
  const ahead = left.filter((id) => !group.includes(id));
  const lacked = (landed ?? []).filter((one) => !held.includes(one.id));
  return lacked.some((one) =>
    ahead.some((id) => state.mode === "SINGLE" || shareOne(names.get(id) ?? "ALL", one.names)),
  );
}

/** What is left of the run has targets now that it had not then, and that overlap what landed without it. */
function hasGrownInto(
  state: QueueState,
  movement: Movement,
  contained: readonly EntryId[],
  left: readonly EntryId[],
): boolean {
  if (state.mode === "SINGLE") return false;
  const missing = (movement.landed ?? []).filter((one) => !contained.includes(one.id));
  return left.some((id) => {
    const now = namesNow(state, id);
    return hasOthers(state, movement, id) && missing.some((one) => shareOne(now, one.names));
  });
}

function inTheQueue(
  state: QueueState,
  groups: readonly NaiveGroup[],
  run: Run,
  remaining: readonly EntryId[],
  stale: boolean,
): NaiveStanding {
  if (!run.group.every((id) => remaining.includes(id))) return isVoid("some of its group landed without the rest");
  if (!remaining.every((id) => isLive(state.entries.get(id)))) return isVoid("one that it contains left");
  const group = groups.find((one) => one.members.join() === run.group.join());
  if (group === undefined) return isVoid("it is tested with others now");
  const ahead = naivePredecessors(state, groups, group);
  const before = remaining.filter((id) => !run.group.includes(id));
  const unknown = ahead.filter((id) => !before.includes(id) && !run.assumedOut.includes(id));
  if (unknown.length > 0) return isVoid(`${unknown.join()} ahead is unknown to it`);
  const inQueue = groups.flatMap((one) => one.members);
  const first = inQueue.indexOf(group.members[0] ?? run.group[0] ?? ("none" as EntryId));
  if (before.some((id) => inQueue.indexOf(id) >= first)) return isVoid("one that it holds ahead stands behind");
  if (state.mode === "SINGLE" && before.join() !== ahead.filter((id) => before.includes(id)).join())
    return isVoid("the order changed");
  if (state.mode === "PARALLEL" && turnedRound(state, ahead, before)) return isVoid("the order of two changed");
  return { kind: "GOOD", before, without: ahead.filter((id) => !before.includes(id)), stale };
}

/** Two of those ahead that overlap stand in the run otherwise than in the queue. */
function turnedRound(state: QueueState, ahead: readonly EntryId[], before: readonly EntryId[]): boolean {
  const placed = before.filter((id) => ahead.includes(id));
  return placed.some((one, at) =>
    placed.slice(at + 1).some((later) => {
      const [a, b] = [state.entries.get(one), state.entries.get(later)];
      return a !== undefined && b !== undefined && doOverlap(state, a, b) && ahead.indexOf(one) > ahead.indexOf(later);
    }),
  );
}
