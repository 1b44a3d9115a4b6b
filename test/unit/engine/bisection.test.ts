import { afterEach, describe, expect, it } from "vitest";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aQueue, aTip, id, type ScriptedQueue } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const BATCHES: Partial<Settings> = {
  batch: true,
  batchingMinSize: 4,
  bisectionConcurrency: 2,
  retriesBeforeFailure: 0,
};

/** What is in progress in the bisection, each on what: `1+2 on 3`. */
const parts = (queue: ScriptedQueue): string =>
  [...queue.state.runs.values()]
    .filter((run) => run.kind === "BISECTION" && run.phase !== "PASSED" && run.phase !== "FAILED")
    .map(({ group, predecessors }) => {
      const shown = (ids: readonly string[]) => ids.map((one) => one.slice(1)).join("+");
      return predecessors.length === 0 ? shown(group) : `${shown(group)} on ${shown(predecessors)}`;
    })
    .join(", ");

/** A batch of #1 to #4 whose test has failed. */
const failed = (change: Partial<Settings> = {}): ScriptedQueue =>
  aQueue({ ...BATCHES, ...change })
    .opens()
    .submits(1, 2, 3, 4)
    .builds(1)
    .forgets()
    .fails(1);

describe("a batch that failed", () => {
  it("is taken apart in slots of its own, each part on those before it, and says why", () => {
    const queue = failed();
    expect(queue.moves()).toEqual([
      "#1 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#2 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#3 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#4 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#1 PENDING_FAILURE > PENDING (BISECTED)",
      "#2 PENDING_FAILURE > PENDING (BISECTED)",
      "#3 PENDING_FAILURE > PENDING (BISECTED)",
      "#4 PENDING_FAILURE > PENDING (BISECTED)",
    ]);
    expect([parts(queue), queue.state.totals.bisections]).toEqual(["1+2, 3+4 on 1+2", 1]);
    expect(queue.state.totals).toMatchObject({ bisectionRunsStarted: 2, runsFailed: 1 });
  });

  it.each([
    [1, "1+2"],
    [2, "1+2, 3+4 on 1+2"],
    [3, "1, 2 on 1, 3+4 on 1+2"],
    [4, "1, 2 on 1, 3 on 1+2, 4 on 1+2+3"],
    [9, "1, 2 on 1, 3 on 1+2, 4 on 1+2+3"],
  ])("is cut into as many parts as slots are free: %i", (bisectionConcurrency, expected) => {
    expect(parts(failed({ bisectionConcurrency }))).toBe(expected);
  });

  it("of a size that cannot be shared out evenly is cut nearly so", () => {
    const queue = aQueue({ ...BATCHES, batchingMinSize: 5 })
      .opens()
      .submits(1, 2, 3, 4, 5)
      .builds(1)
      .fails(1);
    expect(parts(queue)).toBe("1+2, 3+4+5 on 1+2");
  });

  it("is not repeated: it is taken apart instead", () => {
    const queue = failed({ retriesBeforeFailure: 3 });
    expect(queue.effects().filter((key) => key.startsWith("repeat"))).toEqual([]);
  });

  it("waits until everybody ahead is settled", () => {
    const queue = aQueue(BATCHES).opens().submitsWith(9, { noBatch: true }).submits(1, 2, 3, 4).builds(9, 1).fails(1);
    expect([parts(queue), queue.states()[1]]).toEqual(["", "PENDING_FAILURE"]);
    expect(parts(queue.passes(9).lands())).toBe("1+2, 3+4 on 1+2");
  });

  it("keeps its place: who comes behind is tested on what is not condemned of it", () => {
    const queue = failed({ bisectionConcurrency: 4, concurrency: 1 }).submitsWith(5, { noBatch: true });
    expect(queue.contents(5)).toEqual(["1+2+3+4+5"]);
    expect(queue.builds(1).fails(1).contents(5)).toEqual(["2+3+4+5"]);
  });

  it("takes no slot of the main lane, and the main lane none of it", () => {
    const queue = failed({ concurrency: 1, bisectionConcurrency: 1 }).submitsWith(5, { noBatch: true });
    expect(queue.runs(5)).toHaveLength(1);
    queue.submitsWith(6, { noBatch: true });
    expect([queue.runs(6), parts(queue)]).toEqual([[], "1+2"]);
    expect(queue.explains(6).blockers).toMatchObject([{ kind: "SLOTS", prNumber: 5 }]);
    expect(queue.explains(3).blockers[0]).toMatchObject({ kind: "SLOTS", prNumber: 1 });
  });
});

describe("a part", () => {
  it("that passes lands as it was tested, before the rest is known", () => {
    const queue = failed().builds(1, 3).passes(1);
    expect(queue.effect("land")?.changes.map((change) => change.prNumber)).toEqual([1, 2]);
    queue.lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "TESTING", 4: "TESTING" });
  });

  it("of several that fails is taken apart again on what passed", () => {
    const queue = failed().builds(1, 3).passes(1).lands().fails(3);
    expect(parts(queue)).toBe("3, 4 on 3");
    queue.builds(3).passes(3).lands().builds(4).fails(4);
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED", 4: "FAILED" });
    expect([queue.state.bisections, queue.state.totals.bisections]).toEqual([[], 2]);
  });

  it("is judged only when those before it are", () => {
    const queue = failed().builds(1, 3).fails(3);
    expect([parts(queue), queue.states()[3]]).toEqual(["1+2", "PENDING_FAILURE"]);
  });

  it("that holds a culprit is void when that one has failed, and tested anew without", () => {
    const queue = failed({ bisectionConcurrency: 4 }).builds(1, 2, 3, 4).passes(1).lands().forgets().fails(2);
    expect(queue.moves()).toEqual([
      "#2 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#2 PENDING_FAILURE > FAILED (TESTS_FAILED)",
      "#3 TESTING > PENDING (PREDECESSOR_LEFT)",
      "#4 TESTING > PENDING (PREDECESSOR_LEFT)",
    ]);
    expect(parts(queue)).toBe("3, 4 on 3");
    queue.builds(3, 4).passes(3).lands().passes(4).lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "FAILED", 3: "MERGED", 4: "MERGED" });
  });

  it("of one is repeated before it counts", () => {
    const queue = failed({ bisectionConcurrency: 4, retriesBeforeFailure: 1 }).builds(1).forgets().fails(1);
    expect(queue.effects()).toEqual(["repeat:q-2:1"]);
    expect(queue.passes(1).state.landing?.group).toEqual([id(1)]);
    expect(queue.state.totals.flakes).toBe(1);
  });

  it("says that it is bisected, and what it assumes", () => {
    const queue = failed().builds(1, 3);
    expect(queue.explains(3).summary).toMatch(
      /^PR #3 is being tested in the bisection of its batch: .*that PR #1, PR #2 land before it/u,
    );
  });

  it("of which another member leaves is one batch with the rest again, tested at once", () => {
    const queue = failed().builds(1, 3).cancels(2);
    expect([queue.state.bisections, queue.contents(1)]).toEqual([[], ["1+3+4"]]);
    expect(queue.run(1).kind).toBe("MAIN");
  });

  it("of which one is no longer ready is one batch with the rest again", () => {
    const queue = failed().builds(1, 3).facts(4, { mergeability: "NOT_MERGEABLE" });
    expect([queue.state.bisections, queue.contents(1), queue.states()[4]]).toEqual([[], ["1+2+3"], "NOT_READY"]);
  });

  it("is begun anew on top of an urgent one that comes ahead", () => {
    const queue = failed().builds(1, 3).submitsUrgently(9);
    expect(queue.states()).toMatchObject({ 1: "PENDING", 3: "PENDING" });
    expect(parts(queue)).toBe("1+2 on 9, 3+4 on 9+1+2");
    queue.builds(9).passes(9).lands().builds(1).passes(1).lands();
    expect(queue.states()).toMatchObject({ 9: "MERGED", 1: "MERGED", 2: "MERGED" });
  });

  it("whose test ended without a verdict is tested again as that part", () => {
    const queue = failed().builds(1, 3).breaks(1).sleeps();
    expect(parts(queue)).toBe("3+4 on 1+2, 1+2");
  });
});

describe("a batch that failed behind one that failed", () => {
  const both = () =>
    aQueue({ ...BATCHES, batchingMinSize: 2, bisectionConcurrency: 4 })
      .opens()
      .submits(1, 2, 3, 4)
      .builds(1, 3)
      .fails(3)
      .fails(1);

  it("waits until that one is settled, and is then taken apart by its own failure", () => {
    const queue = both();
    expect([parts(queue), queue.states()[3]]).toEqual(["1, 2 on 1", "PENDING_FAILURE"]);
    queue.builds(1, 2).passes(1).lands().passes(2).lands();
    expect(parts(queue)).toBe("3, 4 on 3");
  });

  it("is tested anew where the other held a culprit", () => {
    const queue = both().builds(1, 2).fails(1);
    expect([parts(queue), queue.states()]).toMatchObject(["2", { 1: "FAILED", 3: "PENDING", 4: "PENDING" }]);
    expect(queue.contents(3)[0]).toBe("2+3+4");
  });
});

describe("with one bisection slot", () => {
  it("the parts are tested one after the other, to the very last", () => {
    const queue = failed({ bisectionConcurrency: 1 });
    const seen: string[] = [];
    const verdicts: Readonly<Record<number, boolean>> = { 1: true, 2: true, 3: false, 4: true };
    for (let round = 0; round < 20 && queue.state.entries.size > 0; round += 1) {
      const run = [...queue.state.runs.values()].find((one) => one.phase === "BUILDING");
      if (run === undefined) break;
      seen.push(parts(queue));
      const isGood = [...run.predecessors, ...run.group].every((one) => verdicts[Number(one.slice(1))]);
      queue.builtRun(run.id).reportsOn(run.id, { unit: isGood ? "SUCCESS" : "FAILURE" });
      if (queue.state.landing !== null) queue.lands();
    }
    expect(seen).toEqual(["1+2", "3+4 on 1+2", "3", "4"]);
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "FAILED", 4: "MERGED" });
  });
});

describe("while a batch is taken apart", () => {
  it("a member that becomes urgent goes ahead alone, and the rest is one batch again on top of it", () => {
    const queue = failed().builds(1, 3).prioritises(4, 0);
    expect([queue.state.bisections, queue.contents(4), queue.contents(1)]).toEqual([[], ["4"], ["4+1+2+3"]]);
  });

  it("batching may be turned off: it is taken apart all the same", () => {
    const queue = failed().sets({ batch: false }).builds(1, 3).passes(1).lands().passes(3).lands();
    expect(new Set(Object.values(queue.states()))).toEqual(new Set(["MERGED"]));
  });

  it("the mode may be switched: it is finished in the old one", () => {
    const queue = failed().sets({ mode: "PARALLEL" }).builds(1, 3).passes(1).lands();
    expect([queue.state.mode, queue.states()[3]]).toEqual(["SINGLE", "TESTING"]);
    queue.passes(3).lands();
    expect([queue.state.mode, queue.state.bisections]).toEqual(["PARALLEL", []]);
  });
});

describe("a bisection in lanes", () => {
  const laned = () =>
    aLanedQueue(BATCHES).opens().brings(8, "z", { noBatch: true }).brings(1, "a").brings(2, "a").brings(3, "a");

  it("is none of the other lanes' business, and their landings none of its own", () => {
    const queue = laned().brings(4, "a").builds(8, 1).fails(1).builds(1, 3).passes(8).lands();
    expect(queue.states()).toMatchObject({ 8: "MERGED", 1: "TESTING", 3: "TESTING" });
    queue.passes(1).lands({ tip: aTip("both") });
    expect(queue.states()).toMatchObject({ 1: "MERGED", 2: "MERGED", 3: "TESTING" });
  });
});

describe("skipping redundant tests", () => {
  const skipping = (change: Partial<Settings> = {}) =>
    failed({ optimizationMode: "BISECTION_SKIP_REDUNDANT_TESTS", ...change });

  it("lets the failed test of the whole stand for its last part", () => {
    const queue = skipping();
    expect(queue.moves().slice(4)).toEqual([
      "#1 PENDING_FAILURE > PENDING (BISECTED)",
      "#2 PENDING_FAILURE > PENDING (BISECTED)",
    ]);
    expect([parts(queue), queue.states()]).toEqual([
      "1+2",
      { 1: "PENDING", 2: "PENDING", 3: "PENDING_FAILURE", 4: "PENDING_FAILURE" },
    ]);
    expect(queue.run(3)).toMatchObject({ id: "q-1", kind: "BISECTION", predecessors: [id(1), id(2)], phase: "FAILED" });
  });

  it("takes the last part apart without a test when those before it passed", () => {
    const queue = skipping().builds(1).passes(1).lands();
    expect(parts(queue)).toBe("3");
    queue.builds(3).passes(3).lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED", 4: "FAILED" });
    expect(queue.state.totals.bisectionRunsStarted).toBe(2);
  });

  it("confirms the last one by a repeat all the same", () => {
    const queue = skipping({ retriesBeforeFailure: 1 }).builds(1).passes(1).lands().builds(3).passes(3).lands();
    expect(queue.effect("repeat-checks")).toMatchObject({ run: "q-1", repeat: 1 });
    expect(queue.passes(4).lands().states()).toMatchObject({ 4: "MERGED" });
  });

  it("tests the last part anew when one before it has failed", () => {
    const queue = skipping().builds(1).fails(1).builds(1);
    expect(queue.fails(1).states()).toMatchObject({ 1: "FAILED" });
    expect(parts(queue)).toBe("2, 3+4 on 2");
    expect(queue.builds(2, 3).passes(2).lands().passes(3).lands().states()).toEqual({
      1: "FAILED",
      2: "MERGED",
      3: "MERGED",
      4: "MERGED",
    });
  });
});
