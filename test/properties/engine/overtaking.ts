/** Nobody is tested past one who stood ahead when the step began, unless the test holds that one or leaves it out. */
import type { EntryId } from "../../../shared/kernel/ids.ts";
import type { Entry, QueueState, Run } from "../../../shared/queue/engine/types.ts";
import type { Look } from "./judges.ts";
import { doOverlap, isLive } from "./oracle-line.ts";

/** A place that is given by the run that is to be judged says nothing about who stood ahead. */
const rankOf = (before: QueueState, entry: Entry): readonly number[] => [
  entry.priority.value === 0 ? 0 : 1,
  (before.entries.get(entry.id)?.place === entry.place ? entry.place : null) ?? 1e9,
  entry.priority.value,
  entry.submittedAt,
  entry.prNumber,
];

function isAhead(before: QueueState, a: Entry, b: Entry): boolean {
  const [left, right] = [rankOf(before, a), rankOf(before, b)];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}

export function overtakes({ before, decision: { state } }: Pick<Look, "before" | "decision">): readonly string[] {
  return [...state.runs.values()]
    .filter((run) => run.kind !== "TIP" && !before.runs.has(run.id))
    .flatMap((run) => overtakenBy(before, state, run).map((one) => `${run.id} overtakes #${one.prNumber}`));
}

function overtakenBy(before: QueueState, state: QueueState, run: Run): readonly Entry[] {
  const known = new Set<EntryId>([...run.group, ...run.predecessors, ...run.assumedOut]);
  const group = run.group.flatMap((id) => state.entries.get(id) ?? []);
  return [...state.entries.values()].filter(
    (other) =>
      isLive(other) &&
      !known.has(other.id) &&
      // The parts of one batch stand as it was cut, whatever has become of its members since.
      group.every((one) => one.group === null || one.group !== other.group) &&
      group.every((one) => isAhead(before, other, one)) &&
      group.some((one) => doOverlap(state, other, one)),
  );
}
