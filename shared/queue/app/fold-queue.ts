import { assert } from "../../kernel/assert.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { breachesOf } from "../engine/invariants.ts";
import { step } from "../engine/step.ts";
import type { Asked, Decision, QueueEvent, QueueState } from "../engine/types.ts";
import type { Folded, InboxItem, LoadedQueue, StoredEntry } from "./ports.ts";

/**
 * Items that a commit may carry before the next event is left for the next commit. One step adds at most some fifty
 * (the engine's own bound and one action beyond it), which together stays below what a transaction holds.
 */
const ITEMS_BEFORE_NEXT_EVENT_MAX = 25;

type Waiting = { readonly event: QueueEvent; readonly taken?: InboxItem };

/** Folds what requests and hosts left behind through the engine, as far as one transaction carries it. */
export function foldQueue(queue: LoadedQueue, now: EpochMs): Folded {
  const waiting = eventsOf(queue);
  const taken: InboxItem[] = [];
  let decision: Decision | undefined;
  for (const [at, { event, taken: item }] of waiting.entries()) {
    decision = joined(decision, checkedStep(decision?.state ?? queue.state, event, now));
    if (item !== undefined) taken.push(item);
    const more = decision.more || at < waiting.length - 1;
    if (!decision.more && itemsOf(queue, decision) + taken.length < ITEMS_BEFORE_NEXT_EVENT_MAX) continue;
    return { decision: { ...decision, more }, taken };
  }
  assert(decision !== undefined, "a fold without an event");
  return { decision, taken };
}

/** A decision that would break what the queue promises is never written: the queue is marked, and somebody told. */
function checkedStep(state: QueueState, event: QueueEvent, now: EpochMs): Decision {
  const decision = step(state, event, now);
  const breaches = breachesOf(state, decision, now);
  if (breaches.length > 0) throw new Error(`a decision would break what the queue promises: ${breaches.join("; ")}`);
  return decision;
}

/** Submissions and wishes lie on the entries themselves; a lost or doubled message about them changes nothing. */
function eventsOf(queue: LoadedQueue): readonly Waiting[] {
  const unseen = queue.entries.filter((one) => !one.seen);
  return [
    ...unseen.map(({ entry }): Waiting => ({ event: { type: "submitted", entry } })),
    ...queue.entries.filter((one) => wants(one.entry.asked)).map(asking),
    ...queue.inbox.map((item): Waiting => ({ event: item.event, taken: item })),
    { event: { type: "wake" } },
  ];
}

const wants = (asked: Asked): boolean => Object.keys(asked).length > 0;
const asking = ({ entry }: StoredEntry): Waiting => ({
  event: { type: "asked", entry: entry.id, asked: entry.asked },
});

const joined = (first: Decision | undefined, then: Decision): Decision =>
  first === undefined
    ? then
    : {
        state: then.state,
        effects: [...first.effects, ...then.effects],
        moves: [...first.moves, ...then.moves],
        endedRuns: [...first.endedRuns, ...then.endedRuns],
        endedEntries: [...first.endedEntries, ...then.endedEntries],
        notes: [...first.notes, ...then.notes],
        wakeAt: then.wakeAt,
        more: then.more,
      };

/** How many items of a transaction the decision costs; a place in it may cost a branch pointer as well. */
function itemsOf(queue: LoadedQueue, decision: Decision): number {
  let items = decision.moves.length + decision.effects.length;
  items += decision.endedEntries.length * 3 + decision.endedRuns.length * 2;
  const before = new Map(queue.entries.map((one) => [one.entry.id, one.entry]));
  for (const entry of decision.state.entries.values()) if (before.get(entry.id) !== entry) items += 2;
  for (const run of decision.state.runs.values()) if (queue.state.runs.get(run.id) !== run) items += 1;
  return items;
}

/** Whether committing it would change anything but the version. */
export function changesAnything(queue: LoadedQueue, { decision, taken }: Folded): boolean {
  const { config: _c, entries: _e, runs: _r, ...meta } = decision.state;
  return (
    taken.length > 0 ||
    itemsOf(queue, decision) > 0 ||
    queue.degraded !== null ||
    decision.wakeAt !== queue.wakeAt ||
    queue.entries.some((one) => !one.seen) ||
    JSON.stringify(meta) !== JSON.stringify(queue.meta)
  );
}
