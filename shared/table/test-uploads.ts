/**
 * Uploads of test results: a small item each in the repository's list, which every figure is counted from (its
 * attributes have short names, since thousands are read at once), and a record that says how it was taken.
 */
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type EpochMs, epochMs, sortableTime } from "../kernel/time.ts";
import { type Repository, RETENTION_DAYS, type UploadEntry, type UploadRecord } from "../test-health/app/ports.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { keys } from "./keys.ts";
import { getItem, query } from "./read.ts";
import { versioned } from "./versions.ts";

const DEFAULT_BRANCH = 1;
const OUTAGE = 2;
const COMMIT_OUTAGE = 4;

const listed = versioned(
  z.object({
    entity: z.literal("TEST_UPLOAD"),
    schema: z.literal(1),
    sk: z.string(),
    c: z.string(),
    b: z.string(),
    j: z.string(),
    r: z.int(),
    x: z.string(),
    n: z.int(),
    f: z.int(),
    g: z.int(),
    o: z.int(),
    q: z.string().optional(),
  }),
).transform(({ sk, c, b, j, r, x, n, f, g, o, q }): UploadEntry => {
  const [at = "0", id = ""] = sk.split("#");
  return {
    id,
    at: epochMs(Number(at)),
    sha: c,
    branch: b,
    job: j,
    receivedAt: epochMs(r),
    executed: x,
    tests: n,
    failed: f,
    failing: g,
    isDefaultBranch: (o & DEFAULT_BRANCH) !== 0,
    isOutage: (o & OUTAGE) !== 0,
    isCommitOutage: (o & COMMIT_OUTAGE) !== 0,
    testRun: q ?? null,
  };
});

const storedRecord = versioned(
  z.object({
    entity: z.literal("TEST_UPLOAD_RECORD"),
    schema: z.literal(1),
    record: z.custom<UploadRecord>((value) => typeof value === "object" && value !== null),
  }),
);

const endOf = (receivedAt: EpochMs): number => Math.floor(receivedAt / 1000) + RETENTION_DAYS * 24 * 3600;

const ABSENT = { ConditionExpression: "attribute_not_exists(pk)" } as const;

export type TestUploads = {
  readonly claim: (of: Repository, record: UploadRecord) => Promise<UploadRecord>;
  readonly put: (of: Repository, entry: UploadEntry, record: UploadRecord) => Promise<void>;
  readonly putRecord: (of: Repository, record: UploadRecord) => Promise<void>;
  readonly record: (of: Repository, id: string) => Promise<UploadRecord | undefined>;
  readonly list: (
    of: Repository,
    from: EpochMs,
    until: EpochMs,
    eventually?: boolean,
  ) => Promise<readonly UploadEntry[]>;
};

export function testUploads(table: Table): TestUploads {
  const recordItem = (of: Repository, record: UploadRecord) => ({
    ...keys.testUploadRecord(of, record.id),
    entity: "TEST_UPLOAD_RECORD",
    schema: 1,
    record,
    expiresAtSeconds: endOf(record.receivedAt),
  });
  const putRecord = async (of: Repository, record: UploadRecord): Promise<void> => {
    await table.client.send(new PutCommand({ TableName: table.name, Item: recordItem(of, record) }));
  };
  const find = async (of: Repository, id: string): Promise<UploadRecord | undefined> => {
    const item = await getItem(table, keys.testUploadRecord(of, id));
    return item === undefined ? undefined : storedRecord.parse(item).record;
  };
  /** False where there is one already. */
  const putNew = (Item: Record<string, unknown>): Promise<boolean> =>
    unlessRefused(() => table.client.send(new PutCommand({ TableName: table.name, Item, ...ABSENT })));
  return {
    claim: async (of, record) =>
      (await putNew(recordItem(of, record))) ? record : ((await find(of, record.id)) ?? record),
    putRecord,
    put: async (of, entry, record) => {
      const Item = {
        ...keys.testUpload(of, entry.at, entry.id),
        entity: "TEST_UPLOAD",
        schema: 1,
        c: entry.sha,
        b: entry.branch,
        j: entry.job,
        r: entry.receivedAt,
        x: entry.executed,
        n: entry.tests,
        f: entry.failed,
        g: entry.failing,
        o:
          (entry.isDefaultBranch ? DEFAULT_BRANCH : 0) +
          (entry.isOutage ? OUTAGE : 0) +
          (entry.isCommitOutage ? COMMIT_OUTAGE : 0),
        ...(entry.testRun === null ? {} : { q: entry.testRun }),
        expiresAtSeconds: endOf(entry.receivedAt),
      };
      // Whoever pages through a list has seen it where it was listed first.
      await putNew(Item);
      await putRecord(of, record);
    },
    record: find,
    list: async (of, from, until, eventually = false) => {
      if (from >= until) return [];
      const between = [sortableTime(from), `${sortableTime(epochMs(until - 1))}#\uffff`] as const;
      const items = await query(table, { pk: keys.testUploads(of), between, eventually });
      return items.map((item) => listed.parse(item));
    },
  };
}
