import { afterEach, describe, expect, it } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aQueue, id, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const OPTIMISTIC: Partial<Settings> = {
  canOptimisticallyMerge: true,
  pendingFailureDepth: 2,
  retriesBeforeFailure: 0,
};

/** All of them are being tested, on all ahead of them. */
const optimistic = (numbers: readonly number[], change: Partial<Settings> = {}): ScriptedQueue =>
  testing(numbers, { ...OPTIMISTIC, ...change });

describe("the pass of a successor", () => {
  it("clears one that failed, and all of it lands at once as it was tested", () => {
    const queue = optimistic([1, 2]).fails(1).passes(2);
    expect(queue.moves()).toEqual([
      "#1 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#1 PENDING_FAILURE > TESTS_PASSED (CLEARED_BY_SUCCESSOR)",
      "#2 TESTING > TESTS_PASSED (TESTS_PASSED)",
    ]);
    expect(queue.effect("land")).toMatchObject({ run: "q-2", changes: [{ prNumber: 1 }, { prNumber: 2 }] });
    expect(queue.lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
    expect(queue.state.totals).toMatchObject({ mergedByOptimism: 1, merged: 2, landings: 1 });
    expect(queue.ended.get(1)?.conclusion?.message).toContain("its own test failed, and the test of PR #2");
  });

  it("clears one that still runs", () => {
    const queue = optimistic([1, 2]).passes(2);
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED", 2: "TESTS_PASSED" });
    expect(queue.explains(1).blockers).toMatchObject([{ kind: "LANDING" }]);
    queue.lands();
    expect(queue.ended.get(1)?.conclusion?.message).toContain("its own test had not ended");
    expect(queue.moves().at(0)).toBe("#1 TESTING > TESTS_PASSED (CLEARED_BY_SUCCESSOR)");
  });

  it("says nothing where the queue does not merge optimistically, however deep it looks", () => {
    const queue = optimistic([1, 2], { canOptimisticallyMerge: false }).passes(2);
    expect([queue.states(), queue.state.landing]).toEqual([{ 1: "TESTING", 2: "TESTS_PASSED" }, null]);
    expect(queue.fails(1).states()).toMatchObject({ 1: "FAILED", 2: "PENDING" });
  });

  it("says nothing of one that it left out", () => {
    const queue = optimistic([1, 2], { concurrency: 1, pendingFailureDepth: 0 });
    queue.fails(1);
    expect(queue.states()).toMatchObject({ 1: "FAILED" });
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("of one that has passed itself is not what it lands by", () => {
    const queue = optimistic([1, 2]).passes(1).lands().passes(2).lands();
    expect(queue.state.totals).toMatchObject({ mergedByOptimism: 0, landings: 2 });
    expect(queue.ended.get(1)?.conclusion?.message).toBe("merged into main as commit-q-1");
  });

  it("the shortest that contains it clears it", () => {
    const queue = optimistic([1, 2, 3]).fails(1).passes(3);
    expect(queue.effect("land")?.changes).toHaveLength(3);
    const other = optimistic([1, 2, 3]).turns("PAUSED").fails(1).passes(3).passes(2).turns("RUNNING");
    expect(other.effect("land")).toMatchObject({ run: "q-2" });
    expect(other.lands().lands().states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED" });
  });

  it("is worth nothing on a target that somebody else has moved", () => {
    const queue = optimistic([1, 2]).turns("PAUSED").passes(2).pushes("T1");
    expect(queue.states()).toEqual({ 1: "PENDING", 2: "PENDING" });
    expect(queue.turns("RUNNING").contents(2)).toEqual(["1+2"]);
  });

  it("is worth nothing any more when one that it contains leaves", () => {
    const queue = optimistic([1, 2, 3]).turns("PAUSED").fails(1).passes(3).cancels(2);
    expect(queue.states()).toMatchObject({ 1: "FAILED", 3: "PENDING" });
  });

  it("in lanes proves only what it contains with all that it stands on", () => {
    const queue = aLanedQueue({ ...OPTIMISTIC })
      .opens()
      .brings(1, "a")
      .brings(2, "b")
      .brings(3, "a b")
      .brings(4, "c");
    queue.builds(1, 2, 3, 4).fails(1).passes(4).lands().passes(3);
    expect(queue.effect("land")?.changes.map((change) => change.prNumber)).toEqual([1, 2, 3]);
  });

  it("ends the bisection of a batch that it contains", () => {
    const queue = aQueue({ ...OPTIMISTIC, batch: true, batchingMinSize: 2 })
      .opens()
      .submits(1, 2)
      .builds(1);
    queue.submitsWith(3, { noBatch: true }).builds(3).turns("PAUSED").fails(1).passes(3);
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED", 2: "TESTS_PASSED", 3: "TESTS_PASSED" });
    expect(queue.turns("RUNNING").lands().states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED" });
  });
});

describe("a failure waits for a successor", () => {
  it("that is being tested with it, and says until when", () => {
    const queue = optimistic([1, 2]).fails(1);
    expect([queue.states(), queue.explains(1).blockers]).toMatchObject([
      { 1: "PENDING_FAILURE" },
      [{ kind: "SUCCESSOR" }],
    ]);
    expect(queue.fails(2).states()).toMatchObject({ 1: "FAILED" });
  });

  it("that this step can start, on the path that contains it", () => {
    const queue = optimistic([1, 2], { concurrency: 1 }).fails(1);
    expect([queue.states()[1], queue.contents(2)]).toEqual(["PENDING_FAILURE", ["1+2"]]);
    expect(queue.builds(2).passes(2).lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
  });

  it("and none where nobody comes behind", () => {
    expect(optimistic([1]).fails(1).states()).toEqual({ 1: "FAILED" });
  });

  it.each([
    [0, "FAILED"],
    [1, "FAILED"],
    [2, "PENDING_FAILURE"],
  ])("as many places behind as the depth says: %i", (pendingFailureDepth, expected) => {
    const queue = optimistic([1, 2, 3], { pendingFailureDepth }).fails(2).turns("PAUSED").fails(1);
    expect(queue.states()[1]).toBe(expected);
  });

  it("no longer than one testing timeout", () => {
    const queue = optimistic([1, 2], { testingTimeoutMinutes: 60 })
      .after(HOUR_MS / 2)
      .fails(1);
    expect(queue.last?.wakeAt).toBeLessThanOrEqual(queue.now + HOUR_MS);
    queue.after(HOUR_MS - 1).reportsOn(queue.run(2).id, {}, { complete: false });
    expect(queue.states()[1]).toBe("PENDING_FAILURE");
    expect(queue.waits(1).states()[1]).toBe("FAILED");
  });

  it("five hours where tests have no timeout, and wakes for that", () => {
    const queue = optimistic([1, 2], { testingTimeoutMinutes: 0 }).fails(1);
    expect(queue.last?.wakeAt).toBe(queue.now + 300 * MINUTE_MS);
    expect(queue.sleeps().states()[1]).toBe("FAILED");
  });

  it("but its repeat does not: both go on", () => {
    const queue = optimistic([1, 2], { retriesBeforeFailure: 1 }).fails(1);
    expect(queue.run(1).phase).toBe("REPEATING");
    expect(queue.passes(1).state.landing?.group).toEqual([id(1)]);
  });

  it("not for one that conflicts with it in text", () => {
    const queue = optimistic([1, 2], { concurrency: 1 });
    queue.fails(1).cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    expect(queue.states()).toMatchObject({ 1: "FAILED" });
  });

  it("also at the head of a batch, which is taken apart only then", () => {
    const queue = aQueue({ ...OPTIMISTIC, batch: true, batchingMinSize: 2 })
      .opens()
      .submits(1, 2)
      .builds(1);
    queue.submitsWith(3, { noBatch: true }).builds(3).fails(1);
    expect([queue.states()[1], queue.state.bisections]).toEqual(["PENDING_FAILURE", []]);
    expect(queue.fails(3).state.bisections).toHaveLength(1);
  });
});
