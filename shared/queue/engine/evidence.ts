import type { EntryId, RunId } from "../../kernel/ids.ts";
import { overlaps } from "./lanes.ts";
import type { Line } from "./line.ts";
import { isAdmitted, isUrgent } from "./order.ts";
import type { Entry, LandedStep, QueueState, Reason, Run } from "./types.ts";

/**
 * What a run says about the queue as it is now. Derived each time and never stored, so that no message can be missed:
 * a run is good as long as its base leads to the present tip by landings that do not contradict it, everything it
 * contains and has not landed is still live, and nothing has come ahead of its group that it does not know of.
 */
export type Standing =
  | {
      readonly kind: "GOOD";
      /** Contained entries that are to land before the group. */
      readonly before: readonly EntryId[];
      /** Live predecessors that the run assumes will not land: while there is one, the group cannot land on it. */
      readonly without: readonly EntryId[];
    }
  | { readonly kind: "VOID"; readonly reason: Reason; readonly message: string };

type Judged = Pick<QueueState, "tip" | "lineage" | "entries" | "mode">;

const isVoid = (reason: Reason, message: string): Standing => ({ kind: "VOID", reason, message });
const isLive = (entry: Entry | undefined): boolean => entry !== undefined && isAdmitted(entry);

export function standingOf(state: Judged, run: Run, line: Line): Standing {
  const carried = carriedToTip(state, run);
  if ("kind" in carried) return carried;
  if (run.kind === "TIP") return { kind: "GOOD", before: [], without: [] };
  const { remaining } = carried;
  const left = run.group.filter((id) => remaining.includes(id));
  if (left.length > 0 && left.length < run.group.length)
    return isVoid("PREDECESSORS_CHANGED", "a part of its batch landed without the rest");
  const gone = remaining.find((id) => !isLive(state.entries.get(id)));
  if (gone !== undefined)
    return isVoid("PREDECESSOR_LEFT", "a pull request that was tested together with it left the queue");
  const before = remaining.filter((id) => !run.group.includes(id));
  return left.length === 0 ? { kind: "GOOD", before, without: [] } : againstLine(state, run, before, line);
}

/** Walks from the run's base to the present tip, along landings that do not contradict it. */
function carriedToTip(state: Judged, run: Run): Standing | { readonly remaining: readonly EntryId[] } {
  let at = run.base;
  let remaining: readonly EntryId[] = [...run.predecessors, ...run.group];
  for (const step of state.lineage) {
    if (step.number < run.landingsBefore || step.from !== at) continue;
    if (step.voids.includes(run.id))
      return step.entries.some((id) => run.assumedOut.includes(id))
        ? isVoid("PREDECESSOR_LANDED", "a pull request ahead landed that this test had left out")
        : isVoid("PREDECESSORS_CHANGED", "a pull request landed that this test does not contain");
    if (isUncompared(state, step, remaining))
      return isVoid("TARGETS_CHANGED", "impacted targets changed after a landing that this test does not contain");
    remaining = remaining.filter((id) => !step.entries.includes(id));
    at = step.to;
  }
  if (at === state.tip?.sha) return { remaining };
  return isVoid("MANUAL_PUSH_TO_TARGET_BRANCH", "the target branch was moved by somebody else");
}

/** Something landed that the run lacks, and something the run contains got targets since that were never compared with it. */
function isUncompared(state: Judged, step: LandedStep, remaining: readonly EntryId[]): boolean {
  if (state.mode === "SINGLE" || step.entries.every((id) => remaining.includes(id))) return false;
  return remaining.some((id) => (state.entries.get(id)?.lane?.since ?? 0) > step.number);
}

function againstLine(state: Judged, run: Run, before: readonly EntryId[], line: Line): Standing {
  const first = run.group[0];
  const group = first === undefined ? undefined : line.groupOf(first);
  if (group === undefined || !same(group.members, run.group))
    return isVoid("BATCH_CHANGED", "it is tested together with others now");
  const ahead = line.predecessorsOf(group);
  const out = new Set(run.assumedOut);
  const expected = ahead.filter((id) => !out.has(id));
  const without = ahead.filter((id) => out.has(id));
  if (same(expected, before)) return { kind: "GOOD", before, without };
  const known = new Set(before);
  const intruder = expected.find((id) => !known.has(id));
  if (intruder !== undefined) return intruded(state, state.entries.get(intruder), run);
  if (!keepsOrder(state, before, expected) || before.some((id) => (line.groupOf(id)?.at ?? group.at) >= group.at))
    return isVoid("PREDECESSORS_CHANGED", "the order of the pull requests ahead changed");
  return { kind: "GOOD", before, without };
}

const same = (a: readonly EntryId[], b: readonly EntryId[]): boolean =>
  a.length === b.length && a.every((id, at) => id === b[at]);

function intruded(state: Judged, intruder: Entry | undefined, run: Run): Standing {
  const number = intruder?.prNumber ?? 0;
  if (intruder !== undefined && isUrgent(intruder))
    return isVoid("SKIP_THE_LINE_INTERRUPTED", `PR #${number}, which is urgent, came ahead`);
  // In a queue of lanes who came first can only become a predecessor because of other targets.
  const knew = run.group.some((id) => (state.entries.get(id)?.submittedAt ?? 0) > (intruder?.submittedAt ?? 0));
  return state.mode === "PARALLEL" && knew
    ? isVoid("TARGETS_CHANGED", `PR #${number}, which is ahead, now shares impacted targets`)
    : isVoid("PREDECESSORS_CHANGED", `PR #${number} came ahead`);
}

/** What a run contains beyond its predecessors is kept, and pairs that overlap stand in the run as they stand in the queue. */
function keepsOrder(state: Judged, contained: readonly EntryId[], order: readonly EntryId[]): boolean {
  if (state.mode === "SINGLE") return false;
  const at = new Map(order.map((id, index) => [id, index]));
  const placed = contained.filter((id) => at.has(id));
  return placed.every((id, index) =>
    placed.slice(index + 1).every((later) => (at.get(id) ?? 0) < (at.get(later) ?? 0) || !meet(state, id, later)),
  );
}

function meet(state: Pick<QueueState, "entries" | "mode">, a: EntryId, b: EntryId): boolean {
  const [first, second] = [state.entries.get(a), state.entries.get(b)];
  return first === undefined || second === undefined || overlaps(first, second, state.mode);
}

/**
 * Runs that a landing contradicts: it lands something that they lack and that overlaps what they contain, or something
 * that they contain behind another that overlaps it. Asked while what lands is still live.
 */
export function contradictedBy(
  state: Pick<QueueState, "entries" | "mode" | "runs">,
  landed: readonly EntryId[],
  standing: (run: Run) => Standing,
): readonly RunId[] {
  return [...state.runs.values()]
    .filter((run) => !run.group.some((id) => landed.includes(id)))
    .flatMap((run) => {
      if (run.kind === "TIP") return [run.id];
      const now = standing(run);
      if (now.kind === "VOID") return [];
      const remaining = [...now.before, ...run.group];
      for (const id of landed) {
        const at = remaining.indexOf(id);
        if (remaining.slice(0, at < 0 ? remaining.length : at).some((other) => meet(state, other, id))) return [run.id];
        if (at >= 0) remaining.splice(at, 1);
      }
      return [];
    });
}

/**
 * Which entries a run of a successor clears: one that passed, stands on the present tip, leaves nobody out, and
 * contains the entry with everything that it depends on. The shortest such run for each. Empty without optimistic merging.
 */
export function clearedBy(
  state: Pick<QueueState, "config" | "runs">,
  line: Line,
  standing: (run: Run) => Standing,
): ReadonlyMap<EntryId, Run> {
  const cleared = new Map<EntryId, Run>();
  if (!state.config.settings.canOptimisticallyMerge) return cleared;
  const shortest = new Map<EntryId, number>();
  for (const run of state.runs.values()) {
    if (run.phase !== "PASSED" || run.kind === "TIP") continue;
    const now = standing(run);
    if (now.kind === "VOID" || now.without.length > 0) continue;
    const contained = new Set([...now.before, ...run.group]);
    for (const id of now.before) {
      const group = line.groupOf(id);
      if (group === undefined || (shortest.get(id) ?? Number.POSITIVE_INFINITY) <= contained.size) continue;
      if (![...group.members, ...line.predecessorsOf(group)].every((one) => contained.has(one))) continue;
      shortest.set(id, contained.size);
      cleared.set(id, run);
    }
  }
  return cleared;
}
