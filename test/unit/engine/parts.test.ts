import { afterEach, describe, expect, it } from "vitest";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, aTip, id, type ScriptedQueue, sha, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const BATCHES: Partial<Settings> = {
  batch: true,
  batchingMinSize: 4,
  bisectionConcurrency: 2,
  retriesBeforeFailure: 0,
};
const eight = (): ScriptedQueue =>
  aQueue({ ...BATCHES, bisectionConcurrency: 4 })
    .opens()
    .submits(1, 2, 3, 4)
    .builds(1)
    .submits(5, 6, 7, 8)
    .builds(5);

describe("a batch that is taken apart", () => {
  it("keeps how deep each part lies, and the parts of others as they are", () => {
    const queue = eight().sets({ bisectionConcurrency: 2 }).fails(1).builds(1).fails(1);
    expect(queue.state.bisections).toHaveLength(1);
    expect(queue.state.bisections[0]?.parts).toEqual([
      { members: [id(1)], depth: 2 },
      { members: [id(2)], depth: 2 },
      { members: [id(3), id(4)], depth: 1 },
    ]);
    expect(queue.state.bisections[0]?.group).toBe(queue.entry(1).group);
  });

  it("is known apart from another, and forgotten when nobody of it is left", () => {
    const lanes = aLanedQueue({ ...BATCHES, batchingMinSize: 2 }).opens();
    for (const [number, name] of [
      [1, "a"],
      [2, "a"],
      [3, "b"],
      [4, "b"],
    ] as const)
      lanes.brings(number, name);
    lanes.builds(1, 3).fails(1).fails(3);
    const [first, second] = lanes.state.bisections;
    expect([first?.group, second?.group]).toEqual([lanes.entry(1).group, lanes.entry(3).group]);
    expect(first?.group).not.toBe(second?.group);
    lanes.builds(1).fails(1);
    lanes.builds(2).fails(2);
    expect(lanes.state.bisections.map((one) => one.group)).toEqual([lanes.entry(3).group]);
    expect(lanes.states()).toMatchObject({ 1: "FAILED", 2: "FAILED", 3: "PENDING", 4: "PENDING" });
  });

  it("of which one leaves is one batch again, and the other stays apart", () => {
    const lanes = aLanedQueue({ ...BATCHES, batchingMinSize: 2, bisectionConcurrency: 4 }).opens();
    for (const number of [1, 2]) lanes.brings(number, "a");
    for (const number of [3, 4]) lanes.brings(number, "b");
    lanes.builds(1, 3).fails(1).fails(3).cancels(1);
    expect(lanes.state.bisections.map((one) => one.group)).toEqual([lanes.entry(3).group]);
    expect(lanes.contents(2)).toEqual(["2"]);
  });
});

describe("a failure waits for a successor", () => {
  const OPTIMISTIC: Partial<Settings> = {
    canOptimisticallyMerge: true,
    pendingFailureDepth: 3,
    retriesBeforeFailure: 0,
  };

  it("of which one is enough: no second one is started while it is tested", () => {
    const queue = testing([1, 2], { ...OPTIMISTIC, concurrency: 2 })
      .submits(3)
      .fails(1);
    expect(queue.contents(2)).toContain("1+2");
    expect(queue.contents(3)).not.toContain("1+2+3");
  });

  it("that holds all of its batch", () => {
    const queue = aQueue({ ...OPTIMISTIC, batch: true, batchingMinSize: 2, concurrency: 2 })
      .opens()
      .submits(1, 2);
    queue.submitsWith(3, { noBatch: true }).builds(1, 3).fails(1);
    expect(queue.states()).toMatchObject({ 1: "PENDING_FAILURE", 2: "PENDING_FAILURE" });
    expect(queue.passes(3).lands().states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED" });
  });

  it("and not where the queue looks no place behind, or does not merge so", () => {
    expect(
      testing([1, 2], { ...OPTIMISTIC, pendingFailureDepth: 0 })
        .fails(1)
        .states()[1],
    ).toBe("FAILED");
    expect(
      testing([1, 2], { ...OPTIMISTIC, canOptimisticallyMerge: false })
        .fails(1)
        .states()[1],
    ).toBe("FAILED");
  });
});

describe("targets", () => {
  it("matter to a queue that is about to leave its lanes, until it has", () => {
    const queue = aLanedQueue().opens().brings(1, "a").builds(1).sets({ mode: "SINGLE" });
    expect(queue.state.mode).toBe("PARALLEL");
    queue.asks(1, { targets: targetsOf("b") });
    expect(queue.effects()).toContain("compare-targets:e1:2");
  });

  it("are another set where their kind or their digest is another", () => {
    const queue = aLanedQueue().opens().brings(1, "a").forgets();
    queue.asks(1, { targets: { kind: "ALL" } });
    expect(queue.entry(1).targets).toEqual({ kind: "ALL" });
    const number = queue.entry(1).lane?.number;
    queue.asks(1, { targets: { kind: "ALL" } });
    expect(queue.entry(1).lane?.number).toBe(number);
    queue.asks(1, { targets: targetsOf("a") });
    expect(queue.effects()).toEqual(["compare-targets:e1:3"]);
    queue.compares().asks(1, { targets: targetsOf("b") });
    expect(queue.effects()).toEqual(["compare-targets:e1:4"]);
  });

  it("are computed for the head that the host names, with all that is needed for it", () => {
    const queue = aLanedQueue().opens();
    queue.state = { ...queue.state, tip: { ...aTip("T0"), targetsFromPaths: true } };
    queue.submits(1);
    expect(queue.effect("compute-targets")).toEqual({
      type: "compute-targets",
      key: "compute-targets:e1:head1",
      entry: "e1",
      prNumber: 1,
      headSha: "head1",
    });
    queue.submitsWith(2, { pr: aPullRequest(2, { draft: true }) }).forgets();
    queue.facts(2, { headSha: sha("new") });
    expect(queue.effects()).toEqual(["compute-targets:e2:new"]);
  });

  it("are compared with all that is needed for it", () => {
    const queue = aLanedQueue()
      .opens()
      .submitsWith(1, { targets: targetsOf("a") });
    expect(queue.effect("compare-targets")).toEqual({
      type: "compare-targets",
      key: "compare-targets:e1:1",
      entry: "e1",
      prNumber: 1,
      headSha: "head1",
      number: 1,
    });
  });
});

describe("a wish", () => {
  it("that changes nothing but waits for a landing stays as it is, and starts nothing", () => {
    const queue = testing([1]).passes(1).cancels(1).forgets();
    const { state } = queue;
    expect(queue.waits(1).state.entries.get(id(1))).toBe(state.entries.get(id(1)));
  });

  it("to be urgent takes it out of its batch, and any other leaves it there", () => {
    const batch = () =>
      aQueue({ ...BATCHES, batchingMinSize: 2 })
        .opens()
        .submits(1, 2)
        .builds(1)
        .fails(1);
    expect(batch().prioritises(1, 7).state.bisections).toHaveLength(1);
    const urgent = batch().prioritises(1, 0);
    expect([urgent.state.bisections, urgent.entry(1).group]).toEqual([[], null]);
  });
});
