import { describe, expect, it } from "vitest";
import { type ReplyOf, routes } from "../../../shared/api/routes.ts";
import { toAuthorizerContext } from "../../../shared/http/authorizer-answer.ts";
import { endpoint } from "../../../shared/http/endpoint.ts";
import type { Run } from "../../../shared/http/use-case.ts";
import { fail, ok } from "../../../shared/kernel/result.ts";
import { aPrincipal, call, errorOf, memoryIdempotency, ports, REF } from "./support.ts";

type Set = (typeof routes)["set-impacted-targets"];
const reply: ReplyOf<"set-impacted-targets"> = { prNumber: 7, prSha: "abc", impactedTargets: 1 };

/** A handler with a store of its own, that counts the calls of its use case. */
function counted(run: Run<Set> = async () => ok(reply)) {
  const memory = memoryIdempotency();
  const calls: number[] = [];
  const handler = endpoint(routes["set-impacted-targets"], ports({ idempotency: memory.store }), async (request) => {
    calls.push(request.input.pr.number);
    return run(request);
  });
  const send = async (key: string, more: object = {}, lambda: unknown = toAuthorizerContext(aPrincipal())) => {
    const body = JSON.stringify({ ...REF, pr: { number: 7 }, impactedTargets: ["a"], ...more });
    return call(handler, { body, headers: { "idempotency-key": key }, lambda });
  };
  return { ...memory, calls, send };
}

describe("the same key and body", () => {
  it("give the first answer again, and happen once", async () => {
    const { send, calls } = counted();
    const first = await send("k");
    const second = await send("k");
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    expect(second).toEqual({ ...first, headers: { ...first.headers, "idempotency-replayed": "true" } });
    expect(calls).toEqual([7]);
  });

  it("give a refusal again", async () => {
    const { send, calls } = counted(async () => fail("QUEUE_NOT_FOUND", "There is no such queue."));
    await send("k");
    expect(errorOf(await send("k"))).toMatchObject({ status: 404, code: "QUEUE_NOT_FOUND" });
    expect(calls).toEqual([7]);
  });

  it("are the same however they are written", async () => {
    const { send, calls } = counted();
    await send("k");
    expect((await send("k", { pr: { number: "7", note: 1 }, extra: true })).headers["idempotency-replayed"]).toBe(
      "true",
    );
    expect(calls).toEqual([7]);
  });

  it("while the first call runs are a 409 that says when to ask again", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const entered = Promise.withResolvers<void>();
    const { send } = counted(async () => {
      entered.resolve();
      await gate;
      return ok(reply);
    });
    const first = send("k");
    await entered.promise;
    const second = await send("k");
    expect(errorOf(second)).toMatchObject({ status: 409, code: "IDEMPOTENCY_IN_PROGRESS" });
    expect(second.headers["retry-after"]).toBe("1");
    release();
    expect((await first).statusCode).toBe(200);
  });
});

it("another body under the same key is a 422", async () => {
  const { send, calls } = counted();
  await send("k");
  expect(errorOf(await send("k", { impactedTargets: ["b"] }))).toMatchObject({
    status: 422,
    code: "IDEMPOTENCY_KEY_REUSED",
  });
  expect(calls).toEqual([7]);
});

it("a key is scoped to its token", async () => {
  const { send, calls } = counted();
  await send("k");
  await send("k", {}, toAuthorizerContext(aPrincipal({ tokenId: "t2" })));
  expect(calls).toEqual([7, 7]);
});

describe("an answer that says try again is not recorded:", () => {
  it("503", async () => {
    const { send, calls, kept } = counted(async () => fail("UNAVAILABLE", "Too many writers."));
    await send("k");
    expect(kept.size).toBe(0);
    await send("k");
    expect(calls).toEqual([7, 7]);
  });

  it("429", async () => {
    const { send, kept } = counted(async () => fail("TOO_MANY_REQUESTS", "The host throttles us."));
    expect((await send("k")).statusCode).toBe(429);
    expect(kept.size).toBe(0);
  });

  it("500", async () => {
    const { send, kept } = counted(async () => {
      throw new Error("boom");
    });
    expect((await send("k")).statusCode).toBe(500);
    expect(kept.size).toBe(0);
  });
});

it("a use case that records the answer with its change records what is sent, in the token's enum case", async () => {
  const memory = memoryIdempotency();
  const handler = endpoint(routes["list-queues"], ports(), async () => ok({ queues: [] }));
  expect((await call(handler)).statusCode).toBe(200);

  const conclusion = { reason: "TESTS_FAILED", message: "unit failed" };
  const pr = { ...aSubmittedPr, conclusion };
  const cancel = endpoint(routes["cancel-pull-request"], ports({ idempotency: memory.store }), async ({ receipt }) => {
    if (receipt !== undefined) await memory.store.finish(receipt, 200, receipt.answer(pr));
    return ok(pr);
  });
  const body = JSON.stringify({ ...REF, pr: { number: 7 } });
  const lambda = toAuthorizerContext(aPrincipal({ enumCase: "lower" }));
  const sent = await call(cancel, { body, lambda, headers: { "idempotency-key": "k" } });
  expect([...memory.kept.values()].map((kept) => kept.answered?.body)).toEqual([sent.body]);
  expect(JSON.parse(sent.body)).toMatchObject({ state: "not_ready", conclusion: { reason: "tests_failed" } });
});

it("trouble with the record does not turn a success into another answer", async () => {
  const { store } = memoryIdempotency();
  const broken = { ...store, finish: async () => Promise.reject(new Error("table")) };
  const handler = endpoint(routes["delete-queue"], ports({ idempotency: broken }), async () =>
    fail("QUEUE_NOT_EMPTY", "There is a pull request in it."),
  );
  const answer = await call(handler, { body: JSON.stringify(REF), headers: { "idempotency-key": "k" } });
  expect(answer.statusCode).toBe(409);
});

it.each(["", "x".repeat(256), "a\tb", "käse"])(
  "a key that is no 1..255 printable characters is a 400: %j",
  async (key) => {
    const { send, calls } = counted();
    expect(errorOf(await send(key))).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    expect(calls).toEqual([]);
  },
);

it("a request that its schema refuses takes no key", async () => {
  const { send, kept } = counted();
  expect((await send("k", { pr: {} })).statusCode).toBe(400);
  expect(kept.size).toBe(0);
});

it("a route that writes nothing ignores the header", async () => {
  const memory = memoryIdempotency();
  const handler = endpoint(routes["list-queues"], ports({ idempotency: memory.store }), async () => ok({ queues: [] }));
  await call(handler, { body: "{}", headers: { "idempotency-key": "k" } });
  expect(memory.kept.size).toBe(0);
});

const aSubmittedPr: ReplyOf<"cancel-pull-request"> = {
  id: "e1",
  state: "NOT_READY",
  stateChangedAt: "2026-01-01T00:00:00.000Z",
  readiness: {
    hasImpactedTargets: false,
    requiresImpactedTargets: false,
    doesBaseBranchMatch: true,
    gitHubMergeability: "UNSPECIFIED",
  },
  priorityValue: 100,
  priorityName: "medium",
  usedDefaultPriorityName: true,
  skipTheLine: false,
  forceEnqueued: false,
  noBatch: false,
  isCurrentlySubmittedToQueue: true,
  prNumber: 7,
  prTitle: null,
  prSha: null,
  prBaseBranch: null,
  prAuthor: null,
  submittedAt: "2026-01-01T00:00:00.000Z",
  verifiedByTestRun: null,
  conclusion: null,
};
