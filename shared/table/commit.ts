/** The loop's one write: everything a fold decided, or nothing. */
import type { EntryId, QueueKey } from "../kernel/ids.ts";
import { assert } from "../kernel/assert.ts";
import type { EpochMs } from "../kernel/time.ts";
import type { Folded, LoadedQueue, PeopleEffect, StoredEntry } from "../queue/app/ports.ts";
import type { Entry } from "../queue/engine/types.ts";
import type { Table } from "./client.ts";
import { branchPointer, toEndedItem, toEntryItem } from "./entry-items.ts";
import { type Key, keys } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import { newEffect } from "./outbox.ts";
import { metaOf, toMetaItem } from "./queue-items.ts";
import { toEndedRunItem, toMoveItem, toRunItem } from "./run-items.ts";
import { check, put, remove, TRANSACTION_ITEMS_MAX, transact, unchanged } from "./transaction.ts";

export async function commit(
  table: Table,
  queue: LoadedQueue,
  folded: Folded,
  now: EpochMs,
  also: readonly PeopleEffect[] = [],
) {
  const { key } = queue.record;
  const items = [
    // One writer: whoever else was woken too finds another version. And nothing is decided on settings that changed.
    put(table, toMetaItem(key, queue.version + 1, folded.decision.wakeAt, metaOf(folded.decision.state)), {
      expression: "version = :version",
      values: { ":version": queue.version },
    }),
    check(table, keys.config(key), unchanged(queue.record.revision)),
    dueItem(table, queue, folded),
    ...entryItems(table, queue, folded),
    ...runItems(table, queue, folded),
    ...folded.decision.moves.map((move) => put(table, toMoveItem(key, move))),
    ...[...folded.decision.effects, ...also].map((effect) => newEffect(table, key, effect)),
    ...folded.taken.map((taken) => remove(table, { pk: keys.queue(key), sk: taken.sk })),
    logLine(table, queue, folded, now),
  ].filter((item) => item !== undefined);
  assert(items.length <= TRANSACTION_ITEMS_MAX, `a commit of ${items.length} items`);
  return transact(table, items);
}

function dueItem(table: Table, queue: LoadedQueue, { decision }: Folded): TransactItem | undefined {
  if (decision.wakeAt === queue.wakeAt && queue.degraded === null) return undefined;
  const { key } = queue.record;
  return put(table, { ...keys.due(key), entity: "DUE", schema: 1, key, wakeAt: decision.wakeAt ?? null });
}

/** Entries that changed, that are new to the engine, whose landing began or failed, and that ended. */
function entryItems(table: Table, queue: LoadedQueue, { decision }: Folded): readonly (TransactItem | undefined)[] {
  const { key } = queue.record;
  const landing = new Set<EntryId>(decision.state.landing?.group);
  const stored = new Map(queue.entries.map((one) => [one.entry.id, one]));
  const items: (TransactItem | undefined)[] = [];
  for (const entry of decision.state.entries.values()) {
    const before = stored.get(entry.id);
    assert(before !== undefined, "an entry that was never submitted");
    if (before.entry === entry && before.seen && before.landing === landing.has(entry.id)) continue;
    const next = { ...before, entry, seen: true, landing: landing.has(entry.id), revision: before.revision + 1 };
    items.push(put(table, toEntryItem(key, next), unchanged(before.revision)));
    if (before.entry.pr?.headBranch !== entry.pr?.headBranch) items.push(branchPointer(table, key, entry));
  }
  return [...items, ...decision.endedEntries.flatMap((entry) => endedItems(table, key, stored.get(entry.id), entry))];
}

function endedItems(table: Table, key: QueueKey, before: StoredEntry | undefined, entry: Entry) {
  assert(before !== undefined && entry.endedAt !== null, "an entry that ended without having been live");
  const at = (where: Key) => put(table, toEndedItem(where, before.queue, entry));
  return [
    remove(table, keys.entry(key, entry.prNumber), unchanged(before.revision)),
    at(keys.ended(key, entry.prNumber)),
    at(keys.historyItem(key, entry.endedAt, entry.id)),
  ];
}

function runItems(table: Table, queue: LoadedQueue, { decision }: Folded): readonly TransactItem[] {
  const { key } = queue.record;
  const before = queue.state.runs;
  const changed = [...decision.state.runs.values()].filter((run) => before.get(run.id) !== run);
  return [
    ...changed.map((run) => put(table, toRunItem(key, run))),
    ...decision.endedRuns.flatMap((ended) => [
      ...(before.has(ended.run.id) ? [remove(table, keys.run(key, ended.run.id))] : []),
      put(table, toEndedRunItem(key, ended)),
    ]),
  ];
}

const LOG_LINE_NOTES_MAX = 20;

/** One line per commit: what was taken in and what came of it. Kept for ninety days. */
function logLine(table: Table, queue: LoadedQueue, { decision, taken }: Folded, now: EpochMs): TransactItem {
  const { key } = queue.record;
  return put(table, {
    ...keys.logLine(key, now, queue.version + 1),
    entity: "LOG",
    schema: 1,
    events: taken.map((one) => one.event.type),
    moves: decision.moves.map((move) => `#${move.prNumber} ${move.from ?? "-"} > ${move.to} ${move.reason}`),
    effects: decision.effects.map((effect) => effect.key),
    notes: decision.notes.slice(0, LOG_LINE_NOTES_MAX).map((note) => note.text),
    expiresAtSeconds: Math.floor(now / 1000) + 90 * 24 * 3600,
  });
}
