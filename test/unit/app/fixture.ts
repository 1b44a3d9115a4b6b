/** Use cases on a queue in memory, for tests. Holds no assertions. */
import { randomUUID } from "node:crypto";
import { type CommitSha, commitSha, entryId } from "../../../shared/kernel/ids.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { noWaiting } from "../../support/waiting.ts";
import type { LoadedQueue, QueueApp, QueueStore, TargetsStore } from "../../../shared/queue/app/ports.ts";
import type { SettingsPatch } from "../../../shared/queue/app/settings.ts";
import { newQueue } from "../../../shared/queue/engine/new-queue.ts";
import type { Entry, Run } from "../../../shared/queue/engine/types.ts";
import { resolveSettings } from "../../../shared/schemas/queue-settings.ts";
import { aKey, aRecord, aSubmission, NOW } from "../table/fixture.ts";

export const KEY = aKey();
export const HEAD: CommitSha = commitSha("a".repeat(40));

export const anEntry = (prNumber: number, change: Partial<Entry> = {}): Entry => ({
  ...aSubmission(prNumber).entry,
  id: entryId(`e${prNumber}`),
  headSha: HEAD,
  ...change,
});

export function aLoadedQueue(
  entries: readonly Entry[],
  { settings = {}, runs = [] }: { readonly settings?: SettingsPatch; readonly runs?: readonly Run[] } = {},
): LoadedQueue {
  const record = aRecord(KEY);
  const config = {
    ...record.config,
    settings: { ...resolveSettings({}), ...settings } as LoadedQueue["record"]["config"]["settings"],
  };
  const byId = {
    entries: new Map(entries.map((one) => [one.id, one])),
    runs: new Map(runs.map((one) => [one.id, one])),
  };
  const state = { ...newQueue(record.id, KEY.branch, config), ...byId };
  const { config: _c, entries: _e, runs: _r, ...meta } = state;
  return {
    record: { ...record, config },
    version: 1,
    wakeAt: undefined,
    degraded: null,
    meta,
    entries: entries.map((entry) => ({ entry, queue: record.id, revision: 1, seen: true, landing: false })),
    state,
    inbox: [],
  };
}

type Parts = { readonly queues?: Partial<QueueStore>; readonly targets?: Partial<TargetsStore> };

const unheard = (): Promise<never> => Promise.reject(new Error("nobody says anything here"));
const nothingHeard: QueueApp["heard"] = {
  of: unheard,
  write: unheard,
  take: unheard,
  taken: unheard,
  lookedThrough: unheard,
  look: unheard,
};

/** What is not given is not there: using it fails. */
export const anApp = ({ queues = {}, targets = {} }: Parts): QueueApp =>
  ({
    queues,
    targets,
    hosts: () => undefined,
    heard: nothingHeard,
    hasPages: () => false,
    forgives: async () => [],
    resolveSettings,
    passing: () => {},
    clock: () => NOW,
    waiting: noWaiting(),
    newId: randomUUID,
    log: silentLog,
  }) as QueueApp;
