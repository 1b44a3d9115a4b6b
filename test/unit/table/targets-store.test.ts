import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { commitSha, orgSlug } from "../../../shared/kernel/ids.ts";
import type {
  BlobStore,
  TargetSet,
  TargetsRecord,
  TargetsSource,
  TargetsStore,
} from "../../../shared/queue/app/ports.ts";
import type { Table } from "../../../shared/table/client.ts";
import { keys } from "../../../shared/table/keys.ts";
import { digestOf, hashesOf } from "../../../shared/table/target-hashes.ts";
import { targetsStore } from "../../../shared/table/targets-store.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aKey } from "./fixture.ts";

const { org, repo } = aKey();
const SHA = commitSha("a".repeat(40));

let running: Tables;
let table: Table;
/** In memory, counting; `isAway` makes it fail. */
let blobs: BlobStore & { readonly held: Map<string, Uint8Array>; reads: number; isAway: boolean };
let store: TargetsStore;
beforeAll(async () => {
  running = await sharedTable();
});
beforeEach(async () => {
  table = await running.another();
  const held = new Map<string, Uint8Array>();
  blobs = {
    held,
    reads: 0,
    isAway: false,
    put: async (key, bytes) => void held.set(key, bytes),
    get: async (key) => {
      if (blobs.isAway) throw new Error("the disk is away");
      blobs.reads += 1;
      return held.get(key);
    },
  };
  store = targetsStore(table, blobs);
});

const many = (count: number, of = "target"): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${of}-${at}`);
const setOf = ({ targets }: TargetsRecord): TargetSet => {
  if (targets.kind !== "SET") throw new Error("no set");
  return targets;
};
const put = (targets: "ALL" | readonly string[], source: TargetsSource = "UPLOAD", sha = SHA) =>
  store.put(org, repo, 1, sha, targets, source);
const bytesOf = (hashes: Uint32Array | undefined) => Buffer.from(hashes?.buffer ?? new ArrayBuffer());
/** With nothing remembered, as another process reads. */
const fresh = () => targetsStore(table, blobs);

describe("sets of targets", () => {
  test.each([1, 1_000, 38_400, 38_401, 100_000])("of %d targets are read back as they are compared", async (count) => {
    const set = setOf(await put(many(count)));
    const read = (await fresh().hashes(org, [set])).get(set.digest);
    expect(set.count).toBe(count);
    expect(bytesOf(read).equals(hashesOf(many(count).toReversed()))).toBe(true);
    expect(blobs.held.size).toBe(count > 38_400 ? 1 : 0);
  });

  test("several hundred of them, of every size, come at once, and each once", async () => {
    const sets = [setOf(await put(many(50_000, "big")))];
    for (let at = 0; at < 230; at += 1) sets.push(setOf(await put(many(1 + (at % 7), `of-${at}`))));
    const read = await fresh().hashes(org, [...sets, ...sets.slice(0, 50)]);
    expect(read.size).toBe(231);
    for (const { digest, count } of sets) expect(read.get(digest)?.length).toBe(2 * count);
  });

  test("can be read after another one was put in their place", async () => {
    const before = setOf(await put(["a", "b"]));
    const after = setOf(await put(["c"]));
    expect(await store.find(org, repo, 1, SHA)).toMatchObject({ targets: after, shown: ["c"] });
    expect([...(await fresh().hashes(org, [before, after])).keys()].sort()).toEqual(
      [before.digest, after.digest].sort(),
    );
  });

  test("that are not there, or of another organization, are left out", async () => {
    const set = setOf(await put(["a"]));
    const nowhere: TargetSet = { kind: "SET", digest: "0".repeat(64), count: 3 };
    const blob: TargetSet = { kind: "SET", digest: "1".repeat(64), count: 90_000 };
    expect([...(await fresh().hashes(org, [nowhere, set, blob])).keys()]).toEqual([set.digest]);
    expect((await store.hashes(orgSlug("other"), [set])).size).toBe(0);
  });

  test("that were damaged, in the table or beside it, are left out", async () => {
    const [small, large] = [setOf(await put(["a"])), setOf(await put(many(50_000)))];
    const Item = { ...keys.targetHashes(org, small.digest), entity: "TARGET_HASHES", schema: 1, digest: small.digest };
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...Item, hashes: hashesOf(["b"]) } }));
    for (const [key, bytes] of blobs.held) blobs.held.set(key, bytes.subarray(8));
    expect((await fresh().hashes(org, [small, large])).size).toBe(0);
  });

  test("are remembered: what was read once is not read again", async () => {
    const set = setOf(await put(many(50_000)));
    const reader = fresh();
    await Promise.all(Array.from({ length: 20 }, () => reader.hashes(org, [set])));
    expect(blobs.reads).toBe(1);
  });

  test("a store that breaks while reading breaks that reading alone", async () => {
    const set = setOf(await put(many(50_000)));
    const reader = fresh();
    blobs.isAway = true;
    await expect(reader.hashes(org, [set])).rejects.toThrow("the disk is away");
    blobs.isAway = false;
    expect((await reader.hashes(org, [set])).size).toBe(1);
  });

  test("the empty one is a set with a digest like any other", async () => {
    expect(await put([])).toEqual({
      targets: { kind: "SET", digest: digestOf(new Uint8Array()), count: 0 },
      source: "UPLOAD",
      shown: [],
    });
  });
});

describe("what was found from paths", () => {
  test("is replaced by an upload, and never replaces one", async () => {
    expect(await put(["web"], "PATHS")).toMatchObject({ source: "PATHS", shown: ["web"] });
    expect(await put(["api"], "PATHS")).toMatchObject({ source: "PATHS", shown: ["api"] });
    const upload = await put(["mine"]);
    expect(await put(["web"], "PATHS")).toEqual(upload);
    expect(await put("ALL", "PATHS")).toEqual(upload);
    expect(await store.find(org, repo, 1, SHA)).toEqual(upload);
  });

  test("is worth more than what a fork says, which replaces only what a fork has said", async () => {
    expect(await put(["one"], "FORK")).toMatchObject({ source: "FORK", shown: ["one"] });
    expect(await put(["two"], "FORK")).toMatchObject({ source: "FORK", shown: ["two"] });
    const found = await put(["web"], "PATHS");
    expect(found.source).toBe("PATHS");
    expect(await put("ALL", "FORK")).toEqual(found);
    const upload = await put(["mine"]);
    expect(await put("ALL", "FORK")).toEqual(upload);
    expect(await fresh().find(org, repo, 1, SHA)).toEqual(upload);
  });

  test("stands for its own commit alone", async () => {
    const other = commitSha("b".repeat(40));
    await put("ALL");
    expect(await put(["web"], "PATHS", other)).toMatchObject({ source: "PATHS", shown: ["web"] });
    expect(await store.find(org, repo, 1, SHA)).toMatchObject({ targets: { kind: "ALL" }, source: "UPLOAD" });
  });
});
