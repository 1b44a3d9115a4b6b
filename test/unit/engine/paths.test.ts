import { describe, expect, it } from "vitest";
import { groupId } from "../../../shared/kernel/ids.ts";
import { Draft } from "../../../shared/queue/engine/draft.ts";
import type { Group } from "../../../shared/queue/engine/line.ts";
import { chanceOnPath, chancesNow, isWorthIt, secondPathOf } from "../../../shared/queue/engine/paths.ts";
import { goodAfter } from "../../../shared/queue/engine/policy.ts";
import type { Entry, Landing, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, aRun, ids } from "../../support/forged.ts";
import { sha, someSettings, START } from "../../support/queue.ts";

const FAULT = 1 / 12;
const ESTIMATES = { fault: FAULT, flake: 1 / 40 };
const failure = { kind: "CHECKS", contexts: ["unit"] } as const;

type More = { readonly runs?: readonly Run[]; readonly settings?: Partial<Settings>; readonly landing?: Landing };
const draftOf = (entries: readonly Entry[], { runs = [], settings = {}, landing }: More = {}): Draft => {
  const state: QueueState = aQueueOf({ entries, runs }, landing === undefined ? {} : { landing });
  return new Draft({ ...state, config: { ...state.config, settings: someSettings(settings) } }, START);
};
const queue = (count: number, change: Readonly<Record<number, Partial<Entry>>> = {}, more: More = {}): Draft =>
  draftOf(
    Array.from({ length: count }, (_, at) => anEntry(at + 1, { state: "TESTING", ...change[at + 1] })),
    more,
  );
const one = (number: number) => ids(number)[0] as never;
const groupOf = (draft: Draft, number: number): Group => draft.groupOf(one(number)) as Group;
const testOf = (number: number, numbers: readonly number[], change: Partial<Run> = {}): Run =>
  aRun(number, ids(...numbers.slice(-1)), {
    predecessors: ids(...numbers.slice(0, -1)),
    phase: "TESTING",
    ...change,
  });
const failed = { phase: "FAILED", failure } as const;
const known =
  (chances: Readonly<Record<number, number>>) =>
  (id: string): number =>
    chances[Number(id.slice(1))] ?? 1;

describe("how likely one lands now", () => {
  const chance = (draft: Draft, number: number) => chancesNow(draft)(one(number));

  it("is by the record where nothing is known, and none for one that is not there", () => {
    const draft = queue(1);
    expect([chance(draft, 1), chance(draft, 9)]).toEqual([1 - FAULT, 0]);
  });

  it("is certain for one that lands or is cleared", () => {
    const landing = { group: ids(1), landed: false, run: null } as unknown as Landing;
    expect(chance(queue(2, {}, { landing }), 1)).toBe(1);
    const cleared = queue(
      2,
      { 1: { state: "TESTS_PASSED" } },
      { runs: [testOf(1, [1, 2], { phase: "PASSED" })], settings: { canOptimisticallyMerge: true } },
    );
    expect(chance(cleared, 1)).toBe(1);
  });

  it("after a failure depends on those that were tested with it", () => {
    const state = { state: "PENDING_FAILURE" } as const;
    const alone = queue(1, { 1: state }, { runs: [testOf(1, [1], failed)] });
    expect(chance(alone, 1)).toBeCloseTo(goodAfter(ESTIMATES, 1, 1), 12);
    const behind = queue(3, { 3: state }, { runs: [testOf(1, [1, 2, 3], failed)] });
    expect(chance(behind, 3)).toBeCloseTo(goodAfter(ESTIMATES, 1, (1 - FAULT) ** 2), 12);
    const both = queue(2, { 1: state, 2: state }, { runs: [testOf(1, [1], failed), testOf(2, [1, 2], failed)] });
    expect(chance(both, 2)).toBeCloseTo(goodAfter(ESTIMATES, 1, goodAfter(ESTIMATES, 1, 1)), 12);
    const other = queue(3, { 3: state }, { runs: [testOf(1, [3]), testOf(2, [1, 2, 3], failed)] });
    expect(chance(other, 3)).toBeCloseTo(goodAfter(ESTIMATES, 1, (1 - FAULT) ** 2), 12);
    const gone = queue(3, { 3: state }, { runs: [testOf(1, [1, 2, 3], { ...failed, base: sha("T7") })] });
    expect(chance(gone, 3)).toBeCloseTo(goodAfter(ESTIMATES, 1, 1), 12);
  });

  it("is looked up once", () => {
    let asked = 0;
    const draft = queue(1);
    const clearing = draft.clearingRun.bind(draft);
    draft.clearingRun = (id) => {
      asked += 1;
      return clearing(id);
    };
    const chances = chancesNow(draft);
    expect([chances(one(1)), chances(one(1)), asked]).toEqual([1 - FAULT, 1 - FAULT, 1]);
  });
});

describe("whether a test is worth it", () => {
  const worth = (chances: Readonly<Record<number, number>>, draft = queue(3)) =>
    isWorthIt(draft, known(chances), groupOf(draft, 3));

  it("follows from the product over those ahead, down to a floor", () => {
    expect(worth({})).toBe(true);
    expect([worth({ 1: 0.3, 2: 0.1 }), worth({ 1: 0.2, 2: 0.1 }), worth({ 1: 0.02 })]).toEqual([true, false, false]);
    expect([worth({ 1: 0.03 }), worth({ 1: 0.0299 })]).toEqual([true, false]);
  });

  it("counts one that is not likely to land by how likely it does not", () => {
    const draft = () => queue(3, { 1: { state: "PENDING_FAILURE" } });
    expect([worth({ 1: 0.99 }, draft()), worth({ 1: 0.2 }, draft())]).toEqual([false, true]);
  });

  it("asks for more where the slots are in use", () => {
    const busy = (used: number) =>
      worth(
        { 1: 0.2 },
        queue(
          3,
          {},
          {
            runs: Array.from({ length: used }, (_, at) => aRun(at + 1, ids(20 + at), { phase: "TESTING" })),
            settings: { concurrency: 2 },
          },
        ),
      );
    expect([busy(0), busy(1), busy(2)]).toEqual([true, true, false]);
    const bisecting = [aRun(1, ids(21), { phase: "TESTING", kind: "BISECTION" })];
    expect(worth({ 1: 0.2 }, queue(3, {}, { runs: bisecting, settings: { concurrency: 1 } }))).toBe(true);
  });
});

describe("the second most likely assumptions", () => {
  const on3 = [testOf(3, [1, 2, 3])];
  const second = (
    chances: Readonly<Record<number, number>>,
    runs: readonly Run[] = on3,
    change: Readonly<Record<number, Partial<Entry>>> = {},
    concurrency = 9,
  ): string => {
    const draft = queue(3, change, { runs, settings: { concurrency } });
    const found = secondPathOf(draft, known(chances), groupOf(draft, 3));
    const numbers = (of: readonly string[]) => of.map((id) => id.slice(1)).join("+");
    return found === undefined ? "none" : `${numbers(found.predecessors)} without ${numbers(found.assumedOut)}`;
  };

  it("turn over the one that is the least certain", () => {
    expect(second({ 1: 0.9, 2: 0.6 })).toBe("1 without 2");
    expect(second({ 1: 0.6, 2: 0.9 })).toBe("2 without 1");
    expect(second({ 1: 0.6, 2: 0.6 })).toBe("2 without 1");
    expect(second({ 1: 0 })).toBe("2 without 1");
    const out = [testOf(3, [2, 3], { assumedOut: ids(1) })];
    expect(second({ 1: 0.45, 2: 0.9 }, out, { 1: { state: "PENDING_FAILURE" } })).toBe("1+2 without ");
    expect(second({ 1: 0.1, 2: 0.6 }, out, { 1: { state: "PENDING_FAILURE" } })).toBe(" without 1+2");
  });

  it("are none where all is certain, where they are too unlikely, or where the likeliest is not tested yet", () => {
    expect(second({})).toBe("none");
    expect([second({ 1: 0.86 }), second({ 1: 0.84 })]).toEqual(["none", "2 without 1"]);
    expect(second({ 1: 0.6 }, [])).toBe("none");
    expect(second({ 1: 0.6 }, [testOf(3, [1, 3], { assumedOut: ids(2) })])).toBe("none");
    expect([second({ 1: 0.8 }, on3, {}, 9), second({ 1: 0.8 }, on3, {}, 1)]).toEqual(["2 without 1", "none"]);
  });

  it("turn a batch over as a whole", () => {
    const batch = { group: groupId("b") };
    expect(second({ 1: 0.9, 2: 0.6 }, on3, { 1: batch, 2: batch })).toBe(" without 1+2");
  });

  it("have as their chance the product of what they assume", () => {
    const chances = known({ 1: 0.5, 2: 0.2 });
    expect(chanceOnPath(chances, { predecessors: ids(1), assumedOut: ids(2) })).toBeCloseTo(0.4, 12);
  });
});
