import { afterEach, describe, expect, it } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";
import type { HostTrouble } from "../../../shared/queue/engine/types.ts";
import { aPullRequest, aQueue, type ScriptedQueue, sha, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const unknown = (queue: ScriptedQueue, kind: HostTrouble["kind"]) =>
  queue.event({ type: "pull-request-unknown", prNumber: 1, kind, what: "no answer" });

describe("once admitted, the host's facts cancel", () => {
  it.each([
    ["PULL_REQUEST_CLOSED", { state: "CLOSED" }],
    ["PULL_REQUEST_PUSHED", { headSha: sha("new") }],
    ["PULL_REQUEST_RETARGETED", { baseBranch: "other" }],
    ["PULL_REQUEST_DRAFTED", { draft: true }],
  ] as const)("%s", (reason, change) => {
    const queue = testing([1, 2]).facts(1, change);
    expect(queue.entry(1)).toMatchObject({ state: "CANCELLED", conclusion: { reason } });
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("PULL_REQUEST_GONE", () => {
    const queue = unknown(testing([1]), "NOT_FOUND");
    expect(queue.entry(1)).toMatchObject({ state: "CANCELLED", conclusion: { reason: "PULL_REQUEST_GONE" } });
  });

  it("merged by hand ends as merged", () => {
    const queue = testing([1]).facts(1, { state: "MERGED" });
    expect(queue.entry(1)).toMatchObject({ state: "MERGED", conclusion: { reason: "MERGED_BY_HAND" } });
  });
});

describe("merged by hand into another branch", () => {
  const elsewhere = { state: "MERGED", baseBranch: "release" } as const;

  it.each([
    ["while it is tested", () => testing([1])],
    ["while it is not ready", () => aQueue().submits(1).facts(1, { draft: true }).answersTip("T0")],
  ])("%s, it is not said to be on the target", (_when, queue) => {
    expect(queue().facts(1, elsewhere).entry(1)).toMatchObject({
      state: "CANCELLED",
      conclusion: { reason: "PULL_REQUEST_RETARGETED", message: "it was merged into release by hand" },
    });
  });
});

describe("one that is not mergeable any more", () => {
  it("gives up its place, and comes back behind those who kept theirs", () => {
    const queue = testing([1, 2]).facts(1, { mergeability: "NOT_MERGEABLE", obstacle: "a review was withdrawn" });
    expect(queue.moves()).toEqual([
      "#1 TESTING > NOT_READY (READINESS_LOST)",
      "#2 TESTING > PENDING (PREDECESSOR_LEFT)",
    ]);
    expect(queue.facts(1, { mergeability: "MERGEABLE" }).order()).toEqual([2, 1]);
  });

  it("is asked again once when that was judged on another target", () => {
    const queue = testing([1]);
    queue.facts(1, { mergeability: "NOT_MERGEABLE", judgedOn: sha("T-old") }).answersTip("T0");
    expect(queue.states()).toEqual({ 1: "TESTING" });
    expect(queue.effects().filter((key) => key.startsWith("read-pr"))).toHaveLength(1);
    expect(queue.waits(1000).effects()).toEqual([]);
  });
});

describe("a pull request of a fork, whose author may not write", () => {
  it("is not followed to a head that whoever submitted it has not seen", () => {
    const queue = aQueue().submits(1).facts(1, { draft: true, fromFork: true }).answersTip("T0");
    queue.facts(1, { headSha: sha("new"), draft: false, fromFork: true });
    expect(queue.entry(1)).toMatchObject({
      state: "CANCELLED",
      headSha: "head1",
      conclusion: { reason: "PULL_REQUEST_PUSHED" },
    });
  });

  it("is waited for at the head that it was submitted with", () => {
    const queue = aQueue().submits(1).facts(1, { draft: true, fromFork: true }).answersTip("T0");
    expect(queue.facts(1, { draft: false, fromFork: true }).entry(1)).toMatchObject({ state: "PENDING" });
  });
});

describe("while it is not ready", () => {
  const notReady = () => aQueue().submits(1).facts(1, { draft: true }).answersTip("T0").forgets();

  it("a push pins the new head", () => {
    const queue = notReady().facts(1, { headSha: sha("new"), draft: false });
    expect(queue.entry(1)).toMatchObject({ headSha: "new", state: "PENDING", targets: null });
  });

  it("retargeting to the queue's branch makes it ready", () => {
    const queue = aQueue()
      .submitsWith(1, { pr: aPullRequest(1, { baseBranch: "other" }) })
      .answersTip("T0");
    expect(queue.explains(1).blockers[0]).toMatchObject({ kind: "BASE_BRANCH_DIFFERS" });
    expect(queue.facts(1, { baseBranch: "main" }).states()).toEqual({ 1: "PENDING" });
  });

  it("all that is missing is said at once", () => {
    const queue = notReady().facts(1, { mergeability: "NOT_MERGEABLE", baseBranch: "other" });
    expect(queue.explains(1).blockers.map((one) => one.kind)).toEqual([
      "BASE_BRANCH_DIFFERS",
      "DRAFT",
      "NOT_MERGEABLE",
    ]);
  });

  it("a host that is still working it out is asked again after ten seconds", () => {
    const queue = notReady().facts(1, { draft: false, mergeability: "IN_PROGRESS" });
    expect((queue.last?.wakeAt ?? 0) - queue.now).toBe(10 * SECOND_MS);
    queue.sleeps();
    expect(queue.effects()).toEqual(["read-pr:1:2"]);
  });
});

describe("a host that does not answer", () => {
  it("is asked again after ten seconds, doubling to ten minutes", () => {
    const queue = aQueue().submitsWith(1, { pr: null, factsAt: null });
    const waits: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      unknown(queue, "UNREACHABLE");
      waits.push(((queue.last?.wakeAt ?? 0) - queue.now) / SECOND_MS);
      queue.sleeps();
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600]);
    expect(queue.effects()).toHaveLength(8);
  });

  it("that is not connected is asked every ten minutes", () => {
    const queue = unknown(aQueue().submitsWith(1, { pr: null, factsAt: null }), "NOT_CONNECTED");
    for (let count = 0; count < 3; count += 1) {
      expect((queue.last?.wakeAt ?? 0) - queue.now).toBe(10 * MINUTE_MS);
      queue.sleeps();
    }
    expect(queue.explains(1).blockers[0]?.kind).toBe("HOST_NOT_CONNECTED");
  });

  it("harms nobody that is admitted, and is asked again about it", () => {
    const queue = unknown(testing([1]), "UNREACHABLE").sleeps();
    expect([queue.states(), queue.effects()]).toEqual([{ 1: "TESTING" }, ["read-pr:1:1"]]);
  });
});

describe("facts", () => {
  it("read earlier and told later are stale", () => {
    const queue = testing([1]).facts(1, { title: "New" });
    const facts = aPullRequest(1, { state: "CLOSED" });
    queue.after(1000).event({ type: "pull-request", prNumber: 1, facts, readAt: queue.entry(1).submittedAt });
    expect(queue.states()).toEqual({ 1: "TESTING" });
  });

  it("judged on a target that nobody told us of make us look", () => {
    const queue = testing([1]).facts(1, { judgedOn: sha("T9") });
    expect(queue.effects()).toEqual(["read-tip:1"]);
  });

  it("of PRs that are not in the queue are not asked for", () => {
    expect(
      testing([1])
        .event({ type: "news", prNumbers: [1, 2], tip: null })
        .effects(),
    ).toEqual(["read-pr:1:1"]);
  });
});

describe("requests", () => {
  it("to cancel end it wherever it is", () => {
    const queue = testing([1, 2], { concurrency: 2 }).submits(3).passes(2).cancels(1).cancels(2).cancels(3);
    expect(queue.states()).toEqual({ 1: "CANCELLED", 2: "CANCELLED", 3: "CANCELLED" });
    expect([queue.state.runs.size, queue.entry(1).conclusion?.message]).toEqual([0, "cancelled by bob"]);
  });

  it("to restart test it again, in its place", () => {
    const queue = testing([1, 2]).restarts(1);
    expect(queue.moves()).toEqual(["#1 TESTING > PENDING (RESTARTED_BY_USER)"]);
    expect([queue.effects(), queue.order()]).toEqual([
      ["close-run:q-1", "build-run:q-3"],
      [1, 2],
    ]);
    expect(queue.state.totals.restarts).toBe(1);
  });

  it("to restart help one that waits for its infrastructure", () => {
    expect(testing([1]).breaks(1).restarts(1).contents(1)).toEqual(["1"]);
  });

  it("that are doubled or about somebody unknown change nothing", () => {
    const queue = testing([1]);
    const { state } = queue;
    queue.event({ type: "submitted", entry: { ...queue.entry(1) } });
    queue.event({ type: "asked", entry: "nobody" as never, asked: { cancel: { by: "bob", at: queue.now } } });
    expect(queue.state).toEqual(state);
  });

  it("survive in the entry when the message about them is lost", () => {
    const queue = testing([1]);
    const asked = { cancel: { by: "bob", at: queue.now } };
    queue.state = { ...queue.state, entries: new Map([[queue.entry(1).id, { ...queue.entry(1), asked }]]) };
    expect(queue.waits(1).states()).toEqual({ 1: "CANCELLED" });
  });
});
