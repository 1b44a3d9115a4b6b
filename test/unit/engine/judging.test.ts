import { afterEach, describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { aTip, id, type ScriptedQueue, status, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

/** #1 landed on a target that somebody had moved: the tip is tested, and #2 is tested on it. */
const tipTested = (): ScriptedQueue =>
  testing([1, 2], { retriesBeforeFailure: 0 })
    .passes(1)
    .lands({ onMovedTip: true, tip: aTip("X") })
    .builds(2)
    .forgets();
const tipOf = (queue: ScriptedQueue) => queue.tipRun()?.id ?? ("none" as never);

describe("a test of the tip", () => {
  it("is made again on the next tip where somebody else moves the target under it", () => {
    const queue = tipTested();
    const first = tipOf(queue);
    queue.pushes("Y");
    expect(queue.tipRun()).toMatchObject({ base: "Y", phase: "BUILDING" });
    expect(tipOf(queue)).not.toBe(first);
  });

  it("is not made again where a landing of our own moves the target: that brings what was tested", () => {
    const queue = tipTested().passes(2).lands();
    expect([queue.states()[2], queue.tipRun(), queue.state.tipTestDue]).toEqual(["MERGED", undefined, null]);
  });

  it("that passes ends as succeeded, and is counted so", () => {
    const queue = tipTested();
    queue.builtRun(tipOf(queue)).reportsOn(tipOf(queue), { unit: "SUCCESS" });
    expect(queue.last?.endedRuns).toMatchObject([
      { outcome: "SUCCEEDED", why: "the tip passes its tests", run: { kind: "TIP" }, tested: [] },
    ]);
    expect(queue.state.totals).toMatchObject({ runsPassed: 2, runsFailed: 0 });
    expect(queue.state.untold).toEqual([]);
  });

  it("that fails ends as failed, with what failed", () => {
    const queue = tipTested();
    queue.builtRun(tipOf(queue)).reportsOn(tipOf(queue), { unit: "FAILURE" });
    expect(queue.last?.endedRuns).toMatchObject([{ outcome: "FAILED", why: "unit failed" }]);
    expect(queue.state.holds).toMatchObject([{ kind: "TIP_FAILED", detail: "unit failed on the tip itself" }]);
  });

  it("waits longer each time that it has no verdict, until it has one, whatever others say", () => {
    const queue = tipTested();
    const waits: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      queue.event({ type: "run-broken", run: tipOf(queue), what: "no runner" });
      if (count === 1) queue.fails(2);
      waits.push((queue.state.tipTestBroken?.retryAt ?? 0) - queue.now);
      queue.sleeps();
    }
    expect(waits).toEqual([10_000, 20_000, 40_000]);
    queue.builtRun(tipOf(queue)).reportsOn(tipOf(queue), { unit: "SUCCESS" });
    expect(queue.state.tipTestBroken ?? null).toBeNull();
  });

  it("that fails after one without a verdict begins to count anew", () => {
    const queue = tipTested();
    queue.event({ type: "run-broken", run: tipOf(queue), what: "no runner" }).sleeps();
    queue.builtRun(tipOf(queue)).reportsOn(tipOf(queue), { unit: "FAILURE" });
    expect(queue.state.tipTestBroken ?? null).toBeNull();
  });
});

describe("a test that does not end", () => {
  const late = (change = {}) => testing([1], { testingTimeoutMinutes: 30, ...change }).waits(30 * MINUTE_MS);

  it("is asked about once", () => {
    const queue = late();
    expect(queue.effect("read-statuses")).toMatchObject({ run: "q-1" });
    expect(queue.run(1).lateRead).toBe("ASKED");
    expect(queue.waits(MINUTE_MS).effects()).toEqual(["read-statuses:q-1:0"]);
  });

  it("is never asked about where there is no timeout", () => {
    const queue = testing([1], { testingTimeoutMinutes: 0 }).waitsHours(100);
    expect(queue.outbox.map((effect) => effect.type)).toEqual(["build-run"]);
  });

  it("and lacks only what became required meanwhile is made anew, and has not failed", () => {
    const queue = testing([1], { testingTimeoutMinutes: 30 }).sets({ requiredStatuses: ["unit", "lint"] });
    queue.reports(1, { unit: "SUCCESS" }, { complete: false }).waits(30 * MINUTE_MS);
    queue.reports(1, { unit: "SUCCESS" }, { complete: false, readAt: queue.now });
    expect(queue.moves()).toEqual(["#1 TESTING > PENDING (REQUIRED_STATUSES_CHANGED)"]);
    expect(queue.last?.endedRuns).toMatchObject([
      { outcome: "CANCELLED", why: "lint became required and did not pass in this test" },
    ]);
    expect(queue.run(1)).toMatchObject({ id: "q-2", required: ["unit", "lint"] });
  });

  it("is repeated as what it is: late, with what it lacked", () => {
    const queue = late({ retriesBeforeFailure: 0 });
    queue.reports(1, {}, { complete: false, readAt: queue.now });
    expect(queue.entry(1).conclusion).toEqual({ reason: "TESTING_TIMEOUT", message: "unit did not end in time" });
    expect(queue.last?.endedRuns).toMatchObject([{ outcome: "FAILED" }]);
  });
});

describe("what passed", () => {
  it("is no evidence any more where nothing is required, and says so", () => {
    const queue = testing([1, 2])
      .passes(2)
      .event({ type: "news", prNumbers: [], tip: { sha: null } });
    queue.answersTip("T0", [], null);
    expect(queue.last?.endedRuns.map((one) => one.why)).toContain(
      "no status is required any more: what passed proves nothing",
    );
  });

  it("counts as a failure by chance only after a repeat", () => {
    expect(testing([1]).passes(1).state.totals.flakes).toBe(0);
    expect(testing([1]).fails(1).passes(1).state.totals.flakes).toBe(1);
  });
});

describe("a failure", () => {
  it("that somebody repeats at the host and that passes then is told as such, also where another one is struck", () => {
    const queue = testing([1, 2], { requiredStatuses: ["unit", "lint"], retriesBeforeFailure: 0 });
    queue.reports(2, { unit: "FAILURE", lint: "FAILURE" }).reports(2, { unit: "SUCCESS", lint: "FAILURE" });
    expect(queue.states()[2]).toBe("PENDING_FAILURE");
    queue.forgets().reports(2, { unit: "SUCCESS", lint: "SUCCESS" });
    expect(queue.moves()).toEqual(["#2 PENDING_FAILURE > TESTS_PASSED (REPEAT_PASSED)"]);
    expect(queue.last?.moves).toMatchObject([{ cause: "run:q-2", run: "q-2" }]);
    const struck = testing([1, 2], { requiredStatuses: ["unit", "lint"], retriesBeforeFailure: 0 });
    struck.reports(2, { unit: "FAILURE", lint: "FAILURE" }).forgets();
    const { state } = struck;
    const repeated = { ...struck.run(2), statuses: [status("unit", "SUCCESS"), status("lint", "FAILURE")] };
    struck.state = { ...state, runs: new Map([...state.runs, [repeated.id, repeated]]) };
    expect(struck.sets({ requiredStatuses: ["unit"] }).moves()).toEqual([
      "#2 PENDING_FAILURE > TESTS_PASSED (REPEAT_PASSED)",
    ]);
  });

  it("by the clock that turns out to be one of its checks is told as that", () => {
    const queue = testing([1, 2], { testingTimeoutMinutes: 30, retriesBeforeFailure: 0 }).after(30 * MINUTE_MS);
    queue.reports(2, {}, { complete: false, readAt: queue.now });
    expect(queue.run(2).failure).toEqual({ kind: "TIMEOUT", contexts: ["unit"] });
    queue.fails(2);
    expect(queue.run(2).failure).toEqual({ kind: "CHECKS", contexts: ["unit"] });
  });

  it("is judged while the queue is held for another reason than its tip", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).passes(1).lands({ trees: "DIFFERENT" });
    expect(queue.state.holds).toMatchObject([{ kind: "LANDING_MISMATCH" }]);
    expect(queue.fails(2).states()[2]).toBe("FAILED");
  });

  it("of two of which one is not required any more is one of the other", () => {
    const queue = testing([1, 2], { requiredStatuses: ["unit", "lint"], retriesBeforeFailure: 0 });
    queue.reports(2, { unit: "FAILURE", lint: "FAILURE" });
    expect(queue.run(2).failure).toEqual({ kind: "CHECKS", contexts: ["unit", "lint"] });
    queue.sets({ requiredStatuses: ["lint"] });
    expect([queue.run(2).failure, queue.states()[2]]).toEqual([
      { kind: "CHECKS", contexts: ["lint"] },
      "PENDING_FAILURE",
    ]);
  });

  it("whose check runs again by somebody else's hand is none until that ends", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2);
    queue.reports(2, { unit: "PENDING" }, { complete: false });
    expect(queue.moves().at(-1)).toBe("#2 PENDING_FAILURE > TESTING (REQUIRED_STATUSES_CHANGED)");
    expect(queue.run(2)).toMatchObject({ phase: "TESTING", failure: null, endedAt: null });
  });

  it("that is late and then shows what became required meanwhile is no verdict on that", () => {
    const queue = testing([1, 2], { requiredStatuses: ["unit", "lint"], testingTimeoutMinutes: 30 });
    queue.reports(2, { unit: "FAILURE" }, { complete: false }).sets({ requiredStatuses: ["unit", "lint", "new"] });
    queue.reports(2, { unit: "FAILURE", lint: "SUCCESS" }, { complete: false });
    expect(queue.states()[2]).toBe("PENDING_FAILURE");
    queue.waits(30 * MINUTE_MS);
    expect(queue.moves().at(-1)).toBe("#2 PENDING_FAILURE > PENDING (REQUIRED_STATUSES_CHANGED)");
    expect(queue.run(2).required).toEqual(["unit", "lint", "new"]);
  });

  it("keeps who is judged in order: one behind waits for all that are ahead", () => {
    const queue = testing([1, 2, 3], { retriesBeforeFailure: 0 }).fails(3, 2);
    expect(queue.states()).toEqual({ 1: "TESTING", 2: "PENDING_FAILURE", 3: "PENDING_FAILURE" });
    queue.passes(1).lands();
    expect(queue.states()).toMatchObject({ 1: "MERGED", 2: "FAILED", 3: "PENDING" });
    expect(queue.state.entries.get(id(3))?.restartedAt).toEqual([]);
  });
});
