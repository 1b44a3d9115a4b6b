import { zstdCompressSync } from "node:zlib";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { packTar } from "modern-tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import type { QueueKey } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { Unavailable } from "../../../shared/kernel/unavailable.ts";
import { readBundles } from "../../../shared/test-health/app/bundles.ts";
import { advanceOrDegrade } from "../../../shared/queue/app/advance.ts";
import { sweep } from "../../../shared/queue/app/sweep.ts";
import { type Key, keys } from "../../../shared/table/keys.ts";
import { type Lifts, lift, versioned } from "../../../shared/table/versions.ts";
import { type BenchService, requestOf, startService } from "../../bench/service.ts";
import { settles } from "../../bench/loop.ts";

/** A made-up kind of item in its third version: first it had one name in one text, then two, then those in an object. */
const first = z.object({ name: z.string() });
const second = z.object({ given: z.string(), family: z.string().default("") });
const LIFTS: Lifts = {
  PERSON: {
    1: lift(first, ({ name }) => {
      const [given = "", family = ""] = name.split(" ");
      return { given, family };
    }),
    2: lift(second, (names) => ({ names })),
  },
};
const person = versioned(
  z.object({
    entity: z.literal("PERSON"),
    schema: z.literal(3),
    names: z.object({ given: z.string(), family: z.string() }),
    expiresAtSeconds: z.exactOptional(z.number()),
  }),
  LIFTS,
);
const item = (schema: unknown, more: object): unknown => ({ pk: "p", sk: "s", entity: "PERSON", schema, ...more });
const ANN = { names: { given: "Ann", family: "Lee" } };

describe("an item of an older version", () => {
  it("is lifted one version at a time, and reads as one of today", () => {
    expect(person.parse(item(1, { name: "Ann Lee" }))).toEqual({ entity: "PERSON", schema: 3, ...ANN });
    expect(person.parse(item(2, { given: "Ann", family: "Lee" }))).toMatchObject(ANN);
    expect(person.parse(item(3, ANN))).toMatchObject(ANN);
  });

  it("keeps what its old shape does not name", () => {
    expect(person.parse(item(1, { name: "Ann Lee", expiresAtSeconds: 7 })).expiresAtSeconds).toBe(7);
  });

  it("that is damaged is refused by its own old shape, and lifting changes nothing that was given", () => {
    expect(() => person.parse(item(1, { name: 5 }))).toThrow(/name/u);
    const old = Object.freeze({ entity: "PERSON", schema: 1, name: "Ann Lee" });
    expect(person.parse(old)).toMatchObject(ANN);
  });

  it("is refused where no lift starts from it, as is what is no such item at all", () => {
    for (const other of [item(0, {}), item("1", { name: "Ann Lee" }), { entity: "QUEUE", schema: 1 }, {}, undefined])
      expect(() => person.parse(other)).toThrow(z.ZodError);
  });
});

it("an item of a newer version is nobody's fault and worth another try: it is no wrong item, and no reason of its own", () => {
  for (const version of [4, 99]) expect(() => person.parse(item(version, ANN))).toThrow(Unavailable);
});

/** As a function of the last deployment meets what one of the next has written. */
describe("items of a newer version in a queue", () => {
  let service: BenchService;
  let key: QueueKey;
  beforeAll(async () => {
    service = await startService();
    key = await service.queue(2);
    await settles(service, key);
  });
  afterAll(() => service.stop());

  const read = async (at: Key): Promise<Record<string, unknown> | undefined> =>
    (await service.table.client.send(new GetCommand({ TableName: service.table.name, Key: { ...at } }))).Item;
  const put = (Item: Record<string, unknown>) =>
    service.table.client.send(new PutCommand({ TableName: service.table.name, Item }));
  const ask = async (path: string, fields: object = {}): Promise<{ status: number; code: unknown }> => {
    const body = Buffer.from(JSON.stringify({ ...requestOf(key), ...fields }));
    const answer = await service.client.send(path, { body, headers: { "content-type": "application/json" } });
    return { status: answer.status, code: JSON.parse(answer.body.toString())?.error?.code };
  };
  /** Puts a newer version in the place of what is there for as long as the work takes, and answers what is there then. */
  async function whileNewer(at: Key, work: () => Promise<void>): Promise<{ before: unknown; after: unknown }> {
    const old = await read(at);
    const before = { ...old, schema: 2, news: { of: "tomorrow" } };
    await put(before);
    await work();
    const after = await read(at);
    if (old !== undefined) await put(old);
    return { before, after };
  }
  const CLOSED = { status: 503, code: "UNAVAILABLE" };

  it("an entry: requests about it are 503, and the loop and the sweep leave it as it is", async () => {
    const { before, after } = await whileNewer(keys.entry(key, 1), async () => {
      const pr = { number: 1 };
      for (const path of ["/submitPullRequest", "/cancelPullRequest", "/getSubmittedPullRequest", "/getQueue"])
        expect([path, await ask(path, { pr })]).toEqual([path, CLOSED]);
      await expect(advanceOrDegrade(service.app, key)).rejects.toThrow(Unavailable);
      await sweep(service.app);
    });
    expect(after).toEqual(before);
  });

  it.each(["meta", "config"] as const)(
    "the queue's %s: it is not written over, and the queue is not marked",
    async (what) => {
      const { before, after } = await whileNewer(keys[what](key), async () => {
        for (const path of ["/updateQueue", "/deleteQueue"])
          if (what === "config") expect([path, await ask(path, { concurrency: 3 })]).toEqual([path, CLOSED]);
        await service.app.queues.tell(key, { type: "wake" });
        await expect(advanceOrDegrade(service.app, key)).rejects.toThrow(Unavailable);
        await sweep(service.app);
      });
      expect(after).toEqual(before);
    },
  );

  it("goes on by itself with the code that knows them", async () => {
    await settles(service, key);
    expect((await ask("/getSubmittedPullRequest", { pr: { number: 1 } })).status).toBe(200);
  });

  it("settings of a repository whose bundle has come: it waits, however often it is looked at", async () => {
    const of = { org: key.org, repo: key.repo };
    const { health } = service.app;
    const [id, at] = ["waits", service.app.clock()];
    await health.changeSettings(of, (present) => ({ ...present, quarantinesFlaky: true }));
    await health.putRecord(of, { id, receivedAt: at, state: "WAITING", problem: null, facts: null, answer: null });
    await health.putBundle({ id, repository: of, announcedAt: at, failures: 0 });
    const meta = {
      version: "1",
      repo: { repo: key.repo, repo_root: "/", repo_head_sha: "a".repeat(40), repo_head_branch: "main" },
    };
    const file_sets = [{ file_set_type: "Junit", files: [{ original_path: "j.xml", path: "junit/0", owners: [] }] }];
    const files = {
      "meta.json": JSON.stringify({ ...meta, org: "local", file_sets, envs: {}, variant: "" }),
      "junit/0": '<testsuites><testsuite name="s"><testcase classname="a" name="t"/></testsuite></testsuites>',
    };
    const entries = Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length }, body }));
    const bytes = zstdCompressSync(await packTar(entries));
    const uploads = {
      ...service.app.uploads,
      readUpload: async () => Buffer.from(bytes),
      removeUpload: async () => {},
    };
    const app = { ...service.app, uploads };
    await whileNewer(keys.testSettings(of), async () => {
      for (let turn = 0; turn < 6; turn += 1) await readBundles(app);
      expect(await health.bundles()).toMatchObject([{ id, failures: 0 }]);
    });
    await readBundles(app);
    expect(await health.upload(of, id)).toMatchObject({ state: "PROCESSED", problem: null });
  });

  it("failures of tests, which are added to without being read first", async () => {
    const of = { org: key.org, repo: key.repo };
    const at = epochMs(Date.parse("2026-11-21T20:00:00Z"));
    const failure = { test: "t", at, passed: 0, failed: 1, summary: "s", pullRequests: [], wasQuarantined: false };
    const { health } = service.app;
    await health.putFailures(of, [{ ...failure, upload: "first" }]);
    const { before, after } = await whileNewer(keys.failuresIn(of, "2026-11-21", "t", 20), async () => {
      await expect(health.putFailures(of, [{ ...failure, upload: "second" }])).rejects.toThrow(Unavailable);
    });
    expect(after).toEqual(before);
  });
});
