import { afterEach, describe, expect, it } from "vitest";
import { HOUR_MS, later, SECOND_MS } from "../../../shared/kernel/time.ts";
import type { QueueEvent } from "../../../shared/queue/engine/types.ts";
import { aPullRequest, aQueue, aSubmission, aTip, id, type ScriptedQueue, sha, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const unknown = (queue: ScriptedQueue, kind: "UNREACHABLE" | "NOT_CONNECTED") =>
  queue.event({ type: "pull-request-unknown", prNumber: 1, kind, what: "no answer" });
const news = (of: string | null, prNumbers: readonly number[] = []): QueueEvent => ({
  type: "news",
  prNumbers,
  tip: { sha: of === null ? null : sha(of) },
});
const whys = (queue: ScriptedQueue): readonly string[] =>
  (queue.last?.endedRuns ?? []).map((one) => `${one.run.id} ${one.outcome}: ${one.why}`);

describe("a second submission of a pull request", () => {
  it("under another name changes nothing while the first is live", () => {
    const queue = testing([1]);
    const { state } = queue;
    queue.event({ type: "submitted", entry: aSubmission(1, queue.now, { id: id(7) }) });
    expect(queue.state).toEqual(state);
  });
});

describe("news of the target", () => {
  it("that names the tip as it is known says nothing, and without a name is looked into", () => {
    const queue = testing([1]).event(news("T0"));
    expect([queue.effects(), queue.state.tipDoubted]).toEqual([[], false]);
    expect(queue.event(news("T1")).effects()).toEqual(["read-tip:1"]);
    expect(testing([1]).event(news(null)).effects()).toEqual(["read-tip:1"]);
  });

  it("that names the tip as it is known says that it is back, where it was missing, and not where anything else is wrong", () => {
    const missing = testing([1]).event(news(null));
    missing.event({ type: "tip-missing", read: missing.state.tipRead ?? -1, what: "gone" }).forgets();
    expect([missing.state.tipDoubted, missing.state.tipRead]).toEqual([false, null]);
    expect(missing.waitsHours(1).effects()).toEqual([]);
    expect(missing.event(news("T0")).effects()).toEqual(["read-tip:2"]);
    const held = testing([1, 2]).passes(1).lands({ trees: "DIFFERENT" }).forgets();
    expect(held.event(news("commit-q-1")).effects()).toEqual([]);
  });

  it("after which the tip is as it was keeps what was carried to it", () => {
    const queue = testing([1, 2]).passes(1).lands().forgets().event(news(null)).answersTip("commit-q-1");
    expect([queue.moves(), queue.contents(2)]).toEqual([[], ["e1+2"]]);
    expect(queue.state.lineage).toHaveLength(1);
  });

  it("has the tip tested where it may mend what holds the queue, and only there", () => {
    const incomplete = testing([1, 2]).passes(1).lands({ entries: [] });
    const first = incomplete.tipRun()?.id ?? ("none" as never);
    incomplete.builtRun(first).reportsOn(first, { unit: "FAILURE" }).reportsOn(first, { unit: "FAILURE" });
    expect(incomplete.tipRun()).toBeUndefined();
    expect(incomplete.pushes("T7").tipRun()).toMatchObject({ base: "T7" });
    const different = testing([1, 2]).passes(1).lands({ trees: "DIFFERENT" });
    expect(different.pushes("T7").tipRun()).toBeUndefined();
  });

  it("is told of whoever it brought by another's hand, and that is forgotten when it is done", () => {
    const queue = testing([1, 2]).pushes("T1", ["head2", "somebody"]);
    expect(queue.states()[2]).toBe("MERGED");
    expect(queue.state.reached).toBeUndefined();
  });
});

describe("facts of a pull request", () => {
  it("read at the same time as those that are known are taken, and older ones are not", () => {
    const queue = aQueue().opens().submits(1);
    const { now } = queue;
    const told = (title: string, readAt: number): QueueEvent => ({
      type: "pull-request",
      prNumber: 1,
      facts: aPullRequest(1, { title }),
      readAt: readAt as never,
    });
    expect(queue.event(told("same time", now)).entry(1).pr?.title).toBe("same time");
    expect(queue.event(told("older", now - 1)).entry(1).pr?.title).toBe("same time");
  });

  it("judged on another target than the known one have that read, and on the known one not", () => {
    expect(
      testing([1])
        .facts(1, { judgedOn: sha("T0") })
        .effects(),
    ).toEqual([]);
    expect(
      testing([1])
        .facts(1, { judgedOn: sha("T1") })
        .effects(),
    ).toEqual(["read-tip:1"]);
  });

  it("that are still being worked out are asked for again, later and later", () => {
    const queue = aQueue().opens().submits(1).facts(1, { mergeability: "IN_PROGRESS" });
    expect(queue.entry(1).trouble).toEqual({
      kind: "UNREACHABLE",
      what: "it is still working out whether the pull request can be merged",
      count: 1,
      retryAt: later(queue.now, 10 * SECOND_MS),
    });
    queue.sleeps();
    expect(queue.entry(1).trouble).toMatchObject({ count: 2, retryAt: later(queue.now, 20 * SECOND_MS) });
    expect(queue.facts(1, { mergeability: "MERGEABLE" }).entry(1).trouble).toBeNull();
  });

  it("that cannot be had count once for each time that they were asked for, each kind for itself", () => {
    const queue = unknown(unknown(aQueue().opens().submits(1), "UNREACHABLE"), "UNREACHABLE");
    expect(queue.entry(1).trouble).toMatchObject({ kind: "UNREACHABLE", count: 1 });
    const first = queue.entry(1).trouble?.retryAt ?? queue.now;
    unknown(queue.after(first - queue.now), "UNREACHABLE");
    expect(queue.entry(1).trouble?.count).toBeGreaterThan(1);
    expect(unknown(queue, "NOT_CONNECTED").entry(1).trouble).toMatchObject({ kind: "NOT_CONNECTED", count: 1 });
  });
});

describe("an answer about a build", () => {
  it("that comes again, or too late, changes nothing", () => {
    const queue = testing([1]);
    const { state } = queue;
    const late = queue.after(1000);
    late.event({ type: "run-built", run: "q-1" as never, commit: sha("other"), tree: "other" as never });
    late.event({ type: "run-not-built", run: "q-1" as never, why: { kind: "OWN", entry: id(1), what: "empty" } });
    expect(late.state).toEqual(state);
    expect(late.event({ type: "run-built", run: "q-9" as never, commit: sha("x"), tree: "x" as never }).state).toBe(
      late.state,
    );
  });

  it("keeps in words what broke", () => {
    const queue = aQueue().opens().submits(1).cannotBuild(1, { kind: "INFRASTRUCTURE", what: "502" });
    expect(queue.entry(1).broken).toMatchObject({ what: "502", count: 1 });
    expect(whys(queue)).toEqual(["q-1 CANCELLED: no verdict: 502"]);
  });

  it.each([
    ["of one that it does not hold", { kind: "OWN", entry: id(2), what: "empty" }],
    ["of one that is not known", { kind: "OWN", entry: id(9), what: "empty" }],
    ["with one that it does not hold", { kind: "CONFLICT", entry: id(1), with: id(2), paths: [] }],
    ["with itself", { kind: "CONFLICT", entry: id(1), with: id(1), paths: [] }],
  ] as const)("that says something %s is as none: it is built again later", (_, why) => {
    const queue = aQueue().opens().submits(1, 2).cannotBuild(1, why);
    expect(queue.states()).toEqual({ 1: "PENDING", 2: "PENDING" });
    expect(queue.entry(1)).toMatchObject({ broken: { count: 1 }, conflictsWith: null });
    expect(queue.sleeps().runs(1)).toHaveLength(1);
  });

  it("that says that one ahead has a fault of its own is as none where that one was built before", () => {
    const queue = aQueue().opens().submits(1, 2).builds(1);
    queue.cannotBuild(2, { kind: "OWN", entry: id(1), what: "empty" });
    expect([queue.states(), queue.entry(2).broken?.what]).toEqual([{ 1: "TESTING", 2: "PENDING" }, "empty"]);
  });

  it("ends its run as cancelled, in words", () => {
    const conflict = aQueue().opens().submits(1, 2);
    conflict.cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    expect(whys(conflict)).toEqual(["q-2 CANCELLED: PR #2 conflicts in text"]);
    const paths = Array.from({ length: 12 }, (_, at) => `f${at}`);
    const target = aQueue()
      .opens()
      .submits(1)
      .cannotBuild(1, { kind: "CONFLICT", entry: id(1), with: null, paths });
    expect(whys(target)).toEqual(["q-1 CANCELLED: PR #1 conflicts in text"]);
    expect(target.entry(1).pr).toMatchObject({
      judgedOn: "T0",
      obstacle: "it conflicts with main in f0, f1, f2, f3, f4, f5, f6, f7, f8, f9: rebase it and push",
    });
    const own = aQueue()
      .opens()
      .submits(1)
      .cannotBuild(1, { kind: "OWN", entry: id(1), what: "empty" });
    expect(whys(own)).toEqual(["q-1 CANCELLED: empty"]);
  });
});

describe("what is told of a run that has its verdict", () => {
  it("changes nothing once it has passed", () => {
    const queue = testing([1, 2]).passes(2);
    const { state } = queue;
    queue.reportsOn("q-2" as never, { unit: "FAILURE" }).event({ type: "run-broken", run: "q-2" as never, what: "?" });
    expect(queue.state).toEqual(state);
  });

  it("is not that it broke, once it has failed", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2);
    const { state } = queue;
    expect(queue.event({ type: "run-broken", run: "q-2" as never, what: "?" }).state).toEqual(state);
  });

  it("answers the question after the deadline only if it was read after that", () => {
    const queue = testing([1], { testingTimeoutMinutes: 60 }).waits(HOUR_MS);
    queue.reports(1, {}, { complete: false });
    expect(queue.run(1).lateRead).toBe("ASKED");
    const none = testing([1], { testingTimeoutMinutes: 0 }).reports(
      1,
      {},
      { complete: false, readAt: later(0 as never, 1) },
    );
    expect(none.run(1).lateRead).toBe("NONE");
  });
});

describe("one of a batch that is not ready any more", () => {
  it("ends the test of all, as cancelled, and the others learn why", () => {
    const queue = aQueue({ batch: true, batchingMinSize: 2 }).opens().submits(1, 2).builds(1).forgets();
    queue.facts(1, { mergeability: "NOT_MERGEABLE" });
    expect(whys(queue)).toEqual(["q-1 CANCELLED: PR #1, tested together with it, is not ready any more"]);
    expect(queue.moves()).toEqual(["#1 TESTING > NOT_READY (READINESS_LOST)", "#2 TESTING > PENDING (BATCH_CHANGED)"]);
    expect(queue.last?.moves.map((move) => move.cause)).toEqual(["host", "host"]);
  });
});

describe("what is out of date", () => {
  it("is asked again once for each tip while it is not ready", () => {
    const queue = aQueue()
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { mergeability: "NOT_MERGEABLE", judgedOn: sha("T-old") }) });
    const reads = () => queue.effects().filter((key) => key.startsWith("read-pr"));
    expect([reads().length, queue.waits(1000).states(), reads()]).toEqual([1, { 1: "NOT_READY" }, []]);
    queue.pushes("T1");
    expect(reads()).toHaveLength(1);
    const mergeable = aQueue()
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { judgedOn: sha("T-old") }) });
    expect(mergeable.effects()).toEqual(["build-run:q-1"]);
  });

  it("of two that conflict is asked again when the first has landed, and waits for the answer", () => {
    const queue = aQueue()
      .opens()
      .submits(1)
      .submitsWith(2, { pr: aPullRequest(2, { judgedOn: sha("T0") }) });
    queue
      .cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] })
      .builds(1)
      .passes(1)
      .forgets();
    queue.lands({ tip: aTip("T1") });
    expect(queue.effects()).toEqual(["close-run:q-1", "read-pr:2:2", "build-run:q-3"]);
    expect(queue.entry(2)).toMatchObject({ conflictsWith: "e1", askedAgainFor: "T1" });
  });

  it("does not time out while the queue admits nobody", () => {
    const queue = aQueue({ notReadyTimeoutHours: 3 }).opens().turns("DRAINING").waitsHours(5).turns("RUNNING");
    queue.submitsWith(1, { pr: aPullRequest(1, { draft: true }) }).waitsHours(1);
    queue
      .turns("DRAINING")
      .waitsHours(9)
      .turns("RUNNING")
      .waits(2 * HOUR_MS - 1001);
    expect(queue.states()).toEqual({ 1: "NOT_READY" });
    expect(queue.waits(1001).states()).toEqual({ 1: "CANCELLED" });
  });
});
