/** Maintenance windows in the table: written with the queue that they belong to, and with what wakes at their edges. */
import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import type { OrgSlug, QueueKey } from "../kernel/ids.ts";
import type { EpochMs } from "../kernel/time.ts";
import { isOver, type MaintenanceWindow } from "../maintenance/windows.ts";
import type { QueueRecord } from "../queue/app/ports.ts";
import type { WindowChange, WindowedQueue, WindowStore } from "../queue/app/window-ports.ts";
import { noMoreWakings } from "../scheduler/port.ts";
import type { Table } from "./client.ts";
import { inboxItem } from "./inbox.ts";
import { keys, LIVE } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import { fromConfigItem, fromQueuePointer, toConfigItem } from "./queue-items.ts";
import { getItems, query } from "./read.ts";
import { recording } from "./recording.ts";
import { put, remove, transact, unchanged } from "./transaction.ts";
import { fromWakingItem, fromWindowItem, toWakingItem, toWindowItem } from "./window-items.ts";

type Items = readonly Record<string, unknown>[];

/** The windows among a queue's items; what an earlier queue of the same name left behind is not of this one. */
export const windowsAmong = (items: Items, { id }: Pick<QueueRecord, "id">): readonly MaintenanceWindow[] =>
  items
    .filter((item) => item["entity"] === "MAINTENANCE_WINDOW")
    .map(fromWindowItem)
    .filter((window) => window.queue === id);

export function windowStore(table: Table): WindowStore {
  return {
    of: (key) => windowed(table, key),
    ofOrganization: async (org) => {
      const found = await Promise.all((await queuesOf(table, org)).map((key) => windowed(table, key)));
      return found.filter((one) => one !== undefined);
    },
    find: (org, id) => findQueue(table, org, id),
    set: async (record, change, recorded) => {
      const done = await transact(table, [
        ...windowChange(table, record, change),
        inboxItem(table, record.key, { type: "wake" }),
        recording(table, recorded),
      ]);
      return done === "COMMITTED" ? "SET" : done;
    },
    change: async (wakings) => {
      for (const one of wakings)
        await table.client.send(new PutCommand({ TableName: table.name, Item: toWakingItem(one, randomUUID()) }));
    },
    changes: async () => (await query(table, { pk: keys.allWakings(), eventually: true })).map(fromWakingItem),
    settled: async ({ name, token }) => {
      const same = { expression: "#token = :token", names: { "#token": "token" }, values: { ":token": token } };
      await transact(table, [remove(table, keys.waking(name), same)]);
    },
  };
}

/** Every write of a window is one of CONFIG as well: no two meet, and the loop decides nothing on what was before. */
const windowChange = (
  table: Table,
  record: QueueRecord,
  { window, wakings, gone }: WindowChange,
): readonly TransactItem[] => [
  put(table, toConfigItem({ ...record, revision: record.revision + 1 }), unchanged(record.revision)),
  put(table, toWindowItem(record.key, window)),
  ...gone.map((id) => remove(table, keys.window(record.key, id))),
  ...wakings.map((one) => put(table, toWakingItem(one, randomUUID()))),
];

async function windowed(table: Table, key: QueueKey): Promise<WindowedQueue | undefined> {
  const items = await query(table, { pk: keys.queue(key), between: LIVE.windows });
  const config = items.find((item) => item["entity"] === "QUEUE_CONFIG");
  if (config === undefined) return undefined;
  const record = fromConfigItem(config);
  return { record, windows: windowsAmong(items, record) };
}

const queuesOf = async (table: Table, org: OrgSlug): Promise<readonly QueueKey[]> =>
  (await query(table, { pk: keys.queuesOf(org) })).map((item) => fromQueuePointer(item));

/** A window is looked for in every queue of its organization: that is asked seldom, and needs no item of its own. */
async function findQueue(table: Table, org: OrgSlug, id: string): Promise<QueueKey | undefined> {
  const queues = await queuesOf(table, org);
  const [found] = await getItems(
    table,
    queues.map((key) => keys.window(key, id)),
  );
  return queues.find((key) => keys.queue(key) === found?.["pk"]);
}

/** What goes with a queue that is removed. Windows that are over stay until they expire: they are nobody's. */
export async function windowsRemoved(
  table: Table,
  record: QueueRecord,
  now: EpochMs,
): Promise<readonly TransactItem[]> {
  const windows = (await windowed(table, record.key))?.windows ?? [];
  return windows
    .filter((window) => !isOver(window, record.windowsClosedAt, now))
    .flatMap(({ id }) => [
      remove(table, keys.window(record.key, id)),
      ...noMoreWakings(id).map((one) => put(table, toWakingItem(one, randomUUID()))),
    ]);
}
