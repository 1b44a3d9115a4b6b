/** What others write at the same moment is no reason to say anything untrue. */
import { TransactionConflictException } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { Unavailable } from "../../../shared/kernel/unavailable.ts";
import { advanceOrDegrade } from "../../../shared/queue/app/advance.ts";
import { createQueue } from "../../../shared/queue/app/queues.ts";
import { openTable } from "../../../shared/table/client.ts";
import { queueStore } from "../../../shared/table/queue-store.ts";
import { sharedTable } from "../../support/table.ts";
import { aKey, aQueueIn } from "../table/fixture.ts";
import { anApp } from "./fixture.ts";

test("a queue whose creation met another write is made, and not refused as existing", async () => {
  const table = await (await sharedTable()).another();
  const queues = queueStore(table);
  let attempts = 0;
  const create: typeof queues.create = async (...args) => ((attempts += 1) === 1 ? "CONFLICT" : queues.create(...args));
  const app = anApp({ queues: { ...queues, create } });
  const asked = { key: aKey(), repo: aKey().repo, patch: {}, state: undefined, by: "ann" };
  expect(await createQueue(app, asked, () => undefined)).toMatchObject({ ok: true });
  expect(await createQueue(app, asked, () => undefined)).toMatchObject({ fault: { code: "QUEUE_ALREADY_EXISTS" } });
});

test("a queue that changed while it was read is read again, and not marked as failing", async () => {
  const table = await (await sharedTable()).another();
  const { queues, key } = await aQueueIn(table);
  await queues.tell(key, { type: "wake" });
  let reads = 0;
  const load: typeof queues.load = async (of) => {
    const queue = await queues.load(of);
    // The first time it is as it was before somebody else's commit.
    return queue === undefined || (reads += 1) > 1 ? queue : { ...queue, version: queue.version - 1 };
  };
  const commit: typeof queues.commit = async (...args) => {
    if (reads === 1) throw new Error("two operations on one item");
    return queues.commit(...args);
  };
  const app = anApp({ queues: { ...queues, load, commit } });
  await advanceOrDegrade(app, key);
  expect((await queues.load(key))?.degraded).toBeNull();
  expect((await queues.load(key))?.inbox).toEqual([]);
});

test("a lone write that meets a transaction is an outage of a moment, and no fault of ours", async () => {
  const table = openTable({ name: "nowhere", endpoint: "http://127.0.0.1:9" });
  table.client.middlewareStack.add(
    () => async () => Promise.reject(new TransactionConflictException({ message: "conflict", $metadata: {} })),
    { step: "finalizeRequest", priority: "low" },
  );
  await expect(queueStore(table).tell(aKey(), { type: "wake" })).rejects.toBeInstanceOf(Unavailable);
});
