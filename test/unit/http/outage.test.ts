import { expect, test } from "vitest";
import { lambdaContext } from "../../../infra/local/gateway-event.ts";
import { endpoint } from "../../../shared/http/endpoint.ts";
import { routes } from "../../../shared/api/routes.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { systemClock } from "../../../shared/kernel/time.ts";
import { Unavailable } from "../../../shared/kernel/unavailable.ts";
import { openTable } from "../../../shared/table/client.ts";
import { queueStore } from "../../../shared/table/queue-store.ts";
import { call, errorOf, memoryIdempotency } from "./support.ts";

const ports = () => ({ log: silentLog, clock: systemClock, idempotency: memoryIdempotency().store });

test("a table that does not answer is a 503 with Retry-After, and says nothing of the inside", async () => {
  const handler = endpoint(routes["list-queues"], ports, async () => {
    throw new Unavailable("the table throttles", { cause: new Error("secret endpoint 10.0.0.1") });
  });
  const answer = await call(handler, { body: "{}" });
  expect(answer.statusCode).toBe(503);
  expect(answer.headers?.["retry-after"]).toBe("2");
  expect(errorOf(answer).code).toBe("UNAVAILABLE");
  expect(answer.body).not.toContain("secret");
});

test("a request that runs out of its function's time is a 503 as well: it may be sent again", async () => {
  const handler = endpoint(routes["list-queues"], ports, () => new Promise(() => {}));
  const context = lambdaContext("list-queues", "r", 700);
  const answer = await call(handler, { body: "{}" }, context);
  expect([answer.statusCode, errorOf(answer).code]).toEqual([503, "UNAVAILABLE"]);
  // The platform ends a function in the middle of its answer.
  expect(context.getRemainingTimeInMillis()).toBeGreaterThan(200);
});

test("a refused connection to the table is an outage, not a fault of ours", async () => {
  const queues = queueStore(openTable({ name: "nowhere", endpoint: "http://127.0.0.1:9" }));
  await expect(queues.due()).rejects.toBeInstanceOf(Unavailable);
});
