import { afterEach, describe, expect, it } from "vitest";
import { HOUR_MS, later } from "../../../shared/kernel/time.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aQueue, aTip, id, sha, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const landing = (...numbers: readonly number[]) =>
  testing(numbers)
    .passes(...numbers)
    .forgets();

describe("a landing", () => {
  it("is sent once, with the tested commit and the tip it expects", () => {
    const queue = testing([1]).passes(1).waits(1000);
    expect(queue.outbox.filter((effect) => effect.type === "land")).toMatchObject([
      { run: "q-1", commit: "commit-q-1", tree: "tree-q-1", base: "T0", expectedTip: "T0", changes: [{ prNumber: 1 }] },
    ]);
  });

  it("is one at a time", () => {
    const queue = landing(1, 2);
    expect(queue.state.landing?.group).toEqual([id(1)]);
    expect(queue.lands().state.landing).toMatchObject({ group: [id(2)], expectedTip: "commit-q-1" });
  });

  it("whose target moved is decided anew on what is there", () => {
    const queue = landing(1).refuses({ kind: "TIP_MOVED" });
    expect(queue.effects()).toEqual(["read-tip:2"]);
    queue.answersTip("T9");
    expect(queue.moves()).toEqual(["#1 TESTS_PASSED > PENDING (MANUAL_PUSH_TO_TARGET_BRANCH)"]);
    expect(queue.effect("build-run")?.base).toBe("T9");
  });

  it("sent again after the target moved away and back is another attempt", () => {
    const queue = landing(1);
    const first = queue.state.landing?.id ?? "";
    queue.refuses({ kind: "TIP_MOVED" }).answersTip("T0");
    expect(queue.state.landing?.run).toBe("q-1");
    expect(queue.state.landing?.id).not.toBe(first);
    queue.event({ type: "not-landed", landing: first, why: { kind: "REFUSED", what: "late" } });
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED" });
  });

  it("that conflicts goes back to be tested, when the target and the facts have been read again", () => {
    const queue = landing(1).refuses({ kind: "CONFLICT", what: "a.txt" });
    expect(queue.moves()).toEqual(["#1 TESTS_PASSED > PENDING (MERGE_CONFLICT)"]);
    expect(queue.effects()).toEqual(["close-run:q-1", "read-tip:2", "read-pr:1:3"]);
    expect(queue.answersTip("T1").contents(1)).toEqual(["1"]);
  });

  it("that the host refuses makes it not ready until the host has been asked again", () => {
    const queue = landing(1).refuses({ kind: "REFUSED", what: "a review is missing" });
    expect(queue.moves()).toEqual(["#1 TESTS_PASSED > NOT_READY (LANDING_REFUSED)"]);
    expect(queue.effects()).toEqual(["close-run:q-1", "read-pr:1:2"]);
    expect(queue.facts(1, { mergeability: "MERGEABLE" }).states()).toEqual({ 1: "PENDING" });
  });

  it("refused twice in a row for the same reason has failed", () => {
    const refused = () => landing(1).refuses({ kind: "REFUSED", what: "a review is missing" });
    const again = () => refused().facts(1, { mergeability: "MERGEABLE" }).builds(1).passes(1);
    expect(again().refuses({ kind: "REFUSED", what: "a review is missing" }).entry(1)).toMatchObject({
      state: "FAILED",
      conclusion: { reason: "LANDING_REFUSED" },
    });
    expect(again().refuses({ kind: "REFUSED", what: "frozen" }).states()).toEqual({ 1: "NOT_READY" });
  });

  it("that infrastructure broke is tried again, longer and longer, on the same expectation", () => {
    const queue = landing(1).refuses({ kind: "INFRASTRUCTURE", what: "502" });
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED" });
    queue.sleeps();
    expect(queue.state.landing).toMatchObject({ attempt: 2, expectedTip: "T0", trouble: null });
    queue.refuses({ kind: "INFRASTRUCTURE", what: "502" });
    expect((queue.last?.wakeAt ?? 0) - queue.now).toBe(20_000);
  });

  it("counts when an earlier attempt's answer comes late: what landed, landed", () => {
    const queue = landing(1);
    const first = queue.state.landing?.id ?? "";
    queue.refuses({ kind: "INFRASTRUCTURE", what: "timeout" }).sleeps().lands({ landing: first });
    expect(queue.states()).toEqual({ 1: "MERGED" });
  });

  it("answered twice lands once", () => {
    const queue = landing(1, 2);
    const first = queue.state.landing?.id ?? "";
    queue.lands().lands({ landing: first, tip: aTip("commit-q-1"), entries: [id(1)] });
    expect([queue.states(), queue.state.totals.landings]).toEqual([{ 1: "MERGED", 2: "TESTS_PASSED" }, 1]);
  });

  it("begun is finished under PAUSED, also when it has to be tried again", () => {
    const queue = landing(1, 2).turns("PAUSED").refuses({ kind: "INFRASTRUCTURE", what: "502" }).sleeps();
    expect(queue.effects()).toEqual(["land:q-1.1.2"]);
    expect(queue.lands().states()).toEqual({ 1: "MERGED", 2: "TESTS_PASSED" });
    expect(queue.state.landing).toBeNull();
  });

  it("begun is finished although other statuses have become required meanwhile", () => {
    const queue = landing(1)
      .sets({ requiredStatuses: ["lint"] })
      .refuses({ kind: "INFRASTRUCTURE", what: "502" });
    expect(queue.sleeps().lands().states()).toEqual({ 1: "MERGED" });
  });

  it("begun is finished although other targets void what proved it meanwhile", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).passes(1, 2).lands();
    queue.impacts(2, "a").refuses({ kind: "INFRASTRUCTURE", what: "502" }).sleeps();
    expect(queue.state.landing?.attempt).toBe(2);
    expect(queue.lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
  });

  it("of a part of a batch is finished although the rest is one batch again meanwhile", () => {
    const queue = aQueue({ batch: true, batchingMinSize: 4, bisectionConcurrency: 2, retriesBeforeFailure: 0 })
      .opens()
      .submits(1, 2, 3, 4)
      .builds(1)
      .fails(1)
      .builds(1, 3)
      .passes(1)
      .cancels(3);
    expect([queue.state.bisections, queue.contents(4)]).toEqual([[], ["1+2+4"]]);
    queue.refuses({ kind: "INFRASTRUCTURE", what: "502" }).sleeps().lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "CANCELLED", 4: "PENDING" });
  });

  it("of an empty change moves nothing and counts all the same", () => {
    const queue = landing(1, 2)
      .lands({ tip: aTip("T0") })
      .lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED" });
    expect(queue.outbox.filter((effect) => effect.type === "build-run")).toHaveLength(2);
  });
});

describe("while it is landing", () => {
  it.each([
    ["closed", { state: "CLOSED" }, "CANCELLED"],
    ["pushed to", { headSha: sha("new") }, "CANCELLED"],
    ["retargeted", { baseBranch: "other" }, "CANCELLED"],
    ["drafted", { draft: true }, "CANCELLED"],
    ["not mergeable", { mergeability: "NOT_MERGEABLE" }, "NOT_READY"],
    ["merged", { state: "MERGED" }, "MERGED"],
  ] as const)("a PR that is %s waits for the result, and is then what it is", (_name, change, then) => {
    const queue = landing(1).facts(1, change);
    expect([queue.states(), queue.moves()]).toEqual([{ 1: "TESTS_PASSED" }, []]);
    expect(queue.refuses({ kind: "TIP_MOVED" }).states()).toEqual({ 1: then });
    expect(landing(1).facts(1, change).lands().entry(1).conclusion?.reason).toBe("MERGED");
  });

  it("a wish to cancel or to restart waits for the result as well", () => {
    const queue = landing(1).cancels(1);
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED" });
    expect(queue.refuses({ kind: "TIP_MOVED" }).states()).toEqual({ 1: "CANCELLED" });
    expect(landing(1).cancels(1).lands().states()).toEqual({ 1: "MERGED" });
    const restarted = landing(1).restarts(1).refuses({ kind: "TIP_MOVED" });
    expect(restarted.moves()).toEqual(["#1 TESTS_PASSED > PENDING (RESTARTED_BY_USER)"]);
    expect(restarted.entry(1).asked).toEqual({});
  });
});

describe("the service's own brakes", () => {
  it("LANDING_MISMATCH holds until a person clears it", () => {
    const queue = landing(1, 2).lands({ trees: "DIFFERENT" });
    expect(queue.state.holds).toMatchObject([{ kind: "LANDING_MISMATCH" }]);
    expect(queue.waitsHours(1).state.landing).toBeNull();
    expect(queue.clears().state.landing?.group).toEqual([id(2)]);
  });

  it("LANDED_ON_MOVED_TIP voids what is behind and tests the tip at once", () => {
    const queue = landing(1, 2).lands({ onMovedTip: true, tip: aTip("X") });
    expect(queue.moves()).toEqual([
      "#1 TESTS_PASSED > MERGED (MERGED)",
      "#2 TESTS_PASSED > PENDING (MANUAL_PUSH_TO_TARGET_BRANCH)",
    ]);
    expect(queue.tipRun()).toMatchObject({ base: "X", group: [], predecessors: [] });
  });

  const incomplete = () => landing(1, 2).lands({ entries: [] });

  it("a late answer about the part that landed says nothing of the rest, which is sent again", () => {
    const queue = testing([1, 2], { canOptimisticallyMerge: true }).passes(2);
    const first = queue.state.landing?.id ?? "";
    const event = { type: "landed", landing: first, tip: aTip("half"), trees: "EQUAL", entries: [id(1)] } as const;
    queue
      .event({ ...event, onMovedTip: false })
      .after(1)
      .clears();
    expect([queue.states(), queue.state.landing?.group]).toEqual([{ 1: "MERGED", 2: "TESTS_PASSED" }, [id(2)]]);
    queue.after(1).event({ ...event, onMovedTip: false });
    expect([queue.state.landing?.landed, queue.state.holds]).toEqual([false, []]);
    expect(queue.lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
  });

  it("LANDING_INCOMPLETE holds, tests the tip, and lifts itself when that passes", () => {
    const queue = incomplete();
    expect(queue.state.holds).toMatchObject([{ kind: "LANDING_INCOMPLETE" }]);
    const run = queue.tipRun()?.id ?? ("none" as never);
    queue.builtRun(run).reportsOn(run, { unit: "SUCCESS" });
    expect(queue.state.holds).toEqual([]);
    expect(queue.order().length).toBe(2);
  });

  const failedTip = () => {
    const queue = incomplete();
    const run = queue.tipRun()?.id ?? ("none" as never);
    queue.builtRun(run).reportsOn(run, { unit: "FAILURE" });
    return queue.reportsOn(run, { unit: "FAILURE" });
  };

  it("TIP_FAILED comes after the repeat as well, and judges nobody", () => {
    const queue = failedTip();
    expect(queue.state.holds.map((hold) => hold.kind)).toEqual(["LANDING_INCOMPLETE", "TIP_FAILED"]);
    expect(queue.state.totals.repeats).toBe(1);
    expect(Object.values(queue.states())).not.toContain("FAILED");
  });

  it("TIP_FAILED keeps whoever fails meanwhile from being judged, until it is cleared", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 })
      .passes(1)
      .lands({ onMovedTip: true, tip: aTip("X") });
    const tip = queue.tipRun()?.id ?? ("none" as never);
    queue.builds(2).builtRun(tip).reportsOn(tip, { unit: "FAILURE" }).fails(2);
    expect(queue.states()[2]).toBe("PENDING_FAILURE");
    expect(queue.explains(2).blockers).toMatchObject([{ kind: "TIP_FAILED" }]);
    expect(queue.clears().states()[2]).toBe("FAILED");
  });

  it("TIP_FAILED lifts when a later tip passes", () => {
    const queue = failedTip().pushes("T7");
    const run = queue.tipRun();
    expect(run?.base).toBe("T7");
    queue.builtRun(run?.id ?? ("none" as never)).reportsOn(run?.id ?? ("none" as never), { unit: "SUCCESS" });
    expect(queue.state.holds).toEqual([]);
  });

  it("nothing lands in the very step in which the tip fails", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 })
      .passes(1)
      .lands({ onMovedTip: true, tip: aTip("X") });
    const tip = queue.tipRun()?.id ?? ("none" as never);
    const window = { id: "w", action: "PAUSE", reason: null, allowUrgent: false, startsAt: queue.now } as const;
    queue
      .builds(2)
      .builtRun(tip)
      .configures({ windows: [{ ...window, endsAt: later(queue.now, HOUR_MS) }] })
      .passes(2);
    // The window ends and the tip fails at once: neither was known to the step before.
    queue.after(HOUR_MS).reportsOn(tip, { unit: "FAILURE" });
    expect([queue.state.landing, queue.states()[2]]).toEqual([null, "TESTS_PASSED"]);
    expect(queue.clears().state.landing?.group).toEqual([id(2)]);
  });

  it("a test of the tip without a verdict waits before it is tried again", () => {
    const queue = incomplete();
    const first = queue.tipRun()?.id ?? ("none" as never);
    queue.event({ type: "run-broken", run: first, what: "no runner" });
    expect(queue.tipRun()).toBeUndefined();
    expect((queue.last?.wakeAt ?? 0) - queue.now).toBe(10_000);
    expect(queue.sleeps().tipRun()?.id).not.toBe(first);
  });

  it("TARGET_MISSING holds until it is back; what was tested on it stands if it is the same", () => {
    const queue = testing([1]).event({ type: "news", prNumbers: [], tip: { sha: null } });
    queue.event({ type: "tip-missing", read: queue.state.tipRead ?? -1, what: "there is no branch main" });
    expect(queue.state.holds).toMatchObject([{ kind: "TARGET_MISSING" }]);
    expect(queue.passes(1).state.landing).toBeNull();
    queue.pushes("T0");
    expect([queue.state.holds, queue.state.landing?.run]).toEqual([[], "q-1"]);
  });
});

describe("a target that somebody else moves", () => {
  it("voids every run and every verdict that is not built on the new tip", () => {
    const queue = testing([1, 2, 3]).passes(2).fails(3).forgets().pushes("T1");
    expect(queue.moves()).toEqual([
      "#1 TESTING > PENDING (MANUAL_PUSH_TO_TARGET_BRANCH)",
      "#2 TESTS_PASSED > PENDING (MANUAL_PUSH_TO_TARGET_BRANCH)",
      "#3 PENDING_FAILURE > PENDING (MANUAL_PUSH_TO_TARGET_BRANCH)",
    ]);
    expect([1, 2, 3].flatMap((number) => queue.contents(number))).toEqual(["1", "1+2", "1+2+3"]);
  });

  it("forced back to before a landing of ours voids as well", () => {
    const queue = landing(1, 2, 3).lands().refuses({ kind: "TIP_MOVED" }).answersTip("T0");
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "PENDING", 3: "PENDING" });
  });

  it("holds back every start and landing from the news to the answer", () => {
    const queue = testing([1]).event({ type: "news", prNumbers: [], tip: { sha: sha("T1") } });
    queue.passes(1).submits(2);
    expect([queue.state.landing, queue.runs(2)]).toEqual([null, []]);
  });

  it("is read again when it moves while it is being read", () => {
    const queue = testing([1]).event({ type: "news", prNumbers: [], tip: { sha: sha("T1") } });
    const first = queue.state.tipRead ?? -1;
    queue.event({ type: "news", prNumbers: [], tip: { sha: sha("T2") } });
    queue.event({ type: "tip", read: first, tip: aTip("T1"), reached: [] });
    expect([queue.state.tip?.sha, queue.state.tipDoubted]).toEqual(["T0", true]);
    expect(queue.answersTip("T2").state.tip?.sha).toBe("T2");
  });

  it("with a queued PR in it ends that one as merged by hand, and voids the rest", () => {
    const queue = testing([1, 2]).pushes("T1", ["head2"]);
    expect(queue.entry(2).conclusion?.reason).toBe("MERGED_BY_HAND");
    expect(queue.contents(1)).toEqual(["1"]);
    expect(queue.run(1)).toMatchObject({ base: "T1", phase: "BUILDING" });
  });

  it("a stale answer to a read changes nothing", () => {
    const queue = testing([1]);
    const { state } = queue;
    queue
      .event({ type: "tip", read: 0, tip: aTip("T5"), reached: [] })
      .event({ type: "tip-missing", read: 0, what: "?" });
    expect(queue.state).toEqual(state);
  });

  it("an unread target admits nobody", () => {
    const queue = aQueue().submits(1);
    expect([queue.states(), queue.explains(1).blockers[0]?.kind]).toEqual([{ 1: "NOT_READY" }, "TARGET_UNKNOWN"]);
  });
});
