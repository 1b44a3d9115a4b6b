import type { EntryId } from "../../kernel/ids.ts";
import { predecessorsOf } from "./lanes.ts";
import { isAdmitted, isUrgent } from "./order.ts";
import type { Entry, QueueState, Reason, Run } from "./types.ts";

/**
 * What a run says about the queue as it is now. Derived each time and never stored, so that no message can be missed:
 * a run is good as long as its base leads to the present tip by landings that it foresaw, everything it contains and
 * has not landed is still live, and nothing has come ahead of its group that it does not know of.
 */
export type Standing =
  | {
      readonly kind: "GOOD";
      /** Contained entries that are to land before the group. */
      readonly before: readonly EntryId[];
      /** Live entries ahead that the run assumes will not land: while there is one, the group cannot land on it. */
      readonly without: readonly EntryId[];
    }
  | { readonly kind: "VOID"; readonly reason: Reason; readonly message: string };

type Judged = Pick<QueueState, "tip" | "lineage" | "entries" | "mode">;

const isVoid = (reason: Reason, message: string): Standing => ({ kind: "VOID", reason, message });
const same = (a: readonly EntryId[], b: readonly EntryId[]): boolean =>
  a.length === b.length && a.every((id, at) => id === b[at]);

/** `order` is all admitted entries in queue order. */
export function standingOf(state: Judged, run: Run, order: readonly Entry[]): Standing {
  const carried = carriedToTip(state, run);
  if ("kind" in carried) return carried;
  if (run.kind === "TIP") return { kind: "GOOD", before: [], without: [] };
  const landed = run.predecessors.length + run.group.length - carried.remaining.length;
  if (landed > run.predecessors.length && carried.remaining.length > 0)
    return isVoid("PREDECESSORS_CHANGED", "a part of its group landed without the rest");
  const before = carried.remaining.slice(0, Math.max(0, carried.remaining.length - run.group.length));
  const gone = carried.remaining.find((id) => !isLive(state.entries.get(id)));
  if (gone !== undefined)
    return isVoid("PREDECESSOR_LEFT", "a pull request that was tested together with it left the queue");
  return againstOrder(state, run, before, order);
}

const isLive = (entry: Entry | undefined): boolean => entry !== undefined && isAdmitted(entry);

/** Walks from the run's base to the present tip, along landings that the run foresaw in their order. */
function carriedToTip(state: Judged, run: Run): Standing | { readonly remaining: readonly EntryId[] } {
  let at = run.base;
  let remaining: readonly EntryId[] = [...run.predecessors, ...run.group];
  for (const step of state.lineage) {
    if (step.number < run.landingsBefore || step.from !== at) continue;
    if (!same(remaining.slice(0, step.entries.length), step.entries)) {
      return step.entries.some((id) => run.assumedOut.includes(id))
        ? isVoid("PREDECESSOR_LANDED", "a pull request ahead landed that this test had left out")
        : isVoid("PREDECESSORS_CHANGED", "a pull request landed that this test does not contain");
    }
    remaining = remaining.slice(step.entries.length);
    at = step.to;
  }
  if (at === state.tip?.sha) return { remaining };
  return isVoid("MANUAL_PUSH_TO_TARGET_BRANCH", "the target branch was moved by somebody else");
}

function againstOrder(state: Judged, run: Run, before: readonly EntryId[], order: readonly Entry[]): Standing {
  const members = new Set(run.group);
  const first = order.findIndex((entry) => members.has(entry.id));
  const group = order.filter((entry) => members.has(entry.id));
  const ahead = predecessorsOf(group, order.slice(0, Math.max(0, first)), state.mode);
  const out = new Set(run.assumedOut);
  const expected = ahead.filter((entry) => !out.has(entry.id)).map((entry) => entry.id);
  if (same(expected, before))
    return { kind: "GOOD", before, without: ahead.filter((entry) => out.has(entry.id)).map((entry) => entry.id) };
  const known = new Set(before);
  const intruder = ahead.find((entry) => !out.has(entry.id) && !known.has(entry.id));
  if (intruder === undefined) return isVoid("PREDECESSORS_CHANGED", "the order of the pull requests ahead changed");
  return isUrgent(intruder)
    ? isVoid("SKIP_THE_LINE_INTERRUPTED", `PR #${intruder.prNumber}, which is urgent, came ahead`)
    : isVoid("PREDECESSORS_CHANGED", `PR #${intruder.prNumber} came ahead`);
}
