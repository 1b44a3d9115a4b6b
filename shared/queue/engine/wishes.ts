import type { Draft } from "./draft.ts";
import { isUrgent } from "./order.ts";
import { closeRun } from "./runs.ts";
import { grantTargets } from "./targets.ts";
import type { Asked, Entry, Priority } from "./types.ts";

/**
 * Does what requests asked of an entry, once, and takes the wishes off it. One to cancel or to restart an entry that is
 * landing stays until the landing's result is known. Answers the entry as it is then; undefined when it has ended.
 */
export function grantWishes(draft: Draft, entry: Entry): Entry | undefined {
  if (Object.keys(entry.asked).length === 0) return entry;
  const { cancel, restart } = entry.asked;
  const waits = draft.isLanding(entry.id);
  if (cancel !== undefined && !waits) {
    const { by } = cancel;
    draft.end(entry, "CANCELLED", { reason: "CANCELLED_BY_USER", message: `cancelled by ${by}`, cause: `user:${by}` });
    return undefined;
  }
  grantFields(draft, entry, waits ? kept(entry.asked) : {});
  if (restart !== undefined && !waits) restartTests(draft, entry, restart.by);
  return draft.entries.get(entry.id);
}

const kept = ({ cancel, restart }: Asked): Asked => ({
  ...(cancel === undefined ? {} : { cancel }),
  ...(restart === undefined ? {} : { restart }),
});

function grantFields(draft: Draft, entry: Entry, asked: Asked): void {
  const { priority, noBatch, targets } = entry.asked;
  if (priority === undefined && noBatch === undefined && targets === undefined && sameWishes(entry.asked, asked))
    return;
  const granted = grantedPriority(entry, priority);
  const becameUrgent = isUrgent({ priority: granted }) && !isUrgent(entry);
  // Made urgent, it goes behind other urgent entries, not back to the place it had among the rest; and alone: what
  // keeps others from being tested or landed now is not to keep it.
  if (becameUrgent) draft.leaves(entry);
  draft.patch(entry.id, {
    priority: granted,
    noBatch: noBatch ?? entry.noBatch,
    place: becameUrgent ? null : entry.place,
    group: becameUrgent ? null : entry.group,
    asked,
  });
  if (targets !== undefined) grantTargets(draft, draft.entries.get(entry.id) ?? entry, targets);
}

const sameWishes = (a: Asked, b: Asked): boolean => Object.keys(a).length === Object.keys(b).length;

/** An urgent entry that keeps a place stays urgent: only becoming urgent changes an order that has been tested. */
export function grantedPriority(entry: Entry, wanted: Priority | undefined): Priority {
  if (wanted === undefined) return entry.priority;
  return isUrgent(entry) && entry.place !== null && !isUrgent({ priority: wanted }) ? entry.priority : wanted;
}

function restartTests(draft: Draft, entry: Entry, by: string): void {
  const why = { reason: "RESTARTED_BY_USER", message: `tests restarted by ${by}`, cause: `user:${by}` } as const;
  for (const run of draft.runsOf(entry.id)) closeRun(draft, run, why);
  draft.patch(entry.id, { broken: null, conflictsWith: null });
}
