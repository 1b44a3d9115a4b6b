import { afterEach, describe, expect, it } from "vitest";
import {
  batchSizeUnderLoad,
  chanceOf,
  chanceToLand,
  estimatesOf,
  floorOf,
  goodAfter,
  isAssumedToLand,
  isWorthRepeating,
  secondPathFloor,
} from "../../../shared/queue/engine/policy.ts";
import type { Entry, Run } from "../../../shared/queue/engine/types.ts";
import { aQueue, id, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const totals = (change: { merged?: number; failed?: number; flakes?: number }) => ({
  ...aQueue().state.totals,
  ...change,
});

describe("how often changes are at fault, and tests fail by chance", () => {
  it("begins at one in twelve and one in forty", () => {
    expect(estimatesOf(totals({}))).toEqual({ fault: 1 / 12, flake: 1 / 40 });
  });

  it("follows the queue's own record", () => {
    expect(estimatesOf(totals({ merged: 88, failed: 9, flakes: 15 }))).toEqual({ fault: 10 / 109, flake: 16 / 128 });
  });
});

describe("after failures in a row", () => {
  const estimates = { fault: 0.1, flake: 0.2 };

  it("the first of which may be chance, or another's fault, the change is good by Bayes' rule", () => {
    expect(goodAfter(estimates, 1)).toBeCloseTo((0.9 * 0.2) / (0.9 * 0.2 + 0.1), 12);
    expect(goodAfter(estimates, 3)).toBeCloseTo((0.9 * 0.008) / (0.9 * 0.008 + 0.1), 12);
    const byChance = 0.5 + 0.5 * 0.2 ** 2;
    expect(goodAfter(estimates, 2, 0.5)).toBeCloseTo((0.9 * byChance) / (0.9 * byChance + 0.1), 12);
  });

  it.each([
    [1, 0.0001, true],
    [2, 0.01, false],
    [2, 0.2, true],
    [3, 0.1, false],
    [3, 0.5, true],
  ])("the %i. is repeated at a rate of %f by chance: %s", (failures, flake, expected) => {
    expect(isWorthRepeating({ fault: 0.05, flake }, failures)).toBe(expected);
  });

  it("where changes are often at fault a smaller chance is worth a repeat", () => {
    const chance = goodAfter({ fault: 0.4, flake: 0.08 }, 2);
    expect([chance > (0.003 * 0.6) / 0.4, chance < 0.1]).toEqual([true, true]);
    expect(isWorthRepeating({ fault: 0.4, flake: 0.08 }, 2)).toBe(true);
    expect(isWorthRepeating({ fault: 0.4, flake: 0.04 }, 2)).toBe(false);
  });
});

describe("how likely an entry lands", () => {
  const entry = (change: Partial<Entry>): Entry => ({ ...testing([1]).entry(1), ...change });
  const run = (change: Partial<Run>): Run => ({ ...testing([1]).run(1), phase: "FAILED", ...change });
  const estimates = { fault: 0.1, flake: 0.2 };

  const afterOne = (0.9 * 0.2) / (0.9 * 0.2 + 0.1);
  const afterTwo = (0.9 * 0.2 * 0.2) / (0.9 * 0.2 * 0.2 + 0.1);

  it.each<[string, Partial<Entry>, Partial<Run> | undefined, number]>([
    ["passed", { state: "TESTS_PASSED" }, undefined, 0.99],
    ["passed, after a repeat", { state: "TESTS_PASSED" }, { repeats: 1 }, 0.99],
    ["tested", { state: "TESTING" }, undefined, 0.9],
    ["waiting", { state: "PENDING" }, undefined, 0.9],
    ["waiting for one that it conflicts with", { state: "PENDING", conflictsWith: id(7) }, undefined, 0.1],
    ["tested, and in conflict with one", { state: "TESTING", conflictsWith: id(7) }, undefined, 0.9],
    ["failed, by a run that is not known", { state: "PENDING_FAILURE" }, undefined, 0.9],
    ["tested again after a failure", { state: "TESTING" }, {}, 0.9],
    ["failed", { state: "PENDING_FAILURE" }, {}, afterOne],
    ["failed, being repeated", { state: "PENDING_FAILURE" }, { phase: "REPEATING", repeats: 1 }, afterOne],
    ["failed twice", { state: "PENDING_FAILURE" }, { repeats: 1 }, afterTwo],
  ])("%s", (_, one, failed, expected) => {
    const by = failed === undefined ? undefined : run(failed);
    expect(chanceToLand(estimates, entry(one), by, 1)).toBeCloseTo(expected, 12);
  });

  it("failed, with others that may be at fault", () => {
    const one = entry({ state: "PENDING_FAILURE" });
    expect(chanceToLand(estimates, one, run({}), 0.5)).toBeCloseTo(goodAfter(estimates, 1, 0.5), 12);
  });

  it("failed in a batch, of which one at least is at fault, or one of those ahead", () => {
    const one = entry({ state: "PENDING_FAILURE" });
    const of = (size: number) => run({ group: Array.from({ length: size }, (_, at) => id(at + 1)) });
    expect(chanceToLand(estimates, one, of(2), 1)).toBeCloseTo(1 - 0.1 / 0.19, 12);
    expect(chanceToLand(estimates, one, of(4), 0.3)).toBeCloseTo(1 - 0.1 / (1 - 0.3 * 0.9 ** 4), 12);
  });

  it("a run is needed if those that it holds land, and those that it leaves out do not", () => {
    const chances = (one: string): number => ({ e1: 0.9, e2: 0.5, e3: 0.2 })[one] ?? 1;
    expect(chanceOf(chances, [id(1), id(2)], [id(3)])).toBeCloseTo(0.9 * 0.5 * 0.8, 12);
    expect(chanceOf(chances, [], [])).toBe(1);
  });
});

describe("the likely path", () => {
  const all = (queue: ScriptedQueue, number: number) =>
    isAssumedToLand({ entries: new Map(queue.state.entries) }, queue.entry(number));

  it("holds whoever has not failed", () => {
    const queue = testing([1, 2, 3]).fails(2).passes(3);
    expect([1, 2, 3].map((number) => all(queue, number))).toEqual([true, false, true]);
  });

  it("leaves out whoever conflicts with one that it holds", () => {
    const queue = aQueue().opens().submits(1, 2);
    queue.builds(1).cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    expect(all(queue, 2)).toBe(false);
    const without = (state: Entry["state"]) => ({
      entries: new Map([[id(1), { ...queue.entry(1), state }]]),
    });
    const states = ["PENDING_FAILURE", "NOT_READY", "TESTING", "TESTS_PASSED", "PENDING"] as const;
    expect(states.map((state) => isAssumedToLand(without(state), queue.entry(2)))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(isAssumedToLand({ entries: new Map() }, queue.entry(2))).toBe(false);
  });

  it("a second guess is started where slots idle, and none where they are busy", () => {
    const failing = testing([1, 2], { concurrency: 9 }).fails(1);
    expect(failing.contents(2)).toEqual(["1+2", "2"]);
    expect(failing.passes(1).contents(2)).toEqual(["1+2", "2"]);
    const busy = testing([1, 2], { concurrency: 2 }).fails(1);
    expect(busy.contents(2)).toEqual(["1+2"]);
  });

  it("a run behind many that are undecided is not started, however many slots are free", () => {
    const queue = aQueue({ concurrency: 100 }).opens();
    queue.fills(60, (number) => queue.submits(number));
    const tested = [...queue.state.runs.values()].length;
    expect(tested).toBe(41);
    expect(queue.explains(60).blockers).toMatchObject([{ kind: "UNDECIDED_PREDECESSORS", prNumber: 1 }]);
  });

  it("an urgent one is, whatever is ahead of it", () => {
    const queue = aQueue({ concurrency: 100 }).opens();
    queue.fills(60, (number) => queue.submitsUrgently(number));
    expect(queue.state.runs.size).toBe(60);
  });
});

describe("the floors", () => {
  it.each([
    [0, 0.03],
    [0.5, 0.03],
    [0.51, 0.08],
    [0.8, 0.08],
    [0.81, 0.15],
    [0.95, 0.15],
    [0.96, 0.3],
    [1, 0.3],
  ])("of a run at a busy share of %f", (share, expected) => expect(floorOf(share)).toBe(expected));

  it.each([
    [0, 0.15],
    [0.59, 0.15],
    [0.6, 0.25],
    [0.89, 0.25],
    [0.9, Number.POSITIVE_INFINITY],
    [1, Number.POSITIVE_INFINITY],
  ])("of a second guess at a busy share of %f", (share, expected) => expect(secondPathFloor(share)).toBe(expected));
});

describe("the size of a batch under load", () => {
  it.each([
    ["what waits for each slot", 20, 6, 3, 3],
    ["the cheapest at this rate of failures", 20, 90, 3, 5],
    ["what the operator allows", 2, 90, 3, 2],
    ["one, with nobody else", 20, 0, 3, 1],
    ["as for one slot, without any", 20, 2, 0, 3],
    ["one, whatever the operator allows", 0, 90, 3, 1],
  ])("is %s", (_, most, waiting, slots, expected) => {
    expect(batchSizeUnderLoad({ fault: 0.03, flake: 0.01 }, most, waiting, slots)).toBe(expected);
  });
});
