/**
 * Sets of impacted targets as sorted 64-bit hashes, by their digest: in an item of their own while they are small, above
 * that in the blob store. Content under its digest never changes, so a set that several PRs share is kept once, what was
 * replaced can still be read, and what was read once is remembered.
 */
import { createHash, hash } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { OrgSlug } from "../kernel/ids.ts";
import type { BlobStore, Hashes, TargetSet } from "../queue/app/ports.ts";
import { byteCache } from "./byte-cache.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import { getItems } from "./read.ts";
import { versioned } from "./versions.ts";

const INLINE_BYTES_MAX = 300 * 1024;
const HASH_BYTES = 8;
/** What a thousand PRs of a thousand targets take eight times over. */
const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024;

const stored = versioned(
  z.object({
    entity: z.literal("TARGET_HASHES"),
    schema: z.literal(1),
    digest: z.string(),
    hashes: z.instanceof(Uint8Array),
  }),
);

/** Sorted first eight bytes of each target's SHA-256, end to end. */
export function hashesOf(targets: readonly string[]): Uint8Array {
  const hashes = new BigUint64Array(targets.length);
  for (const [at, target] of targets.entries()) {
    // The one-shot form: a set may hold half a million targets, and a Hash object for each doubles their cost.
    hashes[at] = hash("sha256", target, "buffer").readBigUInt64BE();
  }
  hashes.sort();
  return new Uint8Array(hashes.buffer);
}

export const digestOf = (hashes: Uint8Array): string => createHash("sha256").update(hashes).digest("hex");

export const countOf = (hashes: Uint8Array): number => hashes.length / HASH_BYTES;

const isInline = ({ count }: Pick<TargetSet, "count">): boolean => count * HASH_BYTES <= INLINE_BYTES_MAX;
const blobOf = (org: OrgSlug, digest: string): string => `targets/${org}/${digest}`;

export type TargetHashes = {
  readonly keep: (org: OrgSlug, digest: string, hashes: Uint8Array) => Promise<void>;
  readonly load: (org: OrgSlug, sets: readonly TargetSet[]) => Promise<ReadonlyMap<string, Hashes>>;
};

export function targetHashes(table: Table, blobs: BlobStore): TargetHashes {
  const remembered = byteCache<Hashes>(REMEMBERED_BYTES_MAX);
  const loadNew = async (org: OrgSlug, sets: readonly TargetSet[]): Promise<ReadonlyMap<string, Hashes>> => {
    const found = new Map<string, Hashes>();
    const missing = new Map<string, TargetSet>();
    for (const set of sets) {
      const known = remembered.get(`${org} ${set.digest}`);
      if (known === undefined) missing.set(set.digest, set);
      else found.set(set.digest, known);
    }
    const read = await readAll(table, blobs, org, [...missing.values()]);
    for (const [digest, hashes] of read) {
      remembered.put(`${org} ${digest}`, hashes, hashes.byteLength);
      found.set(digest, hashes);
    }
    return found;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    keep: async (org, digest, hashes) => {
      if (hashes.length === 0) return;
      if (!isInline({ count: countOf(hashes) })) return blobs.put(blobOf(org, digest), hashes);
      const Item = { ...keys.targetHashes(org, digest), entity: "TARGET_HASHES", schema: 1, digest, hashes };
      await table.client.send(new PutCommand({ TableName: table.name, Item }));
    },
    // One after the other: many entries that are compared at the same time want mostly the same sets.
    load: (org, sets) => {
      const loaded = last.then(() => loadNew(org, sets));
      last = loaded.catch(() => {});
      return loaded;
    },
  };
}

async function readAll(table: Table, blobs: BlobStore, org: OrgSlug, sets: readonly TargetSet[]) {
  const small = sets.filter(isInline).map(({ digest }) => digest);
  const large = sets.filter((set) => !isInline(set)).map(({ digest }) => digest);
  const items = await readItems(table, org, small, true);
  // A copy that lags may not have what was written a moment ago.
  const late = await readItems(
    table,
    org,
    small.filter((digest) => !items.has(digest)),
    false,
  );
  const read = new Map<string, Uint8Array>([...items, ...late]);
  await Promise.all(
    large.map(async (digest) => {
      const bytes = await blobs.get(blobOf(org, digest));
      if (bytes !== undefined) read.set(digest, bytes);
    }),
  );
  // What is damaged is as good as gone.
  const sound = [...read].filter(([digest, bytes]) => digestOf(bytes) === digest);
  return new Map(sound.map(([digest, bytes]) => [digest, wordsOf(bytes)]));
}

const BATCH = 100;

async function readItems(table: Table, org: OrgSlug, digests: readonly string[], eventually: boolean) {
  const wanted = digests.map((digest) => keys.targetHashes(org, digest));
  const portions = Array.from({ length: Math.ceil(wanted.length / BATCH) }, (_, at) =>
    wanted.slice(at * BATCH, (at + 1) * BATCH),
  );
  const items = await Promise.all(portions.map((portion) => getItems(table, portion, eventually)));
  return new Map(
    items
      .flat()
      .map((item) => stored.parse(item))
      .map(({ digest, hashes }) => [digest, hashes]),
  );
}

/** A copy: what a client or a file gives need not begin where a word may begin. */
const wordsOf = (bytes: Uint8Array): Hashes => new Uint32Array(new Uint8Array(bytes).buffer);
