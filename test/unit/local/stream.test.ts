import { PutCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBStreamEvent } from "aws-lambda";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Stream, type StreamParts, startStream } from "../../../infra/local/stream.ts";
import { type Checkpoint, memoryCheckpoint } from "../../../infra/local/stream-checkpoint.ts";
import type { DeadLetter, Mapping, StreamHandler } from "../../../infra/local/stream-delivery.ts";
import { insertsOf, sequenceOf } from "../../../infra/local/stream-record.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { Unavailable } from "../../../shared/kernel/unavailable.ts";
import type { Table } from "../../../shared/table/client.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedTable, startTable, type Tables } from "../../support/table.ts";

let process: Tables;
beforeAll(async () => {
  process = await sharedTable();
});

const streams: Stream[] = [];
afterEach(async () => {
  for (const stream of streams.splice(0)) await stream.stop();
});

const FAST = { attemptsMax: 3, firstMs: 1, maxMs: 5 };
const keysOf = (event: DynamoDBStreamEvent): string[] =>
  event.Records.map((record) => record.dynamodb?.Keys?.["sk"]?.S ?? "");

const aMapping = (handler: StreamHandler, more: Partial<Mapping> = {}): Mapping => ({
  name: "inbox",
  filter: insertsOf("in#"),
  handler,
  batchSize: 10,
  ...more,
});

const start = (table: Table, mappings: readonly Mapping[], more: Partial<StreamParts> = {}): Stream => {
  const stream = startStream({
    table,
    endpoint: process.endpoint,
    mappings,
    checkpoint: () => memoryCheckpoint(),
    deadLetter: () => {},
    log: silentLog,
    pollMs: 5,
    retries: FAST,
    ...more,
  });
  streams.push(stream);
  return stream;
};

const put = async (table: Table, ...names: readonly string[]): Promise<void> => {
  for (const sk of names) {
    const item = { pk: "p", sk, bytes: Uint8Array.of(1, 2, 255), deep: { list: [1, "two", null, true] } };
    await table.client.send(new PutCommand({ TableName: table.name, Item: item }));
  }
};
/** A table that is away for longer than its client tries is told in the client's own words. */
const isTaken = (table: Table, name: string): Promise<boolean> =>
  put(table, name).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Unavailable) return false;
      throw error;
    },
  );
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `in#${String(at).padStart(4, "0")}`);

const until = async (condition: () => boolean): Promise<void> => {
  await eventually(condition, Boolean);
};

const recorder = () => {
  const seen: string[] = [];
  const handler: StreamHandler = async (event) => void seen.push(...keysOf(event));
  return { seen, handler };
};

describe("a mapping", () => {
  it("gets every matching insert once, in order, in batches of its size, also what was written before it", async () => {
    const table = await process.another();
    const sizes: number[] = [];
    const { seen, handler } = recorder();
    await put(table, ...numbered(30), "out#1");
    start(table, [
      aMapping(async (event, context) => {
        sizes.push(event.Records.length);
        await handler(event, context);
      }),
    ]);
    await put(table, "in#0000", "in#9999", "other");
    await until(() => seen.includes("in#9999"));
    expect(seen).toEqual([...numbered(30), "in#9999"]);
    expect(Math.max(...sizes)).toBe(10);
  });

  it("gets records as Lambda writes them", async () => {
    const table = await process.another();
    const events: DynamoDBStreamEvent[] = [];
    start(table, [aMapping(async (event) => void events.push(event))]);
    await put(table, "in#1");
    await until(() => events.length > 0);
    const record = events[0]?.Records[0];
    expect(record).toMatchObject({
      eventName: "INSERT",
      eventSource: "aws:dynamodb",
      dynamodb: {
        Keys: { pk: { S: "p" }, sk: { S: "in#1" } },
        NewImage: {
          bytes: { B: "AQL/" },
          deep: { M: { list: { L: [{ N: "1" }, { S: "two" }, { NULL: true }, { BOOL: true }] } } },
        },
      },
    });
    expect(record?.dynamodb?.ApproximateCreationDateTime).toBeGreaterThan(1_600_000_000);
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });

  it("is tried again from the first failed record, in order, and what came before it is not repeated", async () => {
    const table = await process.another();
    const calls: string[][] = [];
    const handler: StreamHandler = async (event) => {
      calls.push(keysOf(event));
      const failed = calls.length === 1 ? event.Records.slice(2, 3) : [];
      return { batchItemFailures: failed.map((record) => ({ itemIdentifier: sequenceOf(record) })) };
    };
    await put(table, ...numbered(5));
    start(table, [aMapping(handler)]);
    await until(() => calls.length === 2);
    expect(calls).toEqual([numbered(5), numbered(5).slice(2)]);
  });

  it.each(["reports", "throws"])("gives one record up after its attempts and goes on when it %s", async (how) => {
    const table = await process.another();
    const settled: string[] = [];
    let attempts = 0;
    const letters: DeadLetter[] = [];
    const handler: StreamHandler = async (event) => {
      for (const record of event.Records) {
        const [sk = ""] = keysOf({ Records: [record] });
        if (sk === "in#0002") {
          attempts += 1;
          if (how === "throws") throw new Error("poison");
          return { batchItemFailures: [{ itemIdentifier: sequenceOf(record) }] };
        }
        settled.push(sk);
      }
      return { batchItemFailures: [] };
    };
    await put(table, ...numbered(5));
    start(table, [aMapping(handler)], { deadLetter: (letter) => letters.push(letter) });
    await until(() => settled.includes("in#0004"));
    expect(letters.map(({ record }) => keysOf({ Records: [record] })[0])).toEqual(["in#0002"]);
    // A throw fails its whole batch; only alone is a record known to be the bad one.
    expect(attempts).toBe(how === "throws" ? FAST.attemptsMax + 1 : FAST.attemptsMax);
    expect(new Set(settled)).toEqual(new Set(numbered(5).toSpliced(2, 1)));
  });

  it("fails as a whole when a record is named that was not in its batch", async () => {
    const table = await process.another();
    const letters: DeadLetter[] = [];
    await put(table, "in#1");
    start(table, [aMapping(async () => ({ batchItemFailures: [{ itemIdentifier: "nonsense" }] }))], {
      deadLetter: (letter) => letters.push(letter),
    });
    await until(() => letters.length === 1);
    expect(letters[0]?.error).toContain("not in its batch");
  });

  it("that is stuck does not hold up another", async () => {
    const table = await process.another();
    const { seen, handler } = recorder();
    const release = Promise.withResolvers<void>();
    await put(table, "in#1", "effect#1");
    start(table, [
      aMapping(() => release.promise),
      aMapping(handler, { name: "effects", filter: insertsOf("effect#") }),
    ]);
    await until(() => seen.includes("effect#1"));
    release.resolve();
  });

  it("goes on where it stopped, and repeats what was under way", async () => {
    const table = await process.another();
    const checkpoint: Checkpoint = memoryCheckpoint();
    const first = recorder();
    const before = start(table, [aMapping(first.handler)], { checkpoint: () => checkpoint });
    await put(table, "in#1", "in#2");
    await until(() => first.seen.length === 2);
    await before.stop();
    await put(table, "in#3");
    const second = recorder();
    start(table, [aMapping(second.handler)], { checkpoint: () => checkpoint });
    await until(() => second.seen.length > 0);
    expect(second.seen).toEqual(["in#3"]);
  });

  it("starts over when the checkpoint is another stream's", async () => {
    const table = await process.another();
    const checkpoint = memoryCheckpoint();
    checkpoint.save({ stream: "another", finished: [], shard: "s", sequence: "999" });
    await put(table, "in#1");
    const { seen, handler } = recorder();
    start(table, [aMapping(handler)], { checkpoint: () => checkpoint });
    await until(() => seen.includes("in#1"));
  });

  it("sees a write at once after a nudge", async () => {
    const table = await process.another();
    const { seen, handler } = recorder();
    const stream = start(table, [aMapping(handler)], { pollMs: 2 ** 31 - 1 });
    await put(table, "in#0");
    stream.nudge();
    await until(() => seen.includes("in#0"));
    await put(table, "in#1");
    stream.nudge();
    await until(() => seen.includes("in#1"));
  });

  it("stops in the middle of its retries", async () => {
    const table = await process.another();
    let calls = 0;
    await put(table, "in#1");
    const stream = start(
      table,
      [
        aMapping(async () => {
          calls += 1;
          throw new Error("always");
        }),
      ],
      { retries: { attemptsMax: 100, firstMs: 60_000, maxMs: 60_000 } },
    );
    await until(() => calls === 1);
    await stream.stop();
    expect(calls).toBe(1);
  });
});

describe("the stream of a table process that is killed", () => {
  it("goes on when it is back, and loses nothing", async () => {
    const own = await startTable({ onFile: true });
    const { seen, handler } = recorder();
    const stream = startStream({
      table: own,
      endpoint: own.endpoint,
      mappings: [aMapping(handler)],
      checkpoint: () => memoryCheckpoint(),
      deadLetter: () => {},
      log: silentLog,
      pollMs: 5,
      retries: FAST,
    });
    await put(own, "in#1");
    await until(() => seen.includes("in#1"));
    own.kill();
    await eventually(() => isTaken(own, "in#2"), Boolean);
    await until(() => seen.includes("in#2"));
    await stream.stop();
    await own.stop();
    expect(new Set(seen)).toEqual(new Set(["in#1", "in#2"]));
  });
});
