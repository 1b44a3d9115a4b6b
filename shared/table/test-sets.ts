/**
 * Sets of tests, by the digest of their ids. A suite changes little from one upload to the next, so a set is kept as
 * what differs from an earlier set of the same job, its base, and in full only where that would be large. A set that is
 * there already costs nothing.
 */
import { createHash } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { DAY_MS } from "../kernel/time.ts";
import { type Repository, RETENTION_DAYS, type TestSet } from "../test-health/app/ports.ts";
import { byteCache } from "./byte-cache.ts";
import type { Table } from "./client.ts";
import { type Key, keys } from "./keys.ts";
import { getItem, getItems } from "./read.ts";

const PART_BYTES_MAX = 256 * 1024;
/** Above this share of the whole (and that many bytes) a set is kept in full, and the next ones are told from it. */
const CHANGES_SHARE_MAX = 0.1;
const CHANGES_BYTES_MIN = 2048;
const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024;
const KEPT_NAMES_MAX = 10_000;
/** A set outlives the uploads that name it; one in use is kept on in time. */
const KEPT_DAYS = RETENTION_DAYS + 30;
const RENEWED_BELOW_DAYS = RETENTION_DAYS + 15;

const stored = z.object({
  entity: z.literal("TEST_SET"),
  schema: z.literal(1),
  base: z.string().nullable(),
  /** With a base, what is added to it; without, the set itself, unless it lies in parts. */
  added: z.instanceof(Uint8Array),
  removed: z.instanceof(Uint8Array),
  parts: z.int(),
  expiresAtSeconds: z.int(),
});
type Stored = z.output<typeof stored>;

const storedPart = z.object({
  entity: z.literal("TEST_SET_PART"),
  schema: z.literal(1),
  ids: z.instanceof(Uint8Array),
});
const storedBase = z.object({ entity: z.literal("TEST_SET_BASE"), schema: z.literal(1), digest: z.string() });

/** Sorted, each once. */
type Ids = BigUint64Array;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/iu;

/** The beginning of a UUID is as good as random; an id that is written in another way is hashed. */
const idOf = (test: string): bigint =>
  UUID.test(test)
    ? BigInt(`0x${test.slice(0, 18).replaceAll("-", "")}`)
    : createHash("sha256").update(test).digest().readBigUInt64BE();

function idsOf(tests: readonly string[]): Ids {
  const all = BigUint64Array.from(tests, idOf).sort();
  return all.filter((id, at) => at === 0 || id !== all[at - 1]);
}

const bytesOf = (ids: Ids): Uint8Array => new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
const wordsOf = (bytes: Uint8Array): Ids => new BigUint64Array(Uint8Array.from(bytes).buffer);
const digestOf = (ids: Ids): string => createHash("sha256").update(bytesOf(ids)).digest("hex").slice(0, 24);

/** What the first has and the second lacks; both sorted. */
function without(from: Ids, other: Ids): Ids {
  const left: bigint[] = [];
  let at = 0;
  for (const id of from) {
    while ((other[at] ?? id) < id) at += 1;
    if (other[at] !== id) left.push(id);
  }
  return BigUint64Array.from(left);
}

const together = (a: Ids, b: Ids): Ids => {
  const all = new BigUint64Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all.sort();
};

function setOf(ids: Ids): TestSet {
  const has = (test: string): boolean => {
    const id = idOf(test);
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ids[middle] ?? id) < id) low = middle + 1;
      else high = middle;
    }
    return ids[low] === id;
  };
  return { has, size: ids.length };
}

/** False where the write's condition does not. */
async function holds(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

export type TestSets = {
  readonly keep: (of: Repository, job: string, tests: readonly string[]) => Promise<string>;
  readonly load: (of: Repository, digests: readonly string[]) => Promise<ReadonlyMap<string, TestSet>>;
};

export function testSets(table: Table, now: () => number): TestSets {
  const remembered = byteCache<Ids>(REMEMBERED_BYTES_MAX);
  /** Sets that this process knows to be there for long enough. */
  const kept = byteCache<number>(KEPT_NAMES_MAX);
  const nameOf = ({ org, repo }: Repository, digest: string): string =>
    [org, repo.host, repo.owner, repo.name, digest].join(" ");
  const expiry = (): number => Math.floor((now() + KEPT_DAYS * DAY_MS) / 1000);
  const isLasting = (seconds: number): boolean => seconds * 1000 > now() + RENEWED_BELOW_DAYS * DAY_MS;

  const put = (key: Key, item: Record<string, unknown>) =>
    table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, ...item, schema: 1 } }));

  async function putFull(of: Repository, job: string, digest: string, ids: Ids): Promise<void> {
    const bytes = bytesOf(ids);
    const inline = bytes.length <= PART_BYTES_MAX;
    const parts = inline ? 0 : Math.ceil(bytes.length / PART_BYTES_MAX);
    const expiresAtSeconds = expiry();
    for (let part = 0; part < parts; part += 1) {
      const piece = bytes.subarray(part * PART_BYTES_MAX, (part + 1) * PART_BYTES_MAX);
      await put(keys.testSetPart(of, digest, part), { entity: "TEST_SET_PART", ids: piece, expiresAtSeconds });
    }
    const none = new Uint8Array();
    // Before the set itself: a base that is not there costs the next set more, one that nothing points to does so forever.
    await put(keys.testSetBase(of, job), { entity: "TEST_SET_BASE", digest, expiresAtSeconds });
    await put(keys.testSet(of, digest), {
      entity: "TEST_SET",
      base: null,
      added: inline ? bytes : none,
      removed: none,
      parts,
      expiresAtSeconds,
    });
  }

  /** Puts off the end of a set that is still used, and of what it is told from. False: some of it has ended. */
  async function renew(of: Repository, digest: string, { base, parts }: Stored): Promise<boolean> {
    const told = base === null ? undefined : await find(of, base);
    if (base !== null && told === undefined) return false;
    if (base !== null && told !== undefined && !isLasting(told.expiresAtSeconds) && !(await renew(of, base, told)))
      return false;
    const all = [
      keys.testSet(of, digest),
      ...Array.from({ length: parts }, (_, part) => keys.testSetPart(of, digest, part)),
    ];
    for (const Key of all) {
      const update = new UpdateCommand({
        TableName: table.name,
        Key,
        UpdateExpression: "SET expiresAtSeconds = :at",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":at": expiry() },
      });
      if (!(await holds(() => table.client.send(update)))) return false;
    }
    return true;
  }

  async function find(of: Repository, digest: string): Promise<Stored | undefined> {
    const item = await getItem(table, keys.testSet(of, digest));
    return item === undefined ? undefined : stored.parse(item);
  }

  async function partsOf(of: Repository, digest: string, count: number): Promise<Ids | undefined> {
    const wanted = Array.from({ length: count }, (_, part) => keys.testSetPart(of, digest, part));
    const items = (await getItems(table, wanted)).toSorted((a, b) => String(a["sk"]).localeCompare(String(b["sk"])));
    if (items.length < count) return undefined;
    return wordsOf(Buffer.concat(items.map((item) => storedPart.parse(item).ids)));
  }

  /** Every base is kept in full: no chain is longer than one. */
  async function idsOfStored(of: Repository, digest: string, set: Stored): Promise<Ids | undefined> {
    if (set.parts > 0) return partsOf(of, digest, set.parts);
    const added = wordsOf(set.added);
    if (set.base === null) return added;
    const base = (await loadIds(of, [set.base])).get(set.base);
    return base === undefined ? undefined : together(without(base, wordsOf(set.removed)), added);
  }

  async function loadIds(of: Repository, digests: readonly string[]): Promise<ReadonlyMap<string, Ids>> {
    const found = new Map<string, Ids>();
    const missing: string[] = [];
    for (const digest of new Set(digests)) {
      const known = remembered.get(nameOf(of, digest));
      if (known === undefined) missing.push(digest);
      else found.set(digest, known);
    }
    const wanted = missing.map((digest) => keys.testSet(of, digest));
    const byKey = new Map((await getItems(table, wanted, true)).map((item) => [item["pk"], stored.parse(item)]));
    for (const digest of missing) {
      const set = byKey.get(keys.testSet(of, digest).pk) ?? (await find(of, digest));
      const ids = set === undefined ? undefined : await idsOfStored(of, digest, set);
      if (ids === undefined) continue;
      remembered.put(nameOf(of, digest), ids, ids.byteLength);
      found.set(digest, ids);
    }
    return found;
  }

  async function keepNew(of: Repository, job: string, digest: string, ids: Ids): Promise<void> {
    const item = await getItem(table, keys.testSetBase(of, job));
    const base = item === undefined ? undefined : storedBase.parse(item).digest;
    const from = base === undefined ? undefined : (await loadIds(of, [base])).get(base);
    if (base === undefined || from === undefined) return putFull(of, job, digest, ids);
    const told = await find(of, base);
    if (told === undefined) return putFull(of, job, digest, ids);
    if (!isLasting(told.expiresAtSeconds) && !(await renew(of, base, told))) return putFull(of, job, digest, ids);
    const [added, removed] = [bytesOf(without(ids, from)), bytesOf(without(from, ids))];
    const changes = added.length + removed.length;
    if (changes > Math.max(CHANGES_BYTES_MIN, ids.byteLength * CHANGES_SHARE_MAX)) return putFull(of, job, digest, ids);
    const Item = {
      ...keys.testSet(of, digest),
      entity: "TEST_SET",
      schema: 1,
      base,
      added,
      removed,
      parts: 0,
      expiresAtSeconds: expiry(),
    };
    // What is there meanwhile is the same set, and may be the base of others: it stays as it is.
    const absent = { ConditionExpression: "attribute_not_exists(pk)" };
    await holds(() => table.client.send(new PutCommand({ TableName: table.name, Item, ...absent })));
  }

  /** Answers until when it is there, in seconds since 1970. */
  async function keepUntil(of: Repository, job: string, digest: string, ids: Ids): Promise<number> {
    const there = await find(of, digest);
    if (there !== undefined && isLasting(there.expiresAtSeconds)) return there.expiresAtSeconds;
    if (there === undefined) await keepNew(of, job, digest, ids);
    else if (!(await renew(of, digest, there))) await putFull(of, job, digest, ids);
    return expiry();
  }

  return {
    keep: async (of, job, tests) => {
      const ids = idsOf(tests);
      const digest = digestOf(ids);
      const name = nameOf(of, digest);
      if (isLasting(kept.get(name) ?? 0)) return digest;
      kept.put(name, await keepUntil(of, job, digest, ids), 1);
      remembered.put(name, ids, ids.byteLength);
      return digest;
    },
    load: async (of, digests) => {
      const found = await loadIds(of, digests);
      return new Map([...found].map(([digest, ids]) => [digest, setOf(ids)]));
    },
  };
}
