import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { lambdaContext } from "../../../infra/local/gateway-event.ts";
import { unhurried } from "../../../infra/local/unhurried.ts";

const FAILED = { batchItemFailures: [{ itemIdentifier: "1" }] };

function aHandler(most = 10) {
  const done: (() => void)[] = [];
  let nudges = 0;
  const made = unhurried(
    () =>
      new Promise((resolve) => {
        done.push(() => resolve(FAILED));
      }),
    {
      ms: 30,
      most,
      nudge: () => {
        nudges += 1;
      },
    },
  );
  const call = () => made.handler({ Records: [] }, lambdaContext("run-effects", "1", 1_000));
  return { ...made, call, end: (at: number) => done[at]?.(), nudges: () => nudges };
}

test("a batch that ends soon is answered for", async () => {
  const { call, end, nudges } = aHandler();
  const answer = call();
  end(0);
  expect(await answer).toEqual(FAILED);
  expect(nudges()).toBe(0);
});

test("a batch that takes long keeps nobody waiting, is told of when it ends, and is awaited at the end", async () => {
  const { call, end, ended, nudges } = aHandler();
  expect(await call()).toBeUndefined();
  let isOver = false;
  const over = ended().then(() => {
    isOver = true;
  });
  await sleep(20);
  expect([isOver, nudges()]).toEqual([false, 0]);
  end(0);
  await over;
  expect(nudges()).toBe(1);
});

test("beyond so many that take long, one is waited for", async () => {
  const { call, end } = aHandler(1);
  await call();
  const second = call();
  expect(await Promise.race([second, sleep(100, "WAITS")])).toBe("WAITS");
  end(1);
  expect(await second).toEqual(FAILED);
  end(0);
});

test("one that breaks after a while breaks nothing else", async () => {
  const broken = Promise.withResolvers<never>();
  const { handler, ended } = unhurried(() => broken.promise, { ms: 10, most: 1, nudge: () => {} });
  await expect(handler({ Records: [] }, lambdaContext("run-effects", "1", 1_000))).resolves.toBeUndefined();
  broken.reject(new Error("the table is away"));
  await expect(ended()).resolves.toBeUndefined();
});
