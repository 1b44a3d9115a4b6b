import { afterEach, describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aQueue, aTip, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const tipOf = (queue: ScriptedQueue) => queue.tipRun()?.id ?? ("none" as never);

describe("a test of the tip", () => {
  it("contains nothing and leaves nobody out, and is noted with the reason for it", () => {
    const queue = testing([1, 2])
      .passes(1)
      .lands({ onMovedTip: true, tip: aTip("X") });
    expect(queue.tipRun()).toMatchObject({ group: [], predecessors: [], assumedOut: [], branch: "mainline/tip/q-3" });
    expect(queue.last?.notes).toMatchObject([{ entry: null }]);
    expect(queue.last?.notes[0]?.text).toMatch(/^testing the tip: /u);
  });

  it("takes a slot of those that are there, and waits for one", () => {
    const queue = testing([1, 2], { concurrency: 1 }).passes(1).lands({ entries: [] });
    expect([queue.contents(2), queue.tipRun()]).toEqual([["1+2"], undefined]);
    queue.builds(2).passes(2);
    expect(queue.tipRun()).toMatchObject({ phase: "BUILDING", kind: "TIP" });
    expect(queue.submits(3).runs(3)).toEqual([]);
  });

  it("is one at a time", () => {
    const queue = testing([1], { concurrency: 5 })
      .passes(1)
      .lands({ onMovedTip: true, tip: aTip("X") });
    queue.state = { ...queue.state, tipTestDue: "and once more" };
    queue.waits(MINUTE_MS);
    expect([...queue.state.runs.values()].filter((run) => run.kind === "TIP")).toHaveLength(1);
    expect(queue.state.tipTestDue).toBe("and once more");
  });

  it("is not started on a target that is not there", () => {
    const queue = testing([1])
      .passes(1)
      .lands({ onMovedTip: true, tip: aTip("X") });
    queue.event({ type: "run-broken", run: tipOf(queue), what: "no runner" });
    queue.event({ type: "news", prNumbers: [], tip: { sha: null } });
    queue.event({ type: "tip-missing", read: queue.state.tipRead ?? -1, what: "there is no branch main" });
    expect(queue.waits(MINUTE_MS).tipRun()).toBeUndefined();
    expect(queue.pushes("X").tipRun()).toMatchObject({ base: "X" });
  });
});

describe("a repeat", () => {
  it("begins with what is repeated open again, and nothing else", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"] });
    queue.reports(1, { unit: "FAILURE", lint: "SUCCESS" });
    expect(queue.run(1)).toMatchObject({ phase: "REPEATING", repeats: 1, complete: false, endedAt: null });
    expect(queue.run(1).statuses).toEqual([
      { context: "unit", state: "PENDING", url: null, description: null },
      { context: "lint", state: "SUCCESS", url: null, description: null },
    ]);
  });

  it("has a time of its own, at the end of which the host is asked again, or none", () => {
    const queue = testing([1], { testingTimeoutMinutes: 30 }).waits(30 * MINUTE_MS);
    queue.reports(1, {}, { complete: false, readAt: queue.now }).forgets();
    expect(queue.run(1)).toMatchObject({ repeats: 1, lateRead: "NONE", deadline: queue.now + 30 * MINUTE_MS });
    expect(queue.waits(30 * MINUTE_MS).effects()).toEqual(["read-statuses:q-1:1"]);
    expect(testing([1], { testingTimeoutMinutes: 0 }).fails(1).run(1)).toMatchObject({ repeats: 1, deadline: null });
  });

  it("waits while the queue is paused, and for a slot", () => {
    const queue = testing([1]).turns("PAUSED").fails(1);
    expect([queue.effects(), queue.run(1).phase]).toEqual([[], "FAILED"]);
    expect(queue.turns("RUNNING").effects()).toEqual(["repeat:q-1:1"]);
    const full = testing([1, 2, 3], { concurrency: 3 }).sets({ concurrency: 2 }).fails(1);
    expect([full.effects(), full.run(1).phase]).toEqual([[], "FAILED"]);
    expect(full.passes(2).effects()).toEqual(["repeat:q-1:1"]);
  });
});

describe("a test that may clear a failure", () => {
  it("is started while that is repeated, with the next free slot", () => {
    const queue = testing([1, 2], { canOptimisticallyMerge: true, pendingFailureDepth: 2, concurrency: 1 }).fails(1);
    expect([queue.run(1).phase, queue.runs(2)]).toEqual(["REPEATING", []]);
    expect(queue.sets({ concurrency: 2 }).contents(2)).toEqual(["1+2"]);
  });

  it("is not started for one that has not failed, whatever its older tests say", () => {
    const queue = testing([1, 2], { canOptimisticallyMerge: true, pendingFailureDepth: 2, concurrency: 5 });
    expect(queue.passes(1).lands().contents(2)).toEqual(["e1+2"]);
  });
});

describe("a test that is there already", () => {
  it("is none on what is likely now where it left out one that is likely again", () => {
    const queue = testing([1, 2], { concurrency: 3 }).fails(2).submits(3);
    expect(queue.contents(3)).toEqual(["1+3"]);
    expect(queue.passes(2).contents(3)).toEqual(["1+3", "1+2+3"]);
  });

  it("is none where it holds one that it need not hold, and that has failed", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").brings(3, "a b").builds(1, 2, 3);
    expect(queue.impacts(3, "b").contents(3)).toEqual(["1+2+3"]);
    expect(queue.fails(1).contents(3)).toEqual(["1+2+3", "2+3"]);
  });

  it("ends as failed where it had failed, and as cancelled where it was still in progress", () => {
    const queue = testing([1, 2, 3], { retriesBeforeFailure: 0 }).fails(2).cancels(1);
    const ended = queue.last?.endedRuns.map((one) => `${one.run.id} ${one.outcome}`);
    expect(ended).toEqual(["q-1 CANCELLED", "q-2 FAILED", "q-3 CANCELLED", "q-4 CANCELLED"]);
    expect(queue.state.totals).toMatchObject({ runsFailed: 1, runsCancelled: 3 });
  });
});

describe("slots", () => {
  it("are not exceeded by one that failed and goes on, because what failed runs again", () => {
    const queue = testing([1, 2, 3], { concurrency: 3, retriesBeforeFailure: 0 }).fails(3).sets({ concurrency: 2 });
    queue.reports(3, { unit: "PENDING" }, { complete: false });
    expect(queue.states()).toEqual({ 1: "TESTING", 2: "TESTING", 3: "TESTING" });
  });
});

describe("what the plan starts", () => {
  it("is asked for with all that is needed to build it, and keeps it all", () => {
    const queue = aQueue({ mergeMethod: "REBASE" }).opens().submits(1, 2);
    expect(queue.effect("build-run")).toEqual({
      type: "build-run",
      key: "build-run:q-2",
      run: "q-2",
      base: "T0",
      branch: "mainline/pr-2/q-2",
      changes: [1, 2].map((number) => ({
        entry: `e${number}`,
        prNumber: number,
        headSha: `head${number}`,
        title: `Change ${number}`,
        author: { name: "Ann", email: "ann@example.org" },
        date: queue.entry(number).submittedAt,
      })),
      mergeMethod: "REBASE",
      required: ["unit"],
    });
    expect(queue.run(2)).toEqual({
      id: "q-2",
      kind: "MAIN",
      group: ["e2"],
      predecessors: ["e1"],
      assumedOut: [],
      base: "T0",
      landingsBefore: 0,
      phase: "BUILDING",
      branch: "mainline/pr-2/q-2",
      commit: null,
      tree: null,
      required: ["unit"],
      requiredSource: "CONFIG_FILE",
      startedAt: queue.now,
      testingSince: null,
      deadline: null,
      lateRead: "NONE",
      statuses: [],
      complete: false,
      repeats: 0,
      failure: null,
      endedAt: null,
    });
    expect([queue.entry(2).lastRun, queue.entry(2).place]).toEqual(["q-2", 1]);
    expect(queue.state.totals).toMatchObject({ runsStarted: 2, bisectionRunsStarted: 0, batches: 0 });
  });
});
