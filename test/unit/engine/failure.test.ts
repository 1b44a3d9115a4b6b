import { afterEach, describe, expect, it } from "vitest";
import { aQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

describe("a failure", () => {
  it.each([0, 1, 2, 3])("counts only after %i repeats, where tests often fail by chance", (retriesBeforeFailure) => {
    const queue = testing([1], { retriesBeforeFailure });
    queue.state = { ...queue.state, totals: { ...queue.state.totals, flakes: 30, merged: 60 } };
    for (let repeat = 1; repeat <= retriesBeforeFailure; repeat += 1) {
      queue.fails(1);
      expect(queue.states()).toEqual({ 1: "PENDING_FAILURE" });
      expect(queue.effects()).toEqual([`repeat:q-1:${repeat}`]);
    }
    queue.fails(1);
    expect(queue.entry(1)).toMatchObject({
      state: "FAILED",
      conclusion: { reason: "TESTS_FAILED", message: "unit failed" },
    });
  });

  it("is not repeated twice where tests hardly ever fail by chance", () => {
    const queue = testing([1], { retriesBeforeFailure: 3 }).fails(1);
    expect(queue.effects()).toEqual(["repeat:q-1:1"]);
    expect(queue.fails(1).entry(1)).toMatchObject({ state: "FAILED", conclusion: { reason: "TESTS_FAILED" } });
  });

  it("repeats the failed required checks and no others", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"] });
    queue.reports(1, { unit: "FAILURE", lint: "SUCCESS", optional: "FAILURE" });
    expect(queue.effect("repeat-checks")).toMatchObject({ run: "q-1", repeat: 1, contexts: ["unit"] });
  });

  it("counts at once, but its repeat waits for what is still to come", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"] });
    queue.reports(1, { unit: "FAILURE" }, { complete: false });
    expect([queue.states(), queue.effects()]).toEqual([{ 1: "PENDING_FAILURE" }, []]);
    queue.reports(1, { unit: "FAILURE", lint: "ERROR" });
    expect(queue.effect("repeat-checks")?.contexts).toEqual(["unit", "lint"]);
  });

  it("does not wait beyond the deadline for what never comes", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"] }).reports(
      1,
      { unit: "FAILURE" },
      { complete: false },
    );
    expect(queue.sleeps().effect("repeat-checks")?.contexts).toEqual(["unit", "lint"]);
  });

  it("that a repeat passes is none", () => {
    const queue = testing([1]).fails(1).passes(1);
    expect(queue.moves().at(-1)).toBe("#1 PENDING_FAILURE > TESTS_PASSED (REPEAT_PASSED)");
    expect(queue.run(1).failure).toBeNull();
  });

  it("that somebody repeats at the host counts as it is then", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2).passes(2);
    expect(queue.states()).toMatchObject({ 2: "TESTS_PASSED" });
  });

  it("is judged only when everything ahead is settled", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2);
    expect(queue.states()).toEqual({ 1: "TESTING", 2: "PENDING_FAILURE" });
    expect(queue.passes(1).lands().states()).toEqual({ 1: "MERGED", 2: "FAILED" });
  });

  it("says nothing when the run contained one that left", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2).cancels(1);
    expect(queue.moves()).toEqual([
      "#2 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#1 TESTING > CANCELLED (CANCELLED_BY_USER)",
      "#2 PENDING_FAILURE > PENDING (PREDECESSOR_LEFT)",
    ]);
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("says nothing when the run lacked one that landed", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 1 }).fails(1);
    expect(queue.contents(2)).toEqual(["1+2", "2"]);
    queue.builds(2).reportsOn(queue.run(2).id, { unit: "FAILURE" }).passes(1).lands();
    expect(queue.state.runs.has("q-3" as never)).toBe(false);
    expect(queue.contents(2)).toEqual(["e1+2"]);
  });
});

describe("the likely path", () => {
  it("tests those behind a failure without it, and keeps the older run", () => {
    const queue = testing([1, 2]).fails(1);
    expect(queue.contents(2)).toEqual(["1+2", "2"]);
    expect(queue.states()).toEqual({ 1: "PENDING_FAILURE", 2: "TESTING" });
  });

  it("the older run counts again when the failure was none", () => {
    const queue = testing([1, 2]).passes(2).fails(1).passes(1).lands();
    expect(queue.moves().filter((move) => move.startsWith("#2"))).toEqual([
      "#2 TESTING > TESTS_PASSED (TESTS_PASSED)",
      "#2 TESTS_PASSED > PENDING (PREDECESSORS_CHANGED)",
      "#2 PENDING > TESTS_PASSED (PREDECESSORS_CHANGED)",
    ]);
    expect(queue.state.landing?.run).toBe("q-2");
  });

  it("a pass without a predecessor never lands before that one is settled", () => {
    const queue = testing([1, 2]).fails(1).builds(2);
    queue.reportsOn(queue.run(2).id, { unit: "SUCCESS" });
    expect([queue.states(), queue.state.landing]).toEqual([{ 1: "PENDING_FAILURE", 2: "TESTS_PASSED" }, null]);
    queue.fails(1);
    expect([queue.states(), queue.state.landing?.run]).toEqual([{ 1: "FAILED", 2: "TESTS_PASSED" }, "q-3"]);
  });

  it("takes a slot like any other, after the repeat", () => {
    const queue = testing([1, 2], { concurrency: 2 }).fails(1);
    expect(queue.effects()).toEqual(["repeat:q-1:1"]);
    queue.fails(1);
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("the same content is not tested again when the one left out loses its readiness", () => {
    const queue = testing([1, 2]).fails(1).builds(2);
    queue.facts(1, { mergeability: "NOT_MERGEABLE" });
    expect(queue.contents(2)).toEqual(["2"]);
    queue.passes(2);
    expect([queue.states()[2], queue.state.landing?.run]).toEqual(["TESTS_PASSED", "q-3"]);
  });

  it("the verdict of a void run does not decide when an older one does", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 });
    queue.facts(1, { headSha: "another" as never });
    expect(queue.states()).toEqual({ 1: "CANCELLED", 2: "PENDING" });
  });
});

describe("a failing predecessor", () => {
  it("keeps the repeat of one behind it waiting, and never for ever", () => {
    const queue = testing([1, 2], { concurrency: 5 }).fails(1, 2);
    expect(queue.effects()).toEqual(["repeat:q-1:1", "build-run:q-3"]);
    queue.passes(1);
    expect(queue.effects()).toContain("repeat:q-2:1");
  });
});

describe("a pass of everything", () => {
  it("is not believed without a run of exactly that content", () => {
    const queue = aQueue().opens().submits(1, 2).builds(1, 2).passes(2);
    expect([queue.states(), queue.state.landing]).toEqual([{ 1: "TESTING", 2: "TESTS_PASSED" }, null]);
  });
});
