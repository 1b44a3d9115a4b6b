/** Metrics through the real table: what requests and the loop write is what get-merge-queue-metrics counts. */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { entryId, orgSlug, type QueueKey } from "../../../shared/kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { metricsText } from "../../../shared/metrics/write.ts";
import { metricsFacts } from "../../../shared/queue/app/metrics.ts";
import type { QueueApp, QueueStore, StoredEntry } from "../../../shared/queue/app/ports.ts";
import { newEntry } from "../../../shared/queue/engine/new-entry.ts";
import { newQueue } from "../../../shared/queue/engine/new-queue.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type { Entry, NewEntry } from "../../../shared/queue/engine/types.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { resolveSettings } from "../../../shared/schemas/queue-settings.ts";
import { queueStore } from "../../../shared/table/queue-store.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { noWaiting } from "../../support/waiting.ts";
import { aKey, aRecord, NOW } from "../table/fixture.ts";
import { sample, samplesOf } from "./fixture.ts";

let running: Tables;
let queues: QueueStore;
let now: EpochMs = NOW;

beforeAll(async () => {
  running = await sharedTable();
});
beforeEach(async () => {
  queues = queueStore(await running.another());
  now = NOW;
});

const unused = (): Promise<never> => Promise.reject(new Error("unused"));

const app = (): QueueApp => ({
  queues,
  targets: { find: unused, put: unused, hashes: unused },
  hosts: () => undefined,
  heard: { of: unused, write: unused, take: unused, taken: unused, lookedThrough: unused, look: unused },
  hasPages: () => false,
  forgives: async () => [],
  resolveSettings,
  passing: () => {},
  clock: () => now,
  waiting: noWaiting(),
  newId: randomUUID,
  log: silentLog,
});

const scrape = async (key: QueueKey, scoped = true) =>
  samplesOf(await metricsText(await metricsFacts(app(), key.org, scoped ? key.repo : undefined)));

async function aQueueIn(key: QueueKey): Promise<void> {
  const record = aRecord(key);
  await queues.create(record, newQueue(record.id, key.branch, record.config), undefined);
}

async function submits(key: QueueKey, prNumber: number, change: Partial<Entry> = {}): Promise<StoredEntry> {
  const submitted: NewEntry = {
    id: entryId(randomUUID()),
    prNumber,
    submittedAt: now,
    submittedBy: "ci",
    pr: null,
    factsAt: null,
    trouble: null,
    priority: { value: 100, byDefault: true },
    noBatch: false,
    targets: null,
  };
  const entry = { ...newEntry(submitted, 0), ...change };
  const stored: StoredEntry = { entry, queue: aRecord(key).id, revision: 1, seen: false, landing: false };
  await queues.submit(key, stored, undefined);
  return stored;
}

/** Ends an entry as the loop would: by a commit that carries it to the history. */
async function cancelsInTheLoop(key: QueueKey, { entry }: StoredEntry): Promise<void> {
  for (const event of [
    { type: "submitted", entry },
    { type: "asked", entry: entry.id, asked: { cancel: { by: "ann", at: now } } },
  ] as const) {
    const loaded = await queues.load(key);
    if (loaded === undefined) throw new Error("no queue");
    const decision = step(loaded.state, event, now);
    if ((await queues.commit(loaded, { decision, taken: [] }, now)) !== "COMMITTED") throw new Error("a race");
  }
}

test("a cancel counts from the moment in which it is acknowledged, once, also after the loop took it in", async () => {
  const key = aKey();
  await aQueueIn(key);
  const stored = await submits(key, 1);
  const cancelled = sample("mq_pr_conclusions_1h_total", { conclusion: "cancelled" });
  expect((await scrape(key)).get(sample("mq_awaiting_mergeability"))).toBe("1");

  await queues.ask(key, stored, { cancel: { by: "ann", at: now } }, undefined);
  const acknowledged = await scrape(key);
  expect(acknowledged.get(cancelled)).toBe("1");
  expect(acknowledged.get(sample("mq_awaiting_mergeability"))).toBe("0");

  await cancelsInTheLoop(key, stored);
  const taken = await scrape(key);
  expect(taken.get(cancelled)).toBe("1");
  expect(taken.get(sample("mainline_pull_requests_concluded_total", { conclusion: "cancelled" }))).toBe("1");
});

test("an exit leaves the last hour, the counter stays", async () => {
  const key = aKey();
  await aQueueIn(key);
  const stored = await submits(key, 1);
  await cancelsInTheLoop(key, stored);
  now = epochMs(NOW + HOUR_MS + 1);
  const samples = await scrape(key);
  expect(samples.get(sample("mq_pr_conclusions_1h_total", { conclusion: "cancelled" }))).toBe("0");
  expect(samples.get(sample("mainline_pull_requests_concluded_total", { conclusion: "cancelled" }))).toBe("1");
});

test("a restart that was acknowledged counts, and ends the time in testing that was under way", async () => {
  const key = aKey();
  await aQueueIn(key);
  const testing = {
    state: "TESTING",
    admittedAt: NOW,
    firstTestAt: NOW,
    stateChangedAt: NOW,
  } as const;
  const [one, two] = [await submits(key, 1, testing), await submits(key, 2, testing)];
  now = epochMs(NOW + 5 * MINUTE_MS);
  await queues.ask(key, one, { restart: { by: "ann", at: now } }, undefined);
  await queues.ask(key, two, { cancel: { by: "ann", at: now } }, undefined);
  const samples = await scrape(key);
  expect(samples.get(sample("mq_pr_restarts_1h_total"))).toBe("1");
  expect(samples.get(sample("mq_pr_test_duration_1h_seconds_sum"))).toBe("300");
  expect(samples.get(sample("mq_pr_time_in_queue_1h_seconds_sum"))).toBe("300");
});

test("a scrape holds the organization's queues, or one repository's, and never another's", async () => {
  const app1 = aKey();
  const web = aKey({ repo: { ...app1.repo, name: "web" } });
  const foreign = aKey({ org: orgSlug("other"), repo: { ...app1.repo, name: "secret" } });
  for (const key of [app1, web, foreign]) await aQueueIn(key);
  const repos = async (key: QueueKey, scoped: boolean) =>
    new Set([...(await scrape(key, scoped)).keys()].map((line) => /repo="([^"]+)"/u.exec(line)?.[1]));
  expect(await repos(app1, false)).toEqual(new Set(["acme/app", "acme/web"]));
  expect(await repos(web, true)).toEqual(new Set(["acme/web"]));
  expect((await scrape(aKey({ repo: { ...app1.repo, name: "none" } }))).size).toBe(0);
  expect((await scrape(aKey({ org: orgSlug("nobody") }), false)).size).toBe(0);
});

test("a deleted queue has no series", async () => {
  const key = aKey();
  await aQueueIn(key);
  await queues.remove(aRecord(key), undefined);
  expect((await scrape(key)).size).toBe(0);
});
