/** A queue's live partition: entries as requests write them, and the whole as the loop reads and commits it. */
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { EntryId, QueueKey, RunId } from "../kernel/ids.ts";
import type { Clock, EpochMs } from "../kernel/time.ts";
import { windowsAt } from "../maintenance/windows.ts";
import type { LoadedQueue, QueueRecord, QueueStore, StoredEntry, Submission } from "../queue/app/ports.ts";
import type { Asked, Entry, QueueState, Run } from "../queue/engine/types.ts";
import type { Table } from "./client.ts";
import { commit } from "./commit.ts";
import { branchPointer, fromBranchPointer, fromEndedItem, fromEntryItem, toEntryItem } from "./entry-items.ts";
import { fromInboxItem, inboxItem } from "./inbox.ts";
import { keys, LIVE } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import { fromConfigItem, fromMetaItem, type MetaItem } from "./queue-items.ts";
import { recording } from "./recording.ts";
import { getItem, getItems, query } from "./read.ts";
import { fromRunItem } from "./run-items.ts";
import { ABSENT, put, remove, transact, unchanged } from "./transaction.ts";
import { windowsAmong } from "./window-store.ts";

type Live = Pick<
  QueueStore,
  "load" | "view" | "commit" | "degrade" | "entry" | "submissions" | "prNumberOfBranch" | "submit" | "withdraw" | "ask"
>;

export function liveStore(table: Table, clock: Clock): Live {
  return {
    load: (key) => loaded(table, clock, key, LIVE.inbox),
    view: (key) => loaded(table, clock, key, LIVE.runs),
    commit: (queue, folded, now, also) => commit(table, queue, folded, now, also),
    degrade: (key, what, retryAt) => degrade(table, key, what, retryAt),
    entry: async (key, prNumber) => {
      const item = await getItem(table, keys.entry(key, prNumber));
      return item === undefined ? undefined : fromEntryItem(item);
    },
    submissions: (key, prNumbers) => submissions(table, key, prNumbers),
    prNumberOfBranch: async (key, headBranch) => {
      const item = await getItem(table, keys.branchPointer(key, headBranch));
      return item === undefined ? undefined : fromBranchPointer(item);
    },
    submit: async (key, stored, recorded) => {
      const done = await transact(table, [
        put(table, toEntryItem(key, stored), ABSENT),
        inboxItem(table, key, { type: "wake" }),
        branchPointer(table, key, stored.entry),
        recording(table, recorded),
      ]);
      return done === "COMMITTED" ? "SUBMITTED" : done;
    },
    withdraw: async (key, stored) => {
      await transact(table, [remove(table, keys.entry(key, stored.entry.prNumber), unchanged(stored.revision))]);
    },
    ask: async (key, stored, asked, recorded) => {
      const done = await transact(table, [
        wish(table, key, stored, asked),
        inboxItem(table, key, { type: "wake" }),
        recording(table, recorded),
      ]);
      return done === "COMMITTED" ? "ASKED" : done;
    },
  };
}

/** The condition is the revision that was shown to whoever asks: what they were told is what is there. */
const wish = (table: Table, key: QueueKey, stored: StoredEntry, asked: Asked): TransactItem => {
  const wanted = { ...stored.entry.asked, ...asked };
  const next = { ...stored, revision: stored.revision + 1, entry: { ...stored.entry, asked: wanted } };
  return put(table, toEntryItem(key, next), unchanged(stored.revision));
};

/** Live ones first: what ended was put where it is in the moment in which the live one was removed. */
async function submissions(table: Table, key: QueueKey, numbers: readonly number[]) {
  const found = new Map<number, Submission>();
  for (const item of await getItems(
    table,
    numbers.map((number) => keys.entry(key, number)),
  )) {
    const stored = fromEntryItem(item);
    found.set(stored.entry.prNumber, { entry: stored.entry, stored });
  }
  const ended = numbers.filter((number) => !found.has(number)).map((number) => keys.ended(key, number));
  for (const item of await getItems(table, ended)) {
    const entry = fromEndedItem(item);
    found.set(entry.prNumber, { entry, stored: undefined });
  }
  return found;
}

async function loaded(table: Table, clock: Clock, key: QueueKey, between: readonly [string, string]) {
  const items = await query(table, { pk: keys.queue(key), between });
  const of = (entity: string) => items.filter((item) => item["entity"] === entity);
  const [config] = of("QUEUE_CONFIG");
  const [meta] = of("QUEUE_META");
  if (config === undefined || meta === undefined) return undefined;
  const record = withWindows(fromConfigItem(config), items, clock());
  const known = fromMetaItem(meta);
  // What an earlier queue of the same name left behind is not of this one.
  const entries = of("ENTRY")
    .map(fromEntryItem)
    .filter((one) => one.queue === record.id);
  const runs = of("RUN")
    .map(fromRunItem)
    .filter((run) => run.id.startsWith(`${record.id}-`));
  const queue: LoadedQueue = {
    record,
    version: known.version,
    wakeAt: known.wakeAt ?? undefined,
    degraded: known.degraded,
    meta: known.known,
    entries,
    state: stateOf(record.config, known, entries, runs),
    inbox: of("INBOX").map(fromInboxItem),
  };
  return queue;
}

/** What is open now, and what opens next. */
function withWindows(record: QueueRecord, items: readonly Record<string, unknown>[], now: EpochMs): QueueRecord {
  const windows = windowsAt(windowsAmong(items, record), record.windowsClosedAt, now);
  return { ...record, config: { ...record.config, windows } };
}

/** What the engine sees: entries that it has taken in, without the wishes that are still to be told to it. */
function stateOf(
  config: QueueState["config"],
  meta: MetaItem,
  entries: readonly StoredEntry[],
  runs: readonly Run[],
): QueueState {
  // As the engine had them before they were written: whatever it finds first of several is then the same.
  const live = entries
    .filter((one) => one.seen)
    .map((one) => one.entry)
    .sort((a, b) => a.submittedAt - b.submittedAt || a.prNumber - b.prNumber);
  const started = [...runs].sort((a, b) => numberOf(a.id) - numberOf(b.id));
  return {
    ...meta.known,
    config,
    entries: new Map<EntryId, Entry>(live.map((entry) => [entry.id, entry])),
    runs: new Map<RunId, Run>(started.map((run) => [run.id, run])),
  };
}

/** A run's id ends with its number in the queue. */
const numberOf = (id: RunId): number => Number(id.slice(id.lastIndexOf("-") + 1));

async function degrade(table: Table, key: QueueKey, what: string, retryAt: number): Promise<void> {
  const degraded = { what, retryAt };
  const set = (Key: { pk: string; sk: string }, expression: string, values: Record<string, unknown>) =>
    table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key,
        UpdateExpression: expression,
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: values,
      }),
    );
  await set(keys.meta(key), "SET degraded = :degraded", { ":degraded": degraded });
  await set(keys.due(key), "SET wakeAt = :retryAt", { ":retryAt": retryAt });
}
