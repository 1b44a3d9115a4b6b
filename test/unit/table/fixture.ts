import { randomUUID } from "node:crypto";
import { entryId, orgSlug, queueId, type QueueKey } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import type { QueueRecord, StoredEntry } from "../../../shared/queue/app/ports.ts";
import { newEntry } from "../../../shared/queue/engine/new-entry.ts";
import { newQueue } from "../../../shared/queue/engine/new-queue.ts";
import { resolveSettings } from "../../../shared/schemas/queue-settings.ts";
import type { Table } from "../../../shared/table/client.ts";
import { queueStore } from "../../../shared/table/queue-store.ts";

export const NOW = epochMs(1_700_000_000_000);

export const aKey = (change: Partial<QueueKey> = {}): QueueKey => ({
  org: orgSlug("acme"),
  repo: { host: "git.local", owner: "acme", name: "app" },
  branch: "main",
  ...change,
});

export const aRecord = (key: QueueKey): QueueRecord => ({
  key,
  id: queueId("q1"),
  repo: key.repo,
  patch: { concurrency: 3 },
  config: {
    settings: resolveSettings({ concurrency: 3 }),
    operator: { state: "RUNNING", reason: null, since: NOW, allowUrgent: false },
    holdsClearedAt: null,
    windows: [],
  },
  windowsClosedAt: null,
  createdAt: NOW,
  revision: 1,
  deleting: false,
});

export const aSubmission = (prNumber: number): StoredEntry => ({
  entry: newEntry(
    {
      id: entryId(randomUUID()),
      prNumber,
      submittedAt: NOW,
      submittedBy: "ci",
      pr: null,
      factsAt: null,
      trouble: null,
      priority: { value: 100, byDefault: true },
      noBatch: false,
      targets: null,
    },
    0,
  ),
  queue: queueId("q1"),
  revision: 1,
  seen: false,
  landing: false,
});

/** A queue in the table. */
export async function aQueueIn(table: Table, key = aKey()) {
  const queues = queueStore(table);
  const record = aRecord(key);
  await queues.create(record, newQueue(record.id, key.branch, record.config), undefined);
  return { queues, key, record };
}
