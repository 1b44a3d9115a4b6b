import { describe, expect, it } from "vitest";
import { Draft } from "../../../shared/queue/engine/draft.ts";
import { interruptLast, isUrgentGroup, leastLikelyRun, takeOver } from "../../../shared/queue/engine/giving-way.ts";
import type { Group } from "../../../shared/queue/engine/line.ts";
import type { Entry, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { groupId } from "../../../shared/kernel/ids.ts";
import { later } from "../../../shared/kernel/time.ts";
import { anEntry, aQueueOf, aRun, ids } from "../../support/forged.ts";
import { sha, someSettings, START } from "../../support/queue.ts";

const NOW = later(START, 1000);
const URGENT = { priority: { value: 0, byDefault: false } };
const failure = { kind: "CHECKS", contexts: ["unit"] } as const;

/** The test of the last of these numbers on the others, in progress. */
const testOf = (number: number, numbers: readonly number[], change: Partial<Run> = {}): Run =>
  aRun(number, ids(...numbers.slice(-1)), {
    predecessors: ids(...numbers.slice(0, -1)),
    phase: "TESTING",
    ...change,
  });

const draftOf = (entries: readonly Entry[], runs: readonly Run[], settings: Partial<Settings> = {}): Draft => {
  const state = aQueueOf({ entries, runs });
  return new Draft({ ...state, config: { ...state.config, settings: someSettings(settings) } }, NOW);
};
const queue = (runs: readonly Run[], change: Readonly<Record<number, Partial<Entry>>> = {}, settings = {}): Draft =>
  draftOf(
    [1, 2, 3, 4].map((number) => anEntry(number, change[number])),
    runs,
    settings,
  );
const groupOf = (draft: Draft, number: number): Group => draft.groupOf(ids(number)[0] as never) as Group;

/** How likely each entry lands, by its number; the others surely do. */
const chances =
  (known: Readonly<Record<number, number>>) =>
  (id: string): number =>
    known[Number(id.slice(1))] ?? 1;
const least = (draft: Draft, known: Readonly<Record<number, number>>) => {
  const found = leastLikelyRun(draft, chances(known));
  return found === undefined ? "none" : `${found.run.id} ${found.chance.toFixed(3)}`;
};

describe("the run that is the least likely to be needed", () => {
  const runs = [testOf(1, [1]), testOf(2, [1, 2]), testOf(3, [1, 2, 3])];

  it("is the one whose assumptions are, below one in five", () => {
    expect(least(queue(runs), { 1: 0.5, 2: 0.3 })).toBe("q-3 0.150");
    expect(least(queue(runs), { 1: 0.1, 2: 0.5 })).toBe("q-3 0.050");
    expect(least(queue(runs.toReversed()), { 1: 0.1, 2: 0.5 })).toBe("q-3 0.050");
    expect(least(queue(runs), { 1: 0.1 })).toBe("q-2 0.100");
    expect(least(queue(runs), { 1: 0.5, 2: 0.4 })).toBe("none");
    expect(least(queue(runs), { 1: 0.5, 2: 0.5 })).toBe("none");
  });

  it("counts those that it leaves out as well", () => {
    expect(least(queue([testOf(1, [2], { assumedOut: ids(1) })]), { 1: 0.9 })).toBe("q-1 0.100");
  });

  it("may be one that is being built, and none that has begun just now, has ended or is repeated", () => {
    const with1 = (change: Partial<Run>) => least(queue([testOf(1, [1, 2], change)]), { 1: 0.1 });
    expect(with1({ phase: "BUILDING" })).toBe("q-1 0.100");
    expect(with1({ startedAt: NOW })).toBe("none");
    for (const phase of ["REPEATING", "PASSED", "FAILED"] as const) expect(with1({ phase })).toBe("none");
    expect(with1({ kind: "BISECTION" })).toBe("none");
    expect(with1({ base: sha("T7") })).toBe("none");
  });

  it("is not that of an urgent one, which would take its slot back", () => {
    expect(least(queue([testOf(1, [1, 2])], { 1: URGENT, 2: URGENT }), { 1: 0.1 })).toBe("none");
  });

  it("is none without which its entry would be one that failed", () => {
    const failed = testOf(2, [2], { assumedOut: ids(1), phase: "FAILED", failure });
    expect(least(queue([testOf(1, [1, 2]), failed]), { 1: 0.1 })).toBe("none");
    expect(least(queue([testOf(1, [1, 2], { failure })]), { 1: 0.1 })).toBe("q-1 0.100");
    expect(least(queue([testOf(1, [1, 2]), { ...failed, failure: null }]), { 1: 0.1 })).toBe("q-1 0.100");
  });

  it("is none that may clear a failure ahead of it, where the queue merges so", () => {
    const clears = { canOptimisticallyMerge: true, pendingFailureDepth: 1 };
    const failed = { 1: { state: "PENDING_FAILURE" } } as const;
    const second = (change: Readonly<Record<number, Partial<Entry>>>, settings: Partial<Settings>) =>
      least(queue([testOf(1, [1, 2])], change, settings), { 1: 0.1 });
    expect(second(failed, clears)).toBe("none");
    expect(second({}, clears)).toBe("q-1 0.100");
    expect(second(failed, { ...clears, canOptimisticallyMerge: false })).toBe("q-1 0.100");
    expect(second(failed, { ...clears, pendingFailureDepth: 0 })).toBe("q-1 0.100");
    const third = (change: Readonly<Record<number, Partial<Entry>>>, pendingFailureDepth: number) =>
      least(queue([testOf(1, [1, 2, 3])], change, { ...clears, pendingFailureDepth }), { 2: 0.1 });
    expect([third(failed, 1), third(failed, 2)]).toEqual(["q-1 0.100", "none"]);
    expect(third({ 2: { state: "PENDING_FAILURE" } }, 9)).toBe("q-1 0.100");
  });
});

describe("an urgent pull request takes a slot", () => {
  const urgent = { 4: URGENT };
  const interrupted = (draft: Draft): readonly string[] =>
    interruptLast(draft, groupOf(draft, 4)) ? draft.endedRuns.map((one) => `${one.run.id}: ${one.why}`) : ["none"];

  it("from the last in order that is not urgent, and says so", () => {
    const draft = queue([testOf(1, [4, 1]), testOf(2, [4, 1, 2]), testOf(3, [4, 1, 2, 3])], urgent);
    expect(interrupted(draft)).toEqual(["q-3: gave up its slot to PR #4, which is urgent"]);
    expect(draft.endedRuns).toMatchObject([{ outcome: "CANCELLED" }]);
    expect(draft.moves).toEqual([]);
    const tested = queue([testOf(1, [4, 1, 2])], { ...urgent, 2: { state: "TESTING" } });
    expect(interrupted(tested)).toHaveLength(1);
    expect(tested.moves).toMatchObject([{ from: "TESTING", reason: "SKIP_THE_LINE_INTERRUPTED", cause: "queue" }]);
  });

  it("from nobody who has none, has one of another kind, or is urgent", () => {
    const older = testOf(1, [4, 1]);
    const passed = queue([older, testOf(2, [4, 1, 2], { phase: "PASSED" })], urgent);
    expect(interrupted(passed)).toEqual(["q-1: gave up its slot to PR #4, which is urgent"]);
    const bisected = queue([older, testOf(2, [4, 1, 2], { kind: "BISECTION" })], urgent);
    expect(interrupted(bisected)).toEqual(["q-1: gave up its slot to PR #4, which is urgent"]);
    expect(interrupted(queue([], urgent))).toEqual(["none"]);
    expect(interrupted(queue([testOf(1, [4, 1])], { ...urgent, 1: URGENT }))).toEqual(["none"]);
    const repeated = queue([older, testOf(2, [4, 1, 2], { phase: "REPEATING", failure })], urgent);
    expect(interrupted(repeated)).toEqual(["q-2: gave up its slot to PR #4, which is urgent"]);
  });

  it("also as one of a batch", () => {
    const batch = { group: groupId("b") };
    const draft = queue([], { 3: batch, 4: { ...URGENT, ...batch } });
    expect([isUrgentGroup(draft, groupOf(draft, 4)), isUrgentGroup(draft, groupOf(draft, 1))]).toEqual([true, false]);
  });
});

describe("a run that has become unlikely", () => {
  const runs = [testOf(1, [1, 2])];
  const takes = (draft: Draft, number: number, predecessors: readonly number[], known: Record<number, number>) =>
    takeOver(draft, chances(known), groupOf(draft, number), { predecessors: ids(...predecessors), assumedOut: [] })
      ? draft.endedRuns.map((one) => one.why)
      : ["none"];

  it("gives its slot to one that is likelier by a quarter, and says so", () => {
    const draft = queue(runs);
    expect(takes(draft, 3, [], { 1: 0.1 })).toEqual([
      "gave up its slot to PR #3: it would be needed in 10 of 100 cases",
    ]);
    expect([draft.runs.size, draft.endedRuns[0]?.outcome]).toEqual([0, "CANCELLED"]);
    const tested = queue(runs, { 2: { state: "TESTING" } });
    takes(tested, 3, [], { 1: 0.1 });
    expect(tested.moves).toMatchObject([{ from: "TESTING", reason: "PREDECESSORS_CHANGED", cause: "queue" }]);
    expect(takes(queue(runs), 2, [], { 1: 0.1 })).toEqual([
      "gave up its slot to a likelier test of the same: it would be needed in 10 of 100 cases",
    ]);
  });

  it("keeps it where the other is no likelier, or where it is likely enough", () => {
    expect(takes(queue(runs), 3, [1], { 1: 0.1 })).toEqual(["none"]);
    expect(takes(queue(runs), 3, [4], { 1: 0.1, 4: 0.12 })).toEqual(["none"]);
    expect(takes(queue(runs), 3, [4], { 1: 0.1, 4: 0.13 })).toHaveLength(1);
    expect(takes(queue(runs), 3, [], { 1: 0.3 })).toEqual(["none"]);
  });
});
