/** A live entry, and the same when it has ended (twice: as the PR's latest, and in the queue's history). */
import * as z from "zod";
import type { QueueId, QueueKey } from "../kernel/ids.ts";
import type { StoredEntry } from "../queue/app/ports.ts";
import type { Entry } from "../queue/engine/types.ts";
import { toBytes } from "./ascending.ts";
import { type Key, keys } from "./keys.ts";
import type { Table } from "./client.ts";
import type { TransactItem } from "./organizations.ts";
import * as shapes from "./shapes.ts";
import { put } from "./transaction.ts";
import { versioned } from "./versions.ts";

const stored = versioned(
  z.object({
    entity: z.literal("ENTRY"),
    schema: z.literal(1),
    queue: shapes.queueIdShape,
    revision: z.number(),
    seen: z.boolean(),
    landing: z.boolean(),
    entry: shapes.entry,
  }),
);

export function fromEntryItem(item: unknown): StoredEntry {
  const { entity: _e, schema: _s, ...rest } = stored.parse(item);
  return rest;
}

const packed = ({ lane, ...entry }: Entry) => ({
  ...entry,
  lane: lane === null ? null : { ...lane, overlaps: toBytes(lane.overlaps) },
});

export const toEntryItem = (key: QueueKey, one: StoredEntry) => ({
  ...keys.entry(key, one.entry.prNumber),
  entity: "ENTRY",
  schema: 1,
  ...one,
  entry: packed(one.entry),
});

const ended = versioned(
  z.object({
    entity: z.literal("ENDED_ENTRY"),
    schema: z.literal(1),
    queue: shapes.queueIdShape,
    entry: shapes.entry,
  }),
);

export const fromEndedItem = (item: unknown): Entry => ended.parse(item).entry;

export const toEndedItem = (at: Key, queue: QueueId, entry: Entry) => ({
  ...at,
  entity: "ENDED_ENTRY",
  schema: 1,
  queue,
  entry: packed(entry),
});

const pointer = versioned(
  z.object({ entity: z.literal("BRANCH_POINTER"), schema: z.literal(1), prNumber: z.number() }),
);

export const fromBranchPointer = (item: unknown): number => pointer.parse(item).prNumber;

/** Finds an entry by its head branch; the latest submission from a branch of that name wins. */
export function branchPointer(table: Table, key: QueueKey, entry: Entry): TransactItem | undefined {
  if (entry.pr === null) return undefined;
  const at = keys.branchPointer(key, entry.pr.headBranch);
  return put(table, { ...at, entity: "BRANCH_POINTER", schema: 1, prNumber: entry.prNumber });
}
