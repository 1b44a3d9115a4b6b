import { beforeAll, describe, expect, test } from "vitest";
import { later } from "../../../shared/kernel/time.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { foldQueue } from "../../../shared/queue/app/fold-queue.ts";
import type { LoadedQueue, QueueStore } from "../../../shared/queue/app/ports.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aKey, aQueueIn, aSubmission, NOW } from "./fixture.ts";

let table: Tables;
beforeAll(async () => {
  table = await sharedTable();
});

const present = async (queues: QueueStore, key = aKey()): Promise<LoadedQueue> => {
  const queue = await queues.load(key);
  if (queue === undefined) throw new Error("no queue");
  return queue;
};

describe("a commit of the loop", () => {
  test("of two writers that read the same version exactly one commits", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    await queues.submit(key, aSubmission(1), undefined);
    const queue = await present(queues);
    const folded = foldQueue(queue, NOW);
    const done = await Promise.all([queues.commit(queue, folded, NOW), queues.commit(queue, folded, NOW)]);
    expect(done.toSorted()).toEqual(["COMMITTED", "CONFLICT"]);
    expect((await present(queues)).entries).toHaveLength(1);
  });

  test("decides nothing on settings that changed meanwhile", async () => {
    const { queues, key, record } = await aQueueIn(await table.another());
    await queues.submit(key, aSubmission(1), undefined);
    const queue = await present(queues);
    const operator = { ...record.config.operator, state: "PAUSED" as const };
    expect(await queues.update(record, { ...record, config: { ...record.config, operator } }, undefined)).toBe(
      "UPDATED",
    );
    expect(await queues.commit(queue, foldQueue(queue, NOW), NOW)).toBe("CONFLICT");
  });

  test("loses to a wish that was acknowledged meanwhile, and sees it the next time", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    await queues.submit(key, aSubmission(1), undefined);
    const queue = await present(queues);
    const stored = await queues.entry(key, 1);
    if (stored === undefined) throw new Error("no entry");
    expect(await queues.ask(key, stored, { cancel: { by: "ci", at: NOW } }, undefined)).toBe("ASKED");
    expect(await queues.commit(queue, foldQueue(queue, NOW), NOW)).toBe("CONFLICT");
    const again = await present(queues);
    expect(await queues.commit(again, foldQueue(again, NOW), NOW)).toBe("COMMITTED");
    expect((await queues.submissions(key, [1])).get(1)?.entry.state).toBe("CANCELLED");
    expect((await present(queues)).entries).toEqual([]);
  });

  test("takes the inbox items that it folded away, and no other", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    await queues.tell(key, { type: "wake" });
    const queue = await present(queues);
    await queues.tell(key, { type: "wake" });
    expect(await queues.commit(queue, foldQueue(queue, NOW), NOW)).toBe("COMMITTED");
    expect((await present(queues)).inbox).toHaveLength(1);
  });

  test("moves what ended to the history, with its timeline, and out of the live partition", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    const one = aSubmission(7);
    await queues.submit(key, one, undefined);
    const stored = await queues.entry(key, 7);
    if (stored === undefined) throw new Error("no entry");
    await queues.ask(key, stored, { cancel: { by: "ci", at: NOW } }, undefined);
    const queue = await present(queues);
    await queues.commit(queue, foldQueue(queue, NOW), NOW);
    expect((await queues.history(key, { take: 10 })).entries.map((entry) => entry.id)).toEqual([one.entry.id]);
    const moves = await queues.timeline(key, 7, one.entry.id);
    expect(moves.map((move) => move.to)).toEqual(["CANCELLED", "NOT_READY"]);
  });

  test("carries a hundred submissions in bounded transactions, and loses none", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    const numbers = Array.from({ length: 100 }, (_, at) => at + 1);
    await Promise.all(numbers.map((number) => queues.submit(key, aSubmission(number), undefined)));
    for (;;) {
      const queue = await present(queues);
      const folded = foldQueue(queue, NOW);
      if (queue.inbox.length === 0 && queue.entries.every((one) => one.seen)) break;
      expect(await queues.commit(queue, folded, NOW)).toBe("COMMITTED");
    }
    expect((await present(queues)).state.entries.size).toBe(100);
  });
});

describe("a submission", () => {
  test("of a PR that has a live entry is refused", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    const done = await Promise.all([1, 2, 3, 4].map(() => queues.submit(key, aSubmission(5), undefined)));
    expect(done.toSorted()).toEqual(["CONFLICT", "CONFLICT", "CONFLICT", "SUBMITTED"]);
  });
});

describe("tenancy", () => {
  test("two organizations with a queue on the same repository and branch see nothing of each other", async () => {
    const shared = await table.another();
    const { queues, key } = await aQueueIn(shared);
    const other = aKey({ org: orgSlug("other") });
    await aQueueIn(shared, other);
    await queues.submit(key, aSubmission(1), undefined);
    expect((await present(queues, other)).entries).toEqual([]);
    expect(await queues.entry(other, 1)).toBeUndefined();
    expect(await queues.list(other.org)).toEqual([other]);
  });
});

describe("the outbox", () => {
  const withEffect = async () => {
    const { queues, key } = await aQueueIn(await table.another());
    const submission = aSubmission(1);
    const trouble = { kind: "UNREACHABLE", what: "down", count: 1, retryAt: NOW } as const;
    await queues.submit(key, { ...submission, entry: { ...submission.entry, trouble } }, undefined);
    const queue = await present(queues);
    await queues.commit(queue, foldQueue(queue, later(NOW, 1)), NOW);
    const [effect = ""] = await queues.waitingEffects(key, NOW);
    return { queues, key, effect };
  };

  test("gives an effect to one claimant at a time, and again when its lease has run out", async () => {
    const { queues, key, effect } = await withEffect();
    const claims = await Promise.all([1, 2, 3].map(() => queues.claim(key, effect, NOW, 1000)));
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await queues.claim(key, effect, later(NOW, 999), 1000)).toBeUndefined();
    expect(await queues.claim(key, effect, later(NOW, 1000), 1000)).toMatchObject({ attempts: 2 });
  });

  test("lets a claimant that lost its lease write nothing", async () => {
    const { queues, key, effect } = await withEffect();
    const late = await queues.claim(key, effect, NOW, 10);
    const present_ = await queues.claim(key, effect, later(NOW, 10), 1000);
    if (late === undefined || present_ === undefined) throw new Error("no claim");
    await queues.finish(key, late, { type: "wake" });
    expect((await present(queues)).inbox).toEqual([]);
    await queues.finish(key, present_, { type: "wake" });
    expect((await present(queues)).inbox).toHaveLength(1);
    expect(await queues.claim(key, effect, later(NOW, 99_999), 1000)).toBeUndefined();
  });

  test("keeps a postponed effect until its time", async () => {
    const { queues, key, effect } = await withEffect();
    const claimed = await queues.claim(key, effect, NOW, 1000);
    if (claimed === undefined) throw new Error("no claim");
    await queues.postpone(key, claimed, later(NOW, 5000), "down");
    expect(await queues.waitingEffects(key, later(NOW, 4999))).toEqual([]);
    expect(await queues.waitingEffects(key, later(NOW, 5000))).toEqual([effect]);
  });
});

describe("the history", () => {
  test("pages newest first without a gap or a repetition, also where many ended at one time", async () => {
    const { queues, key } = await aQueueIn(await table.another());
    for (const number of [1, 2, 3, 4, 5, 6, 7]) {
      await queues.submit(key, aSubmission(number), undefined);
      const stored = await queues.entry(key, number);
      if (stored === undefined) throw new Error("no entry");
      await queues.ask(key, stored, { cancel: { by: "ci", at: NOW } }, undefined);
      const queue = await present(queues);
      const at = later(NOW, Math.floor(number / 3));
      await queues.commit(queue, foldQueue(queue, at), at);
    }
    const walked: number[] = [];
    let after: string | undefined;
    do {
      const page = await queues.history(key, { take: 2, after });
      walked.push(...page.entries.map((entry) => entry.prNumber));
      after = page.next;
    } while (after !== undefined);
    expect(walked.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((await queues.history(key, { take: 9, since: later(NOW, 1), until: later(NOW, 2) })).entries).toHaveLength(
      3,
    );
  });
});
