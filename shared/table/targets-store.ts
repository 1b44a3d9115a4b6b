/**
 * Impacted targets of a PR's commit, as sorted 64-bit hashes: in the item while they are small, above that in the blob
 * store under their digest, written before the pointer. Of the strings only the first thousand are kept, for showing.
 */
import { createHash, hash } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { BlobStore, TargetsRecord, TargetsStore } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import { getItem } from "./read.ts";
import * as shapes from "./shapes.ts";

const SHOWN_MAX = 1000;
/** Shown strings are also cut by weight: an item holds 400 KB, and the hashes may take 300 KB of it. */
const SHOWN_BYTES_MAX = 64 * 1024;
const INLINE_BYTES_MAX = 300 * 1024;
const HASH_BYTES = 8;

const stored = z.object({
  entity: z.literal("TARGETS"),
  schema: z.literal(1),
  targets: shapes.targets,
  shown: z.array(z.string()),
});

/** Sorted first eight bytes of each target's SHA-256, end to end: comparing two sets is a merge. */
export function hashesOf(targets: readonly string[]): Uint8Array {
  const hashes = new BigUint64Array(targets.length);
  for (const [at, target] of targets.entries()) {
    // The one-shot form: a set may hold half a million targets, and a Hash object for each doubles their cost.
    hashes[at] = hash("sha256", target, "buffer").readBigUInt64BE();
  }
  hashes.sort();
  return new Uint8Array(hashes.buffer);
}

function shownOf(targets: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const target of targets) {
    bytes += Buffer.byteLength(target);
    if (shown.length === SHOWN_MAX || bytes > SHOWN_BYTES_MAX) break;
    shown.push(target);
  }
  return shown;
}

export function targetsStore(table: Table, blobs: BlobStore): TargetsStore {
  return {
    find: async (org, repo, prNumber, sha) => {
      const item = await getItem(table, keys.targets(org, repo, prNumber, sha));
      if (item === undefined) return undefined;
      const { targets, shown } = stored.parse(item);
      return { targets, shown };
    },
    put: async (org, repo, prNumber, sha, targets) => {
      const { record, hashes } = targets === "ALL" ? ALL : setOf(targets);
      const digest = record.targets.kind === "SET" ? record.targets.digest : "";
      const inline = hashes.length <= INLINE_BYTES_MAX;
      const blob = `${org}/targets/${digest}`;
      if (!inline) await blobs.put(blob, hashes);
      const at = keys.targets(org, repo, prNumber, sha);
      const Item = { ...at, entity: "TARGETS", schema: 1, ...record, ...(inline ? { hashes } : { blob }) };
      await table.client.send(new PutCommand({ TableName: table.name, Item }));
      return record;
    },
  };
}

const ALL: { record: TargetsRecord; hashes: Uint8Array } = {
  record: { targets: { kind: "ALL" }, shown: [] },
  hashes: new Uint8Array(),
};

function setOf(targets: readonly string[]): { record: TargetsRecord; hashes: Uint8Array } {
  const hashes = hashesOf(targets);
  const digest = createHash("sha256").update(hashes).digest("hex");
  const count = hashes.length / HASH_BYTES;
  return { record: { targets: { kind: "SET", digest, count }, shown: shownOf(targets) }, hashes };
}
