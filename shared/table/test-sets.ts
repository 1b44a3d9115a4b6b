/**
 * Sets of tests, by the digest of their ids. A suite changes little from one upload to the next, so a set is kept as
 * what differs from an earlier set of the same job, its base, and in full only where that would be large. A set that is
 * there already costs nothing.
 *
 * A set kept in full is called by its digest; one that is told from it lies beside it, and is called by both digests,
 * so that the hundreds of sets of a busy week are one query and not a read each.
 */
import { createHash } from "node:crypto";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { DAY_MS } from "../kernel/time.ts";
import { type Repository, RETENTION_DAYS, type TestSet } from "../test-health/app/ports.ts";
import { byteCache } from "./byte-cache.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { type Key, keys, TOLD } from "./keys.ts";
import { getItem, getItems, query } from "./read.ts";
import { versioned } from "./versions.ts";

const PART_BYTES_MAX = 256 * 1024;
/** Above this share of the whole (and that many bytes) a set is kept in full, and the next ones are told from it. */
const CHANGES_SHARE_MAX = 0.1;
const CHANGES_BYTES_MIN = 2048;
const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024;
const KEPT_NAMES_MAX = 10_000;
/** A set outlives the uploads that name it; one in use is kept on in time. */
const KEPT_DAYS = RETENTION_DAYS + 30;
const RENEWED_BELOW_DAYS = RETENTION_DAYS + 15;

const stored = versioned(
  z.object({
    entity: z.literal("TEST_SET"),
    schema: z.literal(1),
    /** With a base, what is added to it; without, the set itself, unless it lies in parts. */
    added: z.instanceof(Uint8Array),
    removed: z.instanceof(Uint8Array),
    parts: z.int(),
    expiresAtSeconds: z.int(),
  }),
);
type Stored = z.output<typeof stored>;

const storedPart = versioned(
  z.object({
    entity: z.literal("TEST_SET_PART"),
    schema: z.literal(1),
    ids: z.instanceof(Uint8Array),
  }),
);
const storedBase = versioned(
  z.object({ entity: z.literal("TEST_SET_BASE"), schema: z.literal(1), digest: z.string() }),
);

/** Sorted, each once. */
type Ids = BigUint64Array;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/iu;

/** The beginning of a UUID is as good as random; an id that is written in another way is hashed. */
const idOf = (test: string): bigint =>
  UUID.test(test)
    ? BigInt(`0x${test.slice(0, 18).replaceAll("-", "")}`)
    : createHash("sha256").update(test).digest().readBigUInt64BE();

let asked = { test: "", id: idOf("") };

/** The same, for asking hundreds of sets in turn about one test. */
function idAsked(test: string): bigint {
  if (asked.test !== test) asked = { test, id: idOf(test) };
  return asked.id;
}

function idsOf(tests: readonly string[]): Ids {
  const all = BigUint64Array.from(tests, idOf).sort();
  return all.filter((id, at) => at === 0 || id !== all[at - 1]);
}

const bytesOf = (ids: Ids): Uint8Array => new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
const wordsOf = (bytes: Uint8Array): Ids => new BigUint64Array(Uint8Array.from(bytes).buffer);
const digestOf = (ids: Ids): string => createHash("sha256").update(bytesOf(ids)).digest("base64url").slice(0, 16);

/** The set that it is told from, if it is, and itself. */
function partsOfName(name: string): readonly [string, string | undefined] {
  const [first = "", second] = name.split(".");
  return [first, second];
}

const baseOf = (name: string): string | undefined => {
  const [first, second] = partsOfName(name);
  return second === undefined ? undefined : first;
};

const keyOf = (of: Repository, name: string): Key => {
  const [first, second] = partsOfName(name);
  return second === undefined ? keys.testSet(of, first) : keys.testSetTold(of, first, second);
};

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
    const id = idAsked(test);
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

export type TestSets = {
  readonly keep: (of: Repository, job: string, tests: readonly string[]) => Promise<string>;
  readonly load: (of: Repository, names: readonly string[]) => Promise<ReadonlyMap<string, TestSet>>;
};

/** What a set is called, and until when it is there for certain, in seconds since 1970. */
type Kept = { readonly name: string; readonly until: number };

/** From so many on, sets that are told from one base are read all together. */
const TOGETHER_MIN = 8;

export function testSets(table: Table, now: () => number): TestSets {
  const remembered = byteCache<Ids>(REMEMBERED_BYTES_MAX);
  /** By digest, sets that this process knows to be there. */
  const kept = byteCache<Kept>(KEPT_NAMES_MAX);
  const idIn = ({ org, repo }: Repository, name: string): string =>
    [org, repo.host, repo.owner, repo.name, name].join(" ");
  const expiry = (): number => Math.floor((now() + KEPT_DAYS * DAY_MS) / 1000);
  const isLasting = (seconds: number): boolean => seconds * 1000 > now() + RENEWED_BELOW_DAYS * DAY_MS;

  const put = (key: Key, item: Record<string, unknown>) =>
    table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, ...item, schema: 1 } }));

  async function putFull(of: Repository, job: string, digest: string, ids: Ids): Promise<Kept> {
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
    const added = inline ? bytes : none;
    await put(keys.testSet(of, digest), { entity: "TEST_SET", added, removed: none, parts, expiresAtSeconds });
    return { name: digest, until: expiresAtSeconds };
  }

  /** Puts off the end of a set that is still used, if it must be. Undefined: some of it has ended already. */
  async function lasting(of: Repository, name: string, { parts, expiresAtSeconds }: Stored): Promise<Kept | undefined> {
    if (isLasting(expiresAtSeconds)) return { name, until: expiresAtSeconds };
    const until = expiry();
    for (const Key of [keyOf(of, name), ...Array.from({ length: parts }, (_, at) => keys.testSetPart(of, name, at))]) {
      const update = new UpdateCommand({
        TableName: table.name,
        Key,
        UpdateExpression: "SET expiresAtSeconds = :at",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":at": until },
      });
      if (!(await unlessRefused(() => table.client.send(update)))) return undefined;
    }
    return { name, until };
  }

  async function find(of: Repository, name: string): Promise<Stored | undefined> {
    const item = await getItem(table, keyOf(of, name));
    return item === undefined ? undefined : stored.parse(item);
  }

  async function partsOf(of: Repository, digest: string, count: number): Promise<Ids | undefined> {
    const wanted = Array.from({ length: count }, (_, part) => keys.testSetPart(of, digest, part));
    const items = (await getItems(table, wanted)).toSorted((a, b) => String(a["sk"]).localeCompare(String(b["sk"])));
    if (items.length < count) return undefined;
    return wordsOf(Buffer.concat(items.map((item) => storedPart.parse(item).ids)));
  }

  /** A base is kept in full: no chain is longer than one. */
  async function idsOfStored(of: Repository, name: string, set: Stored): Promise<Ids | undefined> {
    if (set.parts > 0) return partsOf(of, name, set.parts);
    const added = wordsOf(set.added);
    const base = baseOf(name);
    if (base === undefined) return added;
    const from = (await loadIds(of, [base])).get(base);
    return from === undefined ? undefined : together(without(from, wordsOf(set.removed)), added);
  }

  /** By key; what is too new to be seen is left out. */
  async function findMany(of: Repository, names: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    const single: string[] = [];
    const items: Record<string, unknown>[] = [];
    for (const [base, told] of Map.groupBy(names, baseOf))
      if (base === undefined || told.length < TOGETHER_MIN) single.push(...told);
      else items.push(...(await query(table, { pk: keys.testSet(of, base).pk, between: TOLD, eventually: true })));
    const wanted = single.map((name) => keyOf(of, name));
    items.push(...(await getItems(table, wanted, true)));
    return new Map(items.map((item) => [`${String(item["pk"])} ${String(item["sk"])}`, stored.parse(item)]));
  }

  async function loadIds(of: Repository, names: readonly string[]): Promise<ReadonlyMap<string, Ids>> {
    const found = new Map<string, Ids>();
    const missing: string[] = [];
    for (const name of new Set(names)) {
      const known = remembered.get(idIn(of, name));
      if (known === undefined) missing.push(name);
      else found.set(name, known);
    }
    const byKey = await findMany(of, missing);
    for (const name of missing) {
      const { pk, sk } = keyOf(of, name);
      const set = byKey.get(`${pk} ${sk}`) ?? (await find(of, name));
      const ids = set === undefined ? undefined : await idsOfStored(of, name, set);
      if (ids === undefined) continue;
      remembered.put(idIn(of, name), ids, ids.byteLength);
      found.set(name, ids);
    }
    return found;
  }

  type Base = { readonly digest: string; readonly ids: Ids };

  /** The job's base, if all of it is there and lasts. */
  async function baseFor(of: Repository, job: string): Promise<Base | undefined> {
    const item = await getItem(table, keys.testSetBase(of, job));
    if (item === undefined) return undefined;
    const { digest } = storedBase.parse(item);
    const there = await find(of, digest);
    if (there === undefined || (await lasting(of, digest, there)) === undefined) return undefined;
    const ids = (await loadIds(of, [digest])).get(digest);
    return ids === undefined ? undefined : { digest, ids };
  }

  /** Under the base's name, unless too much of it is not the base's. */
  async function putTold(of: Repository, base: Base, digest: string, ids: Ids): Promise<Kept | undefined> {
    const [added, removed] = [bytesOf(without(ids, base.ids)), bytesOf(without(base.ids, ids))];
    const changes = added.length + removed.length;
    if (changes > Math.max(CHANGES_BYTES_MIN, ids.byteLength * CHANGES_SHARE_MAX)) return undefined;
    const [name, until] = [`${base.digest}.${digest}`, expiry()];
    await put(keyOf(of, name), { entity: "TEST_SET", added, removed, parts: 0, expiresAtSeconds: until });
    return { name, until };
  }

  async function keepIds(of: Repository, job: string, digest: string, ids: Ids): Promise<Kept> {
    const full = await find(of, digest);
    const whole = full === undefined ? undefined : await lasting(of, digest, full);
    if (whole !== undefined) return whole;
    const base = await baseFor(of, job);
    if (base === undefined) return putFull(of, job, digest, ids);
    const name = `${base.digest}.${digest}`;
    const told = await find(of, name);
    const there = told === undefined ? undefined : await lasting(of, name, told);
    return there ?? (await putTold(of, base, digest, ids)) ?? putFull(of, job, digest, ids);
  }

  return {
    keep: async (of, job, tests) => {
      const ids = idsOf(tests);
      const digest = digestOf(ids);
      const known = kept.get(idIn(of, digest));
      if (known !== undefined && isLasting(known.until)) return known.name;
      const there = await keepIds(of, job, digest, ids);
      kept.put(idIn(of, digest), there, 1);
      remembered.put(idIn(of, there.name), ids, ids.byteLength);
      return there.name;
    },
    load: async (of, names) => {
      const found = await loadIds(of, names);
      return new Map([...found].map(([name, ids]) => [name, setOf(ids)]));
    },
  };
}
