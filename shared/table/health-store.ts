/** What is kept of a repository's tests: settings, tests that have failed, and when it is to be looked at. */
import { randomUUID } from "node:crypto";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { orgSlug } from "../kernel/ids.ts";
import { type EpochMs, epochMs } from "../kernel/time.ts";
import { Unavailable } from "../kernel/unavailable.ts";
import { type HealthStore, type Repository, RETENTION_DAYS, type TestRecord } from "../test-health/app/ports.ts";
import { changeSettings, DEFAULT_SETTINGS, type SettingsPatch } from "../test-health/app/settings.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { keys } from "./keys.ts";
import { getItem, getItems, query } from "./read.ts";
import { testFailures } from "./test-failures.ts";
import { testSets } from "./test-sets.ts";
import { testUploads } from "./test-uploads.ts";
import { versioned } from "./versions.ts";

const SETTINGS_ATTEMPTS_MAX = 10;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const storedTest = versioned(
  z.object({
    entity: z.literal("TEST"),
    schema: z.literal(1),
    record: z.custom<TestRecord>(isObject),
  }),
);
const storedSettings = versioned(
  z.object({
    entity: z.literal("TEST_SETTINGS"),
    schema: z.literal(1),
    settings: z.custom<SettingsPatch>(isObject),
    revision: z.int(),
  }),
);
const storedRepo = z.object({ host: z.string(), owner: z.string(), name: z.string() });
const storedBundle = versioned(
  z.object({
    entity: z.literal("TEST_BUNDLE"),
    schema: z.literal(1),
    id: z.string(),
    org: z.string(),
    repo: storedRepo,
    announcedAt: z.int(),
    failures: z.int(),
  }),
).transform(({ id, org, repo, announcedAt, failures }) => ({
  id,
  repository: { org: orgSlug(org), repo },
  announcedAt: epochMs(announcedAt),
  failures,
}));
const storedDue = versioned(
  z.object({
    entity: z.literal("TESTS_DUE"),
    schema: z.literal(1),
    org: z.string(),
    repo: storedRepo,
    at: z.int(),
    stamp: z.string(),
  }),
);

export function healthStore(table: Table, now: () => EpochMs): HealthStore {
  const sets = testSets(table, now);
  const uploads = testUploads(table);
  const failures = testFailures(table);
  const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.name, Item }));

  const readSettings = async (of: Repository) => {
    const item = await getItem(table, keys.testSettings(of));
    if (item === undefined) return { settings: DEFAULT_SETTINGS, revision: 0 };
    const { settings, revision } = storedSettings.parse(item);
    // What was not there yet when they were stored is as in any other repository, in each rule too.
    return { settings: changeSettings(DEFAULT_SETTINGS, settings), revision };
  };

  return {
    settings: async (of) => (await readSettings(of)).settings,
    changeSettings: async (of, make) => {
      for (let attempt = 0; attempt < SETTINGS_ATTEMPTS_MAX; attempt += 1) {
        const { settings: present, revision } = await readSettings(of);
        const settings = make(present);
        const Item = { ...keys.testSettings(of), entity: "TEST_SETTINGS", schema: 1, settings, revision: revision + 1 };
        const write = new PutCommand({ TableName: table.name, Item, ...onRevision(revision) });
        if (await unlessRefused(() => table.client.send(write))) return settings;
      }
      throw new Unavailable("a repository's settings are written by others all the time");
    },

    keepSet: sets.keep,
    sets: sets.load,
    claimUpload: uploads.claim,
    putUpload: uploads.put,
    putRecord: uploads.putRecord,
    upload: uploads.record,
    uploads: uploads.list,
    putFailures: failures.put,
    failures: failures.find,

    tests: async (of, ids, eventually) => {
      const items = await getItems(
        table,
        [...new Set(ids)].map((id) => keys.test(of, id)),
        eventually,
      );
      return new Map(items.map((item) => storedTest.parse(item).record).map((record) => [record.id, record]));
    },
    allTests: async (of) => {
      const items = await query(table, { pk: keys.tests(of) });
      return items.map((item) => storedTest.parse(item).record);
    },
    putTest: (of, record) => putTest(table, of, record),

    putBundle: async ({ id, repository, announcedAt, failures: failed }) => {
      const about = { org: repository.org, repo: repository.repo, announcedAt, failures: failed };
      await put({ ...keys.bundle(id), entity: "TEST_BUNDLE", schema: 1, id, ...about });
    },
    bundles: async () => {
      const items = await query(table, { pk: keys.allBundles() });
      return items.map((item) => storedBundle.parse(item));
    },
    removeBundle: async (id) => {
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.bundle(id) }));
    },

    markDue: async (of, at) => {
      await put({
        ...keys.testsDue(of),
        entity: "TESTS_DUE",
        schema: 1,
        org: of.org,
        repo: of.repo,
        at,
        stamp: randomUUID(),
      });
    },
    due: async (until) => {
      const items = (await query(table, { pk: keys.allTestsDue() })).map((item) => storedDue.parse(item));
      return items
        .filter(({ at }) => at <= until)
        .map(({ org, repo, at, stamp }) => ({ repository: { org: orgSlug(org), repo }, at: epochMs(at), stamp }));
    },
    rearm: async ({ repository, stamp }, at) => {
      const key = keys.testsDue(repository);
      const condition = {
        TableName: table.name,
        ConditionExpression: "stamp = :stamp",
        ExpressionAttributeValues: { ":stamp": stamp },
      };
      const Item = { ...key, entity: "TESTS_DUE", schema: 1, ...repository, at, stamp };
      await unlessRefused(() =>
        at === null
          ? table.client.send(new DeleteCommand({ Key: key, ...condition }))
          : table.client.send(new PutCommand({ Item, ...condition })),
      );
    },
  };
}

async function putTest(table: Table, of: Repository, record: TestRecord): Promise<boolean> {
  const isLasting = record.setting !== "UNSPECIFIED" || record.ticket !== null || record.lastFailedAt === null;
  const Item = {
    ...keys.test(of, record.id),
    entity: "TEST",
    schema: 1,
    record: { ...record, revision: record.revision + 1 },
    revision: record.revision + 1,
    ...(isLasting ? {} : { expiresAtSeconds: Math.floor((record.lastFailedAt ?? 0) / 1000) + RETENTION_DAYS * 86_400 }),
  };
  const write = new PutCommand({ TableName: table.name, Item, ...onRevision(record.revision) });
  return unlessRefused(() => table.client.send(write));
}

/** 0: there is none yet. */
const onRevision = (revision: number) =>
  revision === 0
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : { ConditionExpression: "revision = :revision", ExpressionAttributeValues: { ":revision": revision } };
