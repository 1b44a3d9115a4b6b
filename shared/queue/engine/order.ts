import type { Entry, QueueState } from "./types.ts";

/** The priority value that goes to the front and through the brakes that allow it. */
export const URGENT = 0;

export const isUrgent = (entry: Pick<Entry, "priority">): boolean => entry.priority.value === URGENT;

/** Admitted and not ended: only these are predecessors of others. */
export const isAdmitted = (entry: Entry): boolean => entry.state !== "NOT_READY";

/**
 * Urgent first, then kept places, then lower priority value, then earlier submission. A place is kept from the first
 * run that contains the entry, so nothing but an urgent entry is ever put before it. Total: a queue has at most one
 * live entry per PR number.
 */
export function compareEntries(a: Entry, b: Entry): number {
  return (
    Number(isUrgent(b)) - Number(isUrgent(a)) ||
    (a.place ?? Number.POSITIVE_INFINITY) - (b.place ?? Number.POSITIVE_INFINITY) ||
    a.priority.value - b.priority.value ||
    a.submittedAt - b.submittedAt ||
    a.prNumber - b.prNumber
  );
}

/**
 * All admitted entries in the order in which they are to land; what is landing stays in front of all, in the order in
 * which it was sent. One that has landed already and is only still to be ended is not ahead of anybody.
 */
export function admittedInOrder(state: Pick<QueueState, "entries" | "landing">): Entry[] {
  const { landing } = state;
  const front = new Map(landing?.group.map((id, at) => [id, at]));
  const admitted = [...state.entries.values()].filter(
    (entry) => isAdmitted(entry) && !(landing?.landed === true && front.has(entry.id)),
  );
  const at = ({ id }: Entry): number => front.get(id) ?? front.size;
  return admitted.sort((a, b) => at(a) - at(b) || compareEntries(a, b));
}
