/** The queue's part of the table, as its use cases see it. */
import type { OrgSlug, QueueKey, RepoKey } from "../kernel/ids.ts";
import { type Clock, systemClock } from "../kernel/time.ts";
import type { QueueStore } from "../queue/app/ports.ts";
import type { Claimant } from "./claimant.ts";
import type { Table } from "./client.ts";
import { fromDueItem } from "./due.ts";
import { historyStore } from "./history-store.ts";
import { inboxItem } from "./inbox.ts";
import { keys } from "./keys.ts";
import { liveStore } from "./live-store.ts";
import { outboxStore } from "./outbox.ts";
import { fromConfigItem, fromQueuePointer, metaOf, toConfigItem, toMetaItem } from "./queue-items.ts";
import { getItem, query } from "./read.ts";
import { recording } from "./recording.ts";
import { ABSENT, put, remove, transact, unchanged } from "./transaction.ts";
import { windowsRemoved } from "./window-store.ts";

/** The clock says which maintenance windows are open, or open next, when a queue is read. */
export const queueStore = (table: Table, who?: Claimant, clock: Clock = systemClock): QueueStore => ({
  ...recordStore(table, clock),
  ...liveStore(table, clock),
  ...historyStore(table),
  ...outboxStore(table, who),
});

type Records = Pick<QueueStore, "find" | "list" | "create" | "update" | "remove" | "due">;

function recordStore(table: Table, clock: Clock): Records {
  return {
    find: async (key) => {
      const item = await getItem(table, keys.config(key));
      return item === undefined ? undefined : fromConfigItem(item);
    },
    list: (org, repo) => listed(table, org, repo),
    create: async (record, state, recorded) => {
      const { key } = record;
      const done = await transact(table, [
        put(table, toConfigItem(record), ABSENT),
        put(table, toMetaItem(key, 1, undefined, metaOf(state))),
        put(table, { ...keys.queuePointer(key), entity: "QUEUE_POINTER", schema: 1, key }),
        put(table, { ...keys.due(key), entity: "DUE", schema: 1, key, wakeAt: null }),
        recording(table, recorded),
      ]);
      return done === "COMMITTED" ? "CREATED" : done;
    },
    update: async (record, next, recorded) => {
      const item = toConfigItem({ ...next, revision: record.revision + 1 });
      const done = await transact(table, [
        put(table, item, unchanged(record.revision)),
        inboxItem(table, record.key, { type: "wake" }),
        recording(table, recorded),
      ]);
      return done === "COMMITTED" ? "UPDATED" : done;
    },
    remove: async (record, recorded) => {
      const { key } = record;
      const done = await transact(table, [
        remove(table, keys.config(key), unchanged(record.revision)),
        remove(table, keys.meta(key)),
        remove(table, keys.queuePointer(key)),
        remove(table, keys.due(key)),
        ...(await windowsRemoved(table, record, clock())),
        recording(table, recorded),
      ]);
      return done === "COMMITTED" ? "REMOVED" : done;
    },
    due: async () => {
      const items = await query(table, { pk: keys.allDue(), eventually: true });
      return items.map(fromDueItem);
    },
  };
}

async function listed(table: Table, org: OrgSlug, repo: RepoKey | undefined): Promise<readonly QueueKey[]> {
  const items = await query(table, { pk: keys.queuesOf(org) });
  const all = items.map(fromQueuePointer);
  if (repo === undefined) return all;
  const { host, owner, name } = repo;
  return all.filter((key) => key.repo.host === host && key.repo.owner === owner && key.repo.name === name);
}
