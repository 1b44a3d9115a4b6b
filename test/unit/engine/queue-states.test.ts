import { afterEach, describe, expect, it } from "vitest";
import { epochMs, HOUR_MS } from "../../../shared/kernel/time.ts";
import { permitsOf } from "../../../shared/queue/engine/permits.ts";
import type { MaintenanceWindow } from "../../../shared/queue/engine/types.ts";
import { aQueue, id, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const shown = (queue: ScriptedQueue) => permitsOf(queue.state, queue.now).state;
const window = (queue: ScriptedQueue, change: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  id: "w",
  action: "PAUSE",
  startsAt: epochMs(queue.now + HOUR_MS),
  endsAt: epochMs(queue.now + 2 * HOUR_MS),
  reason: "release day",
  allowUrgent: false,
  ...change,
});

describe("PAUSED", () => {
  it("admits, starts and lands nothing; runs in progress end and their verdicts stand", () => {
    const queue = testing([1, 2], { concurrency: 2 }).submits(3).turns("PAUSED").submits(4).forgets();
    queue.passes(1).fails(2);
    expect(queue.effects()).toEqual([]);
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED", 2: "PENDING_FAILURE", 3: "PENDING", 4: "NOT_READY" });
    queue.turns("RUNNING");
    expect(queue.effects()).toEqual(["land:q-1.1", "repeat:q-2:1", "build-run:q-3"]);
  });

  it("lets urgent ones through where it says so", () => {
    const queue = testing([1]).turns("PAUSED", true).submitsUrgently(9).submits(2);
    expect(queue.states()).toEqual({ 1: "PENDING", 2: "NOT_READY", 9: "PENDING" });
    queue.builds(9).passes(9).lands();
    expect(queue.states()).toEqual({ 1: "PENDING", 2: "NOT_READY", 9: "MERGED" });
    expect(queue.runs(1)).toEqual([]);
  });

  it("still judges what needs no further run", () => {
    expect(testing([1], { retriesBeforeFailure: 0 }).turns("PAUSED").fails(1).states()).toEqual({ 1: "FAILED" });
  });
});

describe("DRAINING", () => {
  it("admits nobody, and tests and lands those admitted before", () => {
    const queue = testing([1], { concurrency: 1 }).submits(2).turns("DRAINING").submits(3);
    queue.passes(1).lands().builds(2).passes(2).lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "NOT_READY" });
    expect(queue.turns("RUNNING").states()[3]).toBe("PENDING");
  });

  it("does not wait for one that lost its readiness, nor admit it again", () => {
    const queue = testing([1]).turns("DRAINING").facts(1, { mergeability: "NOT_MERGEABLE" });
    expect(queue.facts(1, { mergeability: "MERGEABLE" }).states()).toEqual({ 1: "NOT_READY" });
  });
});

describe("a change of modes", () => {
  it("is immediate where nobody is admitted", () => {
    const queue = aQueue().opens().sets({ mode: "PARALLEL" });
    expect([queue.state.mode, shown(queue)]).toEqual(["PARALLEL", "RUNNING"]);
  });

  it("waits for the admitted ones, admits nobody meanwhile, and then lets the others in", () => {
    const queue = testing([1])
      .sets({ mode: "PARALLEL" })
      .submitsWith(2, { targets: { kind: "ALL" } });
    expect([queue.state.mode, shown(queue), queue.states()[2]]).toEqual(["SINGLE", "SWITCHING_MODES", "NOT_READY"]);
    queue.passes(1).lands();
    expect([queue.state.mode, shown(queue), queue.states()[2]]).toEqual(["PARALLEL", "RUNNING", "PENDING"]);
  });

  it("is halted by PAUSED, which shows over it", () => {
    const queue = testing([1]).sets({ mode: "PARALLEL" }).turns("PAUSED").passes(1);
    expect([shown(queue), queue.states()]).toEqual(["PAUSED", { 1: "TESTS_PASSED" }]);
  });
});

describe("a maintenance window", () => {
  it("is open from its start to its end, and the engine wakes for both", () => {
    const queue = testing([1], { testingTimeoutMinutes: 0 });
    const one = window(queue);
    queue.configures({ windows: [one] });
    expect([shown(queue), queue.last?.wakeAt]).toEqual(["RUNNING", one.startsAt]);
    queue.sleeps().passes(1);
    expect([shown(queue), queue.state.landing, queue.last?.wakeAt]).toEqual(["PAUSED", null, one.endsAt]);
    expect(queue.sleeps().state.landing?.group).toEqual([id(1)]);
  });

  it("never un-pauses what an operator paused", () => {
    const queue = testing([1]).turns("PAUSED");
    queue.configures({ windows: [window(queue, { action: "DRAIN" })] }).sleeps();
    expect(shown(queue)).toBe("PAUSED");
    expect(shown(queue.sleeps())).toBe("PAUSED");
  });

  it("that forbids urgent ones stops them although the operator's state would not", () => {
    const queue = aQueue().opens().turns("PAUSED", true);
    queue.configures({ windows: [window(queue, { startsAt: queue.now })] }).submitsUrgently(1);
    expect(queue.states()).toEqual({ 1: "NOT_READY" });
  });
});

describe("waiting for readiness", () => {
  it("ends after its hours", () => {
    const queue = aQueue({ notReadyTimeoutHours: 2 }).opens().submits(1).facts(1, { draft: true });
    expect(queue.states()).toEqual({ 1: "CANCELLED" });
    queue.forgets().submits(2).facts(2, { baseBranch: "other" });
    const waiting = aQueue({ notReadyTimeoutHours: 2 }).submits(3).facts(3, { draft: true }).answersTip("T0");
    expect(waiting.waitsHours(1).states()).toEqual({ 3: "NOT_READY" });
    expect(waiting.sleeps().entry(3).conclusion).toMatchObject({ reason: "NOT_READY_TIMEOUT" });
  });

  it("stands still while the queue admits nobody", () => {
    const queue = aQueue({ notReadyTimeoutHours: 2 }).submits(3).facts(3, { draft: true }).answersTip("T0");
    queue.waitsHours(1).turns("PAUSED").waitsHours(10);
    expect(queue.last?.wakeAt).toBeUndefined();
    queue.turns("RUNNING").waits(HOUR_MS - 10_000);
    expect(queue.states()).toEqual({ 3: "NOT_READY" });
    expect(queue.waits(20_000).states()).toEqual({ 3: "CANCELLED" });
  });
});

describe("clearHold", () => {
  it("lifts the holds that were there, and none that comes later", () => {
    const queue = testing([1, 2]).passes(1, 2).lands({ trees: "DIFFERENT" }).clears();
    expect(queue.state.holds).toEqual([]);
    queue.after(1).lands({ trees: "DIFFERENT" });
    expect(queue.state.holds).toMatchObject([{ kind: "LANDING_MISMATCH" }]);
  });
});
