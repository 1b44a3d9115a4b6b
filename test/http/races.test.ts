import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { submittedPullRequest } from "../../shared/schemas/pull-request.ts";
import { errorOf } from "../support/contract.ts";
import { aGate, type Gate } from "../support/gate.ts";
import type { Called } from "../support/server.ts";
import { aService, type Fields, type LocalService, type QueueClient, shown } from "../support/service.ts";
import { manySubmitted } from "./many-submitted.ts";

let service: LocalService;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const pr = (number: number): Fields => ({ pr: { number } });

/** Sends again what met too many other changes, as its answer says: how many meet is a matter of the machine's speed. */
async function untilTaken(send: () => Promise<Called>): Promise<Called> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    expect([errorOf(answer).code, answer.headers.get("retry-after")]).toEqual(["UNAVAILABLE", "1"]);
  }
}

describe("many clients at once", () => {
  it("fifty that submit the same PR get the same entry, all with 200, and it lands once", async () => {
    const { repo, queue } = await service.queue();
    const before = repo.sha("main");
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    const answers = await Promise.all(times(50, () => queue.asks("/submitPullRequest", pr(1))));
    const ids = new Set(answers.map((answer) => shown(submittedPullRequest, answer).id));
    expect(ids.size).toBe(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect(repo.subjects(`${before}..main`)).toEqual(["A change (#1)"]);
    expect((await queue.list()).pullRequests).toHaveLength(1);
  });

  it("fifty that submit, each with wishes of its own, lose none of them to the others", async () => {
    const { repo, queue } = await service.queue({ settings: { state: "paused" } });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    const wishes = times(20, (at) =>
      untilTaken(() =>
        queue.asks("/submitPullRequest", { ...pr(1), ...(at % 2 ? { priority: 7 } : { noBatch: true }) }),
      ),
    );
    const answers = await Promise.all(wishes);
    expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200]));
    expect(await queue.get(1)).toMatchObject({ priorityValue: 7, noBatch: true });
  });

  it("twenty that submit twenty PRs: twenty entries, none lost, and all end", async () => {
    await manySubmitted(service, 20, 10);
  });
});

describe("requests that race", () => {
  const round = async (
    queue: QueueClient,
    ...asked: readonly (readonly [string, Fields])[]
  ): Promise<readonly Called[]> => Promise.all(asked.map(([path, fields]) => queue.asks(path, fields)));

  it("cancel against submit: each answer is one the contract allows, and the PR is in or out, never both", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    repo.pullRequest(91, { files: { "a.txt": "1\n" } });
    for (let at = 0; at < 10; at += 1) {
      const [submitted, cancelled] = await round(queue, ["/submitPullRequest", pr(91)], ["/cancelPullRequest", pr(91)]);
      expect(submitted?.status).toBe(200);
      expect([200, 404]).toContain(cancelled?.status);
      const now = await queue.get(91);
      const inside = (await queue.view()).enqueuedPullRequests.some((one) => one.prNumber === 91);
      expect(now.isCurrentlySubmittedToQueue).toBe(inside);
      await queue.cancel(91);
    }
    expect((await queue.get(91)).state).toBe("CANCELLED");
  });

  it("delete against submit: an acknowledged submission is in a queue that is there", async () => {
    const { repo, queue } = await service.queue({ settings: { state: "paused" } });
    const numbers = times(8, (at) => at + 1);
    for (const number of numbers) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    for (const number of numbers) {
      const [deleted, submitted] = await round(queue, ["/deleteQueue", {}], ["/submitPullRequest", pr(number)]);
      const outcome = `${deleted?.status} ${submitted?.status}`;
      expect(["200 404", "409 200"]).toContain(outcome);
      if (deleted?.status === 200) await queue.asks("/createQueue", { state: "paused" });
      else {
        expect((await queue.get(number)).isCurrentlySubmittedToQueue).toBe(true);
        await queue.cancel(number);
      }
    }
  });

  it("restart against cancel ends in CANCELLED", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    repo.pullRequest(92, { files: { "a.txt": "1\n" } });
    await queue.submit(92);
    await queue.reaches(92, "TESTING");
    const [restarted, cancelled] = await round(
      queue,
      ["/restartTestsOnPullRequest", pr(92)],
      ["/cancelPullRequest", pr(92)],
    );
    expect([200, 409]).toContain(restarted?.status);
    expect(cancelled?.status).toBe(200);
    expect((await queue.ends(92)).state).toBe("CANCELLED");
  });
});

describe("Idempotency-Key", () => {
  const keyed = (key: string): RequestInit => ({
    headers: {
      "content-type": "application/json",
      "x-api-token": service.server().adminToken,
      "idempotency-key": key,
    },
  });
  const replayed = (answer: Called): boolean => answer.headers.get("idempotency-replayed") === "true";
  let queue: QueueClient;
  beforeAll(async () => {
    const made = await service.queue({ settings: { state: "paused" } });
    queue = made.queue;
    for (const number of [1, 2, 3, 4, 5]) made.repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
  });

  it("a repeat gets the first answer again, with a request id of its own, and changes nothing", async () => {
    const key = randomUUID();
    const first = await queue.asks("/submitPullRequest", pr(1), keyed(key));
    await queue.cancel(1);
    const second = await queue.asks("/submitPullRequest", { ...pr(1), unknown: true }, keyed(key));
    expect([first.status, replayed(first), second.status, replayed(second)]).toEqual([200, false, 200, true]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect((await queue.get(1)).state).toBe("CANCELLED");
  });

  it("refusals are repeated as well", async () => {
    const key = randomUUID();
    expect((await queue.asks("/createQueue", {}, keyed(key))).status).toBe(409);
    const again = await queue.asks("/createQueue", {}, keyed(key));
    expect([again.status, replayed(again), errorOf(again).code]).toEqual([409, true, "QUEUE_ALREADY_EXISTS"]);
  });

  it("another body under the key is 422, and what cannot be read does not use the key up", async () => {
    const key = randomUUID();
    expect((await queue.asks("/submitPullRequest", {}, keyed(key))).status).toBe(400);
    expect((await queue.asks("/submitPullRequest", pr(2), keyed(key))).status).toBe(200);
    const other = await queue.asks("/submitPullRequest", pr(3), keyed(key));
    expect([other.status, errorOf(other).code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    expect((await queue.asks("/submitPullRequest", { pr: { number: "2" } }, keyed(key))).status).toBe(200);
  });

  it("belongs to a token and an endpoint: the same key elsewhere is another", async () => {
    const key = randomUUID();
    await queue.asks("/submitPullRequest", pr(3), keyed(key));
    const cancelled = await queue.asks("/cancelPullRequest", pr(3), keyed(key));
    expect([cancelled.status, replayed(cancelled)]).toEqual([200, false]);
    const token = await service.token("create", "--org", "local", "--scopes", "read,submit");
    const headers = { "content-type": "application/json", "x-api-token": token, "idempotency-key": key };
    const others = await queue.asks("/submitPullRequest", pr(3), { headers });
    expect([others.status, replayed(others)]).toEqual([200, false]);
  });

  it("of many at once one does the work; the others are told to ask again, or get its answer", async () => {
    const key = randomUUID();
    const answers = await Promise.all(times(20, () => queue.asks("/submitPullRequest", pr(4), keyed(key))));
    const done = answers.filter((one) => one.status === 200);
    const waiting = answers.filter((one) => one.status === 409);
    expect(done.length + waiting.length).toBe(20);
    expect(done.filter((one) => !replayed(one))).toHaveLength(1);
    expect(new Set(done.map((one) => JSON.stringify(one.body))).size).toBe(1);
    for (const one of waiting) {
      expect(errorOf(one).code).toBe("IDEMPOTENCY_IN_PROGRESS");
      expect(one.headers.get("retry-after")).toBe("1");
    }
  });

  it.each([
    { what: "256 characters", key: "x".repeat(256) },
    { what: "a key that is not ASCII", key: "schlüssel" },
  ])("$what is 400", async ({ key }) => {
    const answer = await queue.asks("/submitPullRequest", pr(5), keyed(key));
    expect([answer.status, errorOf(answer).issues?.[0]?.path]).toEqual([400, "Idempotency-Key"]);
  });

  it("means nothing on reads", async () => {
    const key = randomUUID();
    expect((await queue.asks("/getSubmittedPullRequest", pr(2), keyed(key))).status).toBe(200);
    expect((await queue.asks("/getSubmittedPullRequest", pr(4), keyed(key))).body).toMatchObject({ prNumber: 4 });
  });

  it.each(["/updateQueue", "/setImpactedTargets", "/setImpactedTargets/upload", "/restartTestsOnPullRequest"])(
    "%s replays too",
    async (path) => {
      const key = randomUUID();
      const fields = {
        pr: { number: 4, sha: "a".repeat(40) },
        ...(path === "/setImpactedTargets" && { impactedTargets: ["a"] }),
      };
      const first = await queue.asks(path, fields, keyed(key));
      const second = await queue.asks(path, fields, keyed(key));
      expect([first.status, replayed(second)]).toEqual([200, true]);
      expect(second.body).toEqual(first.body);
    },
  );

  it("outlives a restart of the server", async () => {
    const key = randomUUID();
    const first = await queue.asks("/submitPullRequest", pr(5), keyed(key));
    await service.again();
    const second = await queue.asks("/submitPullRequest", pr(5), keyed(key));
    expect([second.status, replayed(second)]).toEqual([200, true]);
    expect(second.body).toEqual(first.body);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
