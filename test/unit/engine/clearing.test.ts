import { afterEach, describe, expect, it } from "vitest";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aQueue, aTip, id, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const OPTIMISTIC: Partial<Settings> = { canOptimisticallyMerge: true, retriesBeforeFailure: 0 };

describe("what a successor clears", () => {
  it("lands with it in one piece, as it was tested", () => {
    const queue = testing([1, 2], OPTIMISTIC).passes(2);
    expect(queue.moves()).toEqual([
      "#1 TESTING > TESTS_PASSED (CLEARED_BY_SUCCESSOR)",
      "#2 TESTING > TESTS_PASSED (TESTS_PASSED)",
    ]);
    expect(queue.effect("land")).toMatchObject({ run: "q-2", changes: [{ prNumber: 1 }, { prNumber: 2 }] });
    expect(queue.lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
  });

  it("says by whose test it landed, before and after", () => {
    const failed = testing([1, 2], { ...OPTIMISTIC, pendingFailureDepth: 1 }).fails(1);
    expect(failed.explains(1).blockers).toMatchObject([{ kind: "SUCCESSOR", prNumber: 2 }]);
    expect(failed.explains(1).summary).toContain("the test of PR #2 behind it, which contains it, would clear it");
    expect(failed.passes(2).lands().explains(1).summary).toMatch(
      /^PR #1 ended MERGED: merged into main as \S+; its own test failed, and the test of PR #2 behind it, which contains it, passed\.$/u,
    );
    expect(failed.explains(2).summary).toMatch(/^PR #2 ended MERGED: merged into main as \S+$/u);
  });

  it("keeps the order in which it was sent to land, whoever becomes urgent meanwhile", () => {
    const queue = testing([1, 2], OPTIMISTIC).passes(2).prioritises(2, 0);
    expect(queue.order()).toEqual([1, 2]);
    expect(queue.refuses({ kind: "INFRASTRUCTURE", what: "502" }).sleeps().lands().states()).toEqual({
      1: "MERGED",
      2: "MERGED",
    });
  });

  it("lands although clearing is turned off meanwhile, and is what its own tests say if it does not land", () => {
    const sent = () => testing([1, 2], OPTIMISTIC).passes(2).sets({ canOptimisticallyMerge: false });
    expect(sent().lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
    const moved = sent().refuses({ kind: "TIP_MOVED" }).answersTip("T0");
    expect([moved.states(), moved.state.landing]).toEqual([{ 1: "TESTING", 2: "TESTS_PASSED" }, null]);
  });
});

describe("a pass of a successor clears nobody", () => {
  it("where all of it cannot land at once: one that it holds depends on somebody else by now", () => {
    const queue = aLanedQueue(OPTIMISTIC).opens().brings(1, "a").brings(2, "c").brings(3, "b").brings(4, "b c");
    queue.builds(1, 2, 3, 4).impacts(3, "a").reportsOn(queue.run(4).id, { unit: "SUCCESS" });
    expect([queue.states(), queue.state.landing]).toMatchObject([{ 2: "TESTING", 4: "TESTS_PASSED" }, null]);
    queue.passes(1).lands().passes(2).lands();
    expect(queue.states()).toMatchObject({ 1: "MERGED", 2: "MERGED" });
  });

  it("of those whom the host refused before: they land one by one, so that it is known whom it refuses", () => {
    const queue = testing([1, 2], OPTIMISTIC).passes(2).refuses({ kind: "REFUSED", what: "a review is missing" });
    queue.facts(1, { mergeability: "MERGEABLE" }).facts(2, { mergeability: "MERGEABLE" }).builds(1, 2).passes(2);
    expect([queue.states(), queue.state.landing]).toEqual([{ 1: "TESTING", 2: "TESTS_PASSED" }, null]);
    queue.passes(1).lands().refuses({ kind: "REFUSED", what: "a review is missing" });
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "FAILED" });
  });
});

describe("a run that is older than a landing that overlaps what it holds", () => {
  it("clears nobody where it left out what landed, however late its pass is told", () => {
    const queue = testing([1, 2, 3], { ...OPTIMISTIC, retriesBeforeFailure: 1 })
      .fails(1)
      .builds(2, 3);
    // Tested without #1, which failed; then a repeat passes, and it lands.
    const without = queue.run(3, "TESTING");
    expect(without.assumedOut).toEqual([id(1)]);
    queue.passes(1).lands().forgets().reportsOn(without.id, { unit: "SUCCESS" });
    expect([queue.moves(), queue.state.landing]).toEqual([[], null]);
  });

  it("clears nobody that it holds behind what landed, though it is the newest", () => {
    const queue = testing([1, 2, 3], { ...OPTIMISTIC, retriesBeforeFailure: 1 })
      .fails(1)
      .builds(2, 3);
    queue.reportsOn(queue.run(3, "TESTING").id, { unit: "SUCCESS" });
    // While #1 may still land, it proves nothing of #2; when #1 has landed, it proves nothing at all.
    expect(queue.states()).toEqual({ 1: "PENDING_FAILURE", 2: "TESTING", 3: "TESTS_PASSED" });
    expect(queue.passes(1).lands().states()).toEqual({ 1: "MERGED", 2: "TESTING", 3: "TESTING" });
  });

  it("clears nobody that overlaps what landed, though its own group does not", () => {
    const queue = aLanedQueue(OPTIMISTIC).opens().brings(1, "a").brings(2, "a b").brings(3, "b").builds(1, 2, 3);
    expect(queue.contents(3)).toEqual(["2+3"]);
    queue.passes(1).lands().passes(3);
    expect([queue.states(), queue.state.landing]).toEqual([{ 1: "MERGED", 2: "TESTING", 3: "TESTS_PASSED" }, null]);
    expect(queue.passes(2).lands().states()).toMatchObject({ 2: "MERGED", 3: "TESTS_PASSED" });
  });

  it("clears nobody whose targets have come to overlap what landed", () => {
    const queue = aLanedQueue(OPTIMISTIC).opens().brings(1, "a").brings(2, "b").brings(3, "b").builds(1, 2, 3);
    const late = queue.run(3).id;
    queue.passes(1).lands().impacts(2, "a b").forgets().reportsOn(late, { unit: "SUCCESS" });
    expect([queue.moves(), queue.state.landing, queue.states()[2]]).toEqual([[], null, "PENDING"]);
    expect(queue.contents(3)).toEqual(["2+3"]);
  });

  it("clears those of another lane all the same", () => {
    const queue = aLanedQueue(OPTIMISTIC).opens().brings(1, "a").brings(2, "b").brings(3, "b").builds(1, 2, 3);
    queue.passes(1).lands().reportsOn(queue.run(3).id, { unit: "SUCCESS" });
    expect(queue.state.landing).toMatchObject({ run: "q-3", group: [id(2), id(3)], expectedTip: "commit-q-1" });
  });
});

describe("a test that holds what failed and what only a successor proved, without that successor", () => {
  // #1 fails alone and passes with #2; #3 was tested on #1, and shares nothing with #2.
  const tested = () => {
    const queue = aLanedQueue({ ...OPTIMISTIC, pendingFailureDepth: 1 }).opens();
    return queue.brings(1, "a b").brings(2, "a").brings(3, "b").builds(1, 2, 3);
  };
  const cleared = () =>
    tested()
      .fails(1)
      .passes(2)
      .lands({ tip: aTip("both") });

  it("is not judged by its failure: it is tested again with both", () => {
    const queue = cleared().forgets().fails(3);
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "PENDING" });
    expect(queue.effects()).toEqual(["close-run:q-3", "build-run:q-6"]);
    expect(queue.builds(3).fails(3).states()).toMatchObject({ 3: "FAILED" });
  });

  it("fails as any other where what it holds had not failed", () => {
    const queue = tested()
      .passes(2)
      .lands({ tip: aTip("both") });
    expect(queue.fails(3).states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "FAILED" });
  });

  it("passes as any other", () => {
    expect(
      cleared()
        .passes(3)
        .lands({ tip: aTip("all") })
        .states(),
    ).toMatchObject({ 3: "MERGED" });
  });

  it("fails as any other where what it holds had passed as well", () => {
    const queue = aLanedQueue(OPTIMISTIC).opens().brings(1, "a b").brings(2, "a").brings(3, "b").builds(1, 2, 3);
    queue
      .passes(1)
      .lands()
      .passes(2)
      .lands({ tip: aTip("both") });
    expect(queue.fails(3).states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "FAILED" });
  });
});

describe("a failure that a successor may clear", () => {
  it("does not wait for one whose test cannot be built, because two in it conflict", () => {
    const queue = aQueue({ ...OPTIMISTIC, pendingFailureDepth: 3 })
      .opens()
      .submits(1, 2, 3);
    queue.cannotBuild(3, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    queue.cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    queue.builds(1, 3).fails(1);
    expect([queue.states()[1], queue.contents(3)[0]]).toEqual(["PENDING_FAILURE", "1+3"]);
    queue.reportsOn(queue.runs(3)[0]?.id ?? ("none" as never), { unit: "FAILURE" });
    expect([queue.states()[1], queue.contents(2)]).toEqual(["FAILED", ["2"]]);
  });
});
