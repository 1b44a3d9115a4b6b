import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/contract.ts";
import { eventually } from "../support/eventually.ts";
import { aGate, type Gate } from "../support/gate.ts";
import type { Called } from "../support/server.ts";
import { aService, type QueueClient, type Service } from "../support/service.ts";

let service: Service;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

const codeOf = (answer: Called): readonly [number, string] => [answer.status, errorOf(answer).code];
const pr = (number: number) => ({ pr: { number } });

describe("submitting", () => {
  it("answers the PR with the host's facts, at once", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    const head = repo.pullRequest(71, { files: { "a.txt": "1\n" }, message: "Add a\n\nBody", author: "Bo <b@x.org>" });
    expect(await queue.submit(71)).toMatchObject({
      readiness: {
        hasImpactedTargets: false,
        requiresImpactedTargets: false,
        doesBaseBranchMatch: true,
        gitHubMergeability: "MERGEABLE",
      },
      priorityValue: 100,
      priorityName: "medium",
      usedDefaultPriorityName: true,
      skipTheLine: false,
      noBatch: false,
      isCurrentlySubmittedToQueue: true,
      prNumber: 71,
      prTitle: "Add a",
      prSha: head,
      prBaseBranch: "main",
      prAuthor: "Bo",
      verifiedByTestRun: null,
      conclusion: null,
    });
    await queue.cancel(71);
  });

  it("what is not there is 404: the queue, the PR at the host, a PR that was never submitted", async () => {
    const { repo, queue } = await service.queue();
    repo.pullRequest(1);
    expect(codeOf(await queue.asks("/submitPullRequest", pr(99)))).toEqual([404, "PULL_REQUEST_NOT_FOUND"]);
    const paths = [
      "/cancelPullRequest",
      "/restartTestsOnPullRequest",
      "/getSubmittedPullRequest",
      "/explainPullRequest",
      "/getMergeQueueTestingDetails",
    ];
    for (const path of paths) expect(codeOf(await queue.asks(path, pr(1)))).toEqual([404, "PULL_REQUEST_NOT_FOUND"]);
    const byBranch = await queue.asks("/getSubmittedPullRequest", { pr: { branch: "topic" } });
    expect(codeOf(byBranch)).toEqual([404, "PULL_REQUEST_NOT_FOUND"]);
    const run = await queue.asks("/getMergeQueueTestingDetails", { testRunId: "nothing" });
    expect(codeOf(run)).toEqual([404, "TEST_RUN_NOT_FOUND"]);
  });

  it("again changes only what is sent, and keeps the entry and its place", async () => {
    const { repo, queue } = await service.queue({ settings: { state: "paused" } });
    for (const number of [1, 2]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    const first = await queue.submit(1, { priority: 50, noBatch: true });
    await queue.submit(2, { priority: 50 });
    const again = await queue.submit(1);
    expect(again).toMatchObject({ id: first.id, priorityValue: 50, priorityName: null, noBatch: true });
    expect(again.usedDefaultPriorityName).toBe(false);
    expect(await queue.submit(1, { noBatch: false })).toMatchObject({ priorityValue: 50, noBatch: false });
    expect(await queue.submit(1, { priority: "Low" })).toMatchObject({ priorityValue: 200, priorityName: "low" });
    const byDefault = await queue.submit(1, { priority: null });
    expect(byDefault).toMatchObject({ id: first.id, priorityValue: 100, usedDefaultPriorityName: true });
    await queue.submit(1, { priority: 50 });
    const order = (await queue.view()).enqueuedPullRequests.map((one) => one.prNumber);
    expect(order).toEqual([1, 2]);
  });

  it("one that failed or was cancelled is queued anew, as another entry; one that merged is 409", async () => {
    const { repo, queue } = await service.queue({
      checks: { unit: "test ! -e bad.txt" },
      settings: { retriesBeforeFailure: 0 },
    });
    repo.pullRequest(1, { files: { "bad.txt": "1\n" } });
    const first = await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("FAILED");
    repo.pullRequest(1, { files: { "good.txt": "1\n" } });
    await queue.update({ state: "paused" });
    const second = await queue.submit(1);
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ state: "NOT_READY", conclusion: null, verifiedByTestRun: null });
    await queue.cancel(1);
    const third = await queue.submit(1);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    await queue.update({ state: "running" });
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect(codeOf(await queue.asks("/submitPullRequest", pr(1)))).toEqual([409, "PULL_REQUEST_ALREADY_MERGED"]);
    const listed = (await queue.list()).pullRequests.map((one) => [one.id, one.state]);
    expect(listed).toEqual([
      [third.id, "MERGED"],
      [second.id, "CANCELLED"],
      [first.id, "FAILED"],
    ]);
  });
});

describe("cancelling and restarting", () => {
  it("cancel ends the PR in the answer itself, kills its checks, and is a no-op the second time", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    repo.pullRequest(72, { files: { "a.txt": "1\n" } });
    await queue.submit(72);
    await eventually(gate.waiting, (all) => all.includes("72"));
    const cancelled = await queue.cancel(72);
    expect(cancelled).toMatchObject({ state: "CANCELLED", conclusion: { reason: "CANCELLED_BY_USER" } });
    expect(cancelled.isCurrentlySubmittedToQueue).toBe(false);
    await eventually(gate.waiting, (all) => !all.includes("72"));
    expect((await queue.cancel(72)).id).toBe(cancelled.id);
    expect(codeOf(await queue.asks("/restartTestsOnPullRequest", pr(72)))).toEqual([409, "PULL_REQUEST_NOT_IN_QUEUE"]);
    expect((await queue.explain(72)).summary).toMatch(/CANCELLED/u);
  });

  it("restart tests the PR again on a new run, and keeps its place", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    for (const number of [73, 74]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(73);
    await queue.submit(74);
    await eventually(gate.waiting, (all) => all.includes("73") && all.includes("73,74"));
    const before = await queue.runs({ pr: { number: 73 } });
    expect((await queue.restart(73)).state).toBe("PENDING");
    const after = await eventually(
      () => queue.runs({ pr: { number: 73 } }),
      (run) => run.testRunId !== before.testRunId,
    );
    expect(after.status).toBe("IN_PROGRESS");
    expect((await queue.runs({ testRunId: before.testRunId })).status).toBe("CANCELLED");
    await queue.reaches(73, "TESTING");
    await queue.reaches(74, "TESTING");
    expect((await queue.view()).enqueuedPullRequests.map((one) => one.prNumber)).toEqual([73, 74]);
    gate.pass("73");
    gate.pass("73,74");
    expect((await queue.ends(74)).state).toBe("MERGED");
    expect((await queue.timeline(73)).map((move) => move.reason)).toContain("RESTARTED_BY_USER");
  });

  it("what has ended cannot be cancelled or restarted: merged and failed are 409, each in its words", async () => {
    const { repo, queue } = await service.queue({
      checks: { unit: "test ! -e bad.txt" },
      settings: { retriesBeforeFailure: 0 },
    });
    repo.pullRequest(1, { files: { "bad.txt": "1\n" } });
    repo.pullRequest(2, { files: { "good.txt": "1\n" } });
    await queue.submit(1);
    await queue.submit(2);
    await queue.ends(1);
    await queue.ends(2);
    expect(codeOf(await queue.asks("/cancelPullRequest", pr(1)))).toEqual([409, "PULL_REQUEST_NOT_IN_QUEUE"]);
    expect(codeOf(await queue.asks("/restartTestsOnPullRequest", pr(1)))).toEqual([409, "PULL_REQUEST_NOT_IN_QUEUE"]);
    expect(codeOf(await queue.asks("/cancelPullRequest", pr(2)))).toEqual([409, "PULL_REQUEST_ALREADY_MERGED"]);
    expect(codeOf(await queue.asks("/restartTestsOnPullRequest", pr(2)))).toEqual([409, "PULL_REQUEST_NOT_IN_QUEUE"]);
  });
});

describe("reading", () => {
  it("finds a PR by its head branch, also after it ended; the number counts where both are sent", async () => {
    const { repo, queue } = await service.queue();
    const head = repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    repo.git("update-ref", "refs/heads/topic/a#1", head);
    repo.pullRequest(2, { files: { "b.txt": "1\n" } });
    await queue.submit(1);
    await queue.submit(2);
    const byBranch = async (branch: string, number?: number) => {
      const { body } = await queue.asks("/getSubmittedPullRequest", { pr: { branch, ...(number && { number }) } });
      return body;
    };
    expect(await byBranch("topic/a#1")).toMatchObject({ prNumber: 1 });
    expect(await byBranch("topic/a#1", 2)).toMatchObject({ prNumber: 2 });
    await queue.ends(1);
    expect(await byBranch("topic/a#1")).toMatchObject({ prNumber: 1, state: "MERGED" });
    const neither = await queue.asks("/getSubmittedPullRequest", { pr: {} });
    expect([neither.status, errorOf(neither).issues?.[0]?.path]).toEqual([400, "pr"]);
  });

  it("the timeline tells every move, newest first, with its reason, cause and run", async () => {
    const { repo, queue } = await service.queue();
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    const { verifiedByTestRun } = await queue.ends(1);
    const timeline = await queue.timeline(1);
    expect(timeline.map(({ from, to, reason }) => [from, to, reason]).toReversed()).toEqual([
      [null, "NOT_READY", "SUBMITTED"],
      ["NOT_READY", "PENDING", "ADMITTED"],
      ["PENDING", "TESTING", "TEST_STARTED"],
      ["TESTING", "TESTS_PASSED", "TESTS_PASSED"],
      ["TESTS_PASSED", "MERGED", "MERGED"],
    ]);
    const times = timeline.map((move) => Date.parse(move.at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(timeline.find((move) => move.to === "TESTING")?.testRunId).toBe(verifiedByTestRun);
    expect(timeline.at(-1)?.cause).toMatch(/^user:/u);
    expect((await queue.get(1)).timeline).toBeUndefined();
  });

  it("several at once: those that were submitted, and the numbers of those that were not", async () => {
    const { repo, queue } = await service.queue({ settings: { state: "paused" } });
    for (const number of [1, 2]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(2);
    await queue.submit(1);
    const { pullRequests, notFound } = await queue.several(7, 1, 2, 1, 8);
    expect(pullRequests.map((one) => one.prNumber)).toEqual([1, 2]);
    expect(notFound).toEqual([7, 8]);
    for (const prs of [[], Array.from({ length: 51 }, (_, at) => ({ number: at + 1 }))])
      expect((await queue.asks("/getSubmittedPullRequests", { prs })).status).toBe(400);
    const fifty = await queue.several(...Array.from({ length: 50 }, (_, at) => at + 1));
    expect([fifty.pullRequests.length, fifty.notFound.length]).toEqual([2, 48]);
  });
});

describe("listing", () => {
  const ENDED = [1, 2, 3, 4, 5, 6, 7];
  const LIVE = [11, 12, 13];
  let queue: QueueClient;
  beforeAll(async () => {
    const made = await service.queue({ settings: { state: "paused" } });
    queue = made.queue;
    for (const number of [...ENDED, ...LIVE, 21, 22])
      made.repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    for (const number of [...ENDED, ...LIVE]) await queue.submit(number);
    for (const number of ENDED) {
      await queue.cancel(number);
      await eventually(
        () => queue.list({ state: "CANCELLED" }),
        (page) => page.pullRequests[0]?.prNumber === number,
      );
    }
  });

  const walk = async (
    filter: Record<string, unknown>,
    between: (page: number) => Promise<unknown> = async () => {},
  ) => {
    const pages: number[][] = [];
    let cursor: string | undefined;
    do {
      const page = await queue.list({ ...filter, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.pullRequests.map((one) => one.prNumber));
      cursor = page.nextCursor;
      await between(pages.length);
    } while (cursor !== undefined && pages.length < 50);
    return pages;
  };

  it.each([1, 2, 3, 5, 7, 9, 10, 100])(
    "in pages of %i shows each once: live ones by number, then ended, newest first",
    async (take) => {
      const pages = await walk({ take });
      expect(pages.flat()).toEqual([...LIVE, ...ENDED.toReversed()]);
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(take);
      expect(pages.length).toBeLessThanOrEqual(Math.ceil(10 / take) + 1);
    },
  );

  it.each([
    [{ state: "cancelled" }, ENDED.toReversed()],
    [{ state: "NOT_READY" }, LIVE],
    [{ state: "MERGED" }, []],
    [{ state: "TESTING" }, []],
  ])("with %j", async (filter, expected) => {
    expect((await walk({ ...filter, take: 2 })).flat()).toEqual(expected);
  });

  it("since is included and until is not, and both speak of the time of conclusion", async () => {
    const { pullRequests } = await queue.list({ state: "CANCELLED" });
    const timeOf = (number: number): string | undefined =>
      pullRequests.find((one) => one.prNumber === number)?.stateChangedAt;
    const filter = { since: timeOf(2), until: timeOf(5), take: 2 };
    expect((await walk(filter)).flat()).toEqual([4, 3, 2]);
    expect((await walk({ since: timeOf(6) })).flat()).toEqual([7, 6]);
    expect((await walk({ until: timeOf(2) })).flat()).toEqual([1]);
    expect((await walk({ since: timeOf(5), until: timeOf(5) })).flat()).toEqual([]);
  });

  it("a walk shows what was there when it began once, whatever ends or comes meanwhile", async () => {
    const seen = (
      await walk({ take: 2 }, async (page) => {
        if (page === 1) await queue.submit(21);
        if (page === 2) await queue.submit(22);
        if (page === 4) await queue.cancel(22);
      })
    ).flat();
    const old = seen.filter((number) => number < 20);
    expect(old).toEqual([...LIVE, ...ENDED.toReversed()]);
    expect(new Set(seen).size).toBe(seen.length);
    await queue.cancel(21);
  });

  it("a cursor of another query, or a damaged one, is 400", async () => {
    const { nextCursor = "" } = await queue.list({ take: 2 });
    const elsewhere = await service.queue();
    const answers = [
      await queue.asks("/listPullRequests", { take: 2, state: "MERGED", cursor: nextCursor }),
      await queue.asks("/listPullRequests", { cursor: "x" }),
      await queue.asks("/listPullRequests", { cursor: nextCursor.slice(0, -4) }),
      await elsewhere.queue.asks("/listPullRequests", { cursor: nextCursor }),
    ];
    for (const answer of answers) {
      expect(codeOf(answer)).toEqual([400, "INVALID_REQUEST"]);
      expect(errorOf(answer).issues?.[0]?.path).toBe("cursor");
    }
  });

  it.each([
    { take: 0 },
    { take: 101 },
    { take: "5" },
    { since: "yesterday" },
    { until: 5 },
    { state: "DONE" },
    { cursor: "" },
  ])("%j is 400", async (filter) => {
    expect((await queue.asks("/listPullRequests", filter)).status).toBe(400);
  });
});

describe("explaining", () => {
  it("names the blocker of every state that it passes through", async () => {
    const { repo, queue } = await service.queue({
      checks: { unit: gate.command },
      settings: { concurrency: 1, retriesBeforeFailure: 1 },
    });
    for (const number of [81, 82]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    const kinds = async (number: number) => (await queue.explain(number)).blockers.map((one) => one.kind);
    await queue.update({ state: "paused" });
    await queue.submit(81);
    expect(
      await eventually(
        () => kinds(81),
        (all) => all.includes("PAUSED"),
      ),
    ).toContain("PAUSED");
    await queue.update({ state: "running" });
    await queue.submit(82);
    await eventually(gate.waiting, (all) => all.includes("81"));
    const testing = await queue.explain(81);
    expect(testing).toMatchObject({ state: "TESTING", position: 1 });
    expect(testing.blockers[0]).toMatchObject({ kind: "TESTS" });
    expect(testing.waitsFor).toEqual(["unit"]);
    const pending = await eventually(
      () => queue.explain(82),
      (one) => one.state === "PENDING" && one.blockers.some((blocker) => blocker.kind === "SLOTS"),
    );
    expect(pending).toMatchObject({ position: 2, blockers: [{ kind: "SLOTS", prNumber: 81 }] });
    await queue.update({ concurrency: 2 });
    await eventually(gate.waiting, (all) => all.includes("81,82"));
    gate.pass("81,82");
    await queue.reaches(82, "TESTS_PASSED");
    expect((await queue.explain(82)).blockers).toMatchObject([{ kind: "PREDECESSOR", prNumber: 81 }]);
    gate.fail("81");
    const failing = await eventually(
      () => queue.explain(81),
      (one) => one.state === "PENDING_FAILURE" || one.state === "FAILED",
    );
    expect(failing.summary).toContain("unit");
    await queue.ends(81);
    const failed = await queue.explain(81);
    expect(failed).toMatchObject({
      state: "FAILED",
      position: null,
      conclusion: { reason: "TESTS_FAILED" },
      blockers: [],
    });
    expect(failed.failedRun?.statuses).toMatchObject([{ context: "unit", state: "FAILURE" }]);
    expect(failed.whatWouldMoveIt.length).toBeGreaterThan(0);
    expect(failed.notes.length).toBeGreaterThan(3);
    gate.pass("82");
    expect((await queue.ends(82)).state).toBe("MERGED");
    const reasons = (await queue.timeline(82)).map((move) => move.reason);
    expect(reasons.some((reason) => /^PREDECESSORS?_(?:LEFT|CHANGED)$/u.test(reason))).toBe(true);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
