import { afterEach, describe, expect, it } from "vitest";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aQueue, id, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

/** What the timeline of a pull request says of the last step. */
const lines = (queue: ScriptedQueue, number: number): readonly string[] =>
  (queue.last?.moves ?? [])
    .filter((move) => move.prNumber === number)
    .map(({ from, to, reason, message, cause }) => `${from ?? "new"} > ${to}: ${reason} by ${cause}: ${message}`);

const BATCHES: Partial<Settings> = { batch: true, batchingMinSize: 2, retriesBeforeFailure: 0 };
const VAIN = "its tests passed, but on an outcome of the pull requests ahead that is not the likeliest any more";

describe("the timeline says on what a test is started", () => {
  it("on the target, or on those ahead that have not landed meanwhile", () => {
    expect(lines(aQueue().opens().submits(1).builds(1), 1)).toEqual([
      "PENDING > TESTING: TEST_STARTED by run:q-1: testing on main",
    ]);
    const queue = aQueue().opens().submits(1, 2, 3).builds(3);
    expect(lines(queue, 3)).toEqual([
      "PENDING > TESTING: TEST_STARTED by run:q-3: testing on main with #1, #2 ahead of it",
    ]);
    queue.builds(1).passes(1).lands().builds(2);
    expect(lines(queue, 2)).toEqual(["PENDING > TESTING: TEST_STARTED by run:q-2: testing on main"]);
  });

  it("with whom else, and whether a batch is taken apart", () => {
    const queue = aQueue(BATCHES).opens().submits(1, 2).builds(1);
    expect(lines(queue, 2)).toEqual([
      "PENDING > TESTING: TEST_STARTED by run:q-1: testing in a batch of 2 (#1, #2) on main",
    ]);
    queue.fails(1);
    expect(lines(queue, 2).at(-1)).toBe(
      "PENDING_FAILURE > PENDING: BISECTED by run:q-1: unit failed in a batch of 2: it is taken apart into 2",
    );
    expect(lines(queue.builds(2), 2)).toEqual([
      "PENDING > TESTING: TEST_STARTED by run:q-3: bisecting, testing on main with #1 ahead of it",
    ]);
  });
});

describe("the timeline says what the tests said", () => {
  it("that they passed, by themselves, in a repeat or by a successor", () => {
    expect(lines(testing([1]).passes(1), 1)).toEqual([
      "TESTING > TESTS_PASSED: TESTS_PASSED by run:q-1: all required statuses passed",
    ]);
    expect(lines(testing([1]).fails(1).passes(1), 1)).toEqual([
      "PENDING_FAILURE > TESTS_PASSED: REPEAT_PASSED by run:q-1: all required statuses passed",
    ]);
    expect(lines(testing([1, 2], { canOptimisticallyMerge: true }).passes(2), 1)).toEqual([
      "TESTING > TESTS_PASSED: CLEARED_BY_SUCCESSOR by run:q-2: cleared by q-2: the test of #2 contains it and passed",
    ]);
  });

  it("that they failed, and how", () => {
    const queue = testing([1], { retriesBeforeFailure: 0, requiredStatuses: ["unit", "lint"] });
    expect(lines(queue.reports(1, { unit: "FAILURE", lint: "ERROR" }), 1)).toEqual([
      "TESTING > PENDING_FAILURE: TESTS_FAILED by run:q-1: unit, lint failed",
      "PENDING_FAILURE > FAILED: TESTS_FAILED by run:q-1: unit, lint failed",
    ]);
    expect(lines(aQueue().opens("T0", []).submits(1).builds(1), 1).at(-1)).toBe(
      "PENDING_FAILURE > FAILED: NO_REQUIRED_STATUSES by run:q-1: no status is required: " +
        "name some in the queue's requiredStatuses, or define checks in .mainline.yaml",
    );
  });
});

describe("the timeline says when the likeliest changed", () => {
  it("that a pass is in vain for now, and that it counts again", () => {
    const queue = testing([1, 2], { concurrency: 2 }).passes(2).submits(3).fails(1);
    expect(lines(queue, 2)).toEqual([`TESTS_PASSED > PENDING: PREDECESSORS_CHANGED by queue: ${VAIN}`]);
    queue.passes(1);
    expect(lines(queue, 2)).toEqual([
      "PENDING > TESTS_PASSED: PREDECESSORS_CHANGED by run:q-2: " +
        "what is likeliest of the pull requests ahead changed; its tests had passed on it",
    ]);
  });

  it("that a failure is tested again without one that failed as well", () => {
    const queue = testing([1, 2]).fails(2).fails(1).builds(2);
    expect(lines(queue, 2)).toEqual([
      "PENDING_FAILURE > TESTING: PREDECESSORS_CHANGED by run:q-3: what is likeliest of the pull requests ahead changed",
    ]);
  });

  it("that a test which passed in vain leaves another in progress", () => {
    const queue = testing([1, 2]).fails(1).builds(2);
    queue.reportsOn(queue.run(2).id, { unit: "SUCCESS" });
    queue.passes(1);
    expect(lines(queue, 2)).toEqual([`TESTS_PASSED > TESTING: PREDECESSORS_CHANGED by run:q-2: ${VAIN}`]);
  });
});

describe("what is counted", () => {
  it("each end for itself, and a restart only where a test was stopped", () => {
    const counts = ({ state }: ScriptedQueue) => {
      const { merged, failed, cancelled, restarts, runsPassed, runsFailed, runsCancelled } = state.totals;
      return [merged, failed, cancelled, restarts, runsPassed, runsFailed, runsCancelled];
    };
    expect(counts(testing([1]).passes(1).lands())).toEqual([1, 0, 0, 0, 1, 0, 0]);
    expect(counts(testing([1], { retriesBeforeFailure: 0 }).fails(1))).toEqual([0, 1, 0, 0, 0, 1, 0]);
    expect(counts(testing([1]).cancels(1))).toEqual([0, 0, 1, 0, 0, 0, 1]);
    expect(counts(testing([1]).passes(1).refuses({ kind: "TIP_MOVED" }).cancels(1))).toEqual([0, 0, 1, 0, 0, 0, 1]);
    expect(counts(testing([1]).restarts(1))).toEqual([0, 0, 0, 1, 0, 0, 1]);
    expect(counts(testing([1, 2]).passes(2).restarts(2))).toEqual([0, 0, 0, 0, 0, 0, 1]);
    expect(counts(testing([1]).facts(1, { mergeability: "NOT_MERGEABLE" }))).toEqual([0, 0, 0, 0, 0, 0, 1]);
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2).facts(2, { state: "MERGED" });
    expect(counts(queue)).toEqual([1, 0, 0, 0, 0, 1, 0]);
    expect(counts(testing([1]).facts(1, { state: "MERGED" }))).toEqual([1, 0, 0, 0, 0, 0, 1]);
  });

  it("who verified it: the run by which it ended, unless somebody took it out", () => {
    const verified = (queue: ScriptedQueue) => queue.ended.get(1)?.verifiedBy;
    expect(verified(testing([1]).passes(1).lands())).toBe("q-1");
    expect(verified(testing([1]).turns("PAUSED").passes(1).cancels(1))).toBeNull();
    expect(testing([1]).turns("PAUSED").passes(1).entry(1).verifiedBy).toBe("q-1");
    expect(testing([1]).cancels(1).last?.moves[0]).toMatchObject({ run: null, entry: id(1), number: 3 });
  });
});
