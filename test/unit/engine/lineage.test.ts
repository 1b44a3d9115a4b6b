import { describe, expect, it } from "vitest";
import {
  clearedBy,
  contradictedBy,
  doubtedBy,
  staledBy,
  standingOf,
  trackOf,
} from "../../../shared/queue/engine/evidence.ts";
import { Line } from "../../../shared/queue/engine/line.ts";
import type { Entry, QueueState, Run } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, aRun, aStep, ids, inLane, runIds } from "../../support/forged.ts";
import { sha, someSettings } from "../../support/queue.ts";

const single = (...numbers: readonly number[]): readonly Entry[] => numbers.map((number) => anEntry(number));
/** Each shares a target with the earlier ones that are named. */
const lanes = (overlaps: Readonly<Record<number, readonly number[]>>): readonly Entry[] =>
  Object.entries(overlaps).map(([number, others]) => inLane(Number(number), others));

const asked =
  (ask: typeof contradictedBy) =>
  (entries: readonly Entry[], runs: readonly Run[], landed: readonly number[], mode: QueueState["mode"]) => {
    const state = aQueueOf({ entries, runs }, { mode });
    const line = new Line(state);
    return ask(state, ids(...landed), (run) => standingOf(state, run, line)).map((id) => Number(id.slice(2)));
  };
const contradicted = asked(contradictedBy);
const staled = asked(staledBy);
const doubted = asked((state, landed, standing) => doubtedBy(state, landed, standing));

/** The test of the last of these numbers on the others. */
const testOf = (number: number, numbers: readonly number[], change: Partial<Run> = {}): Run =>
  aRun(number, ids(...numbers.slice(-1)), { predecessors: ids(...numbers.slice(0, -1)), ...change });

describe("a landing contradicts", () => {
  it("a test of the tip, which is another one now", () => {
    expect(contradicted(single(1), [aRun(9, [])], [1], "SINGLE")).toEqual([9]);
  });

  it("a test that lacks it and whose group it overlaps, and no test that holds it first", () => {
    const runs = [testOf(1, [2], { assumedOut: ids(1) }), testOf(2, [1, 2])];
    expect(contradicted(single(1, 2), runs, [1], "SINGLE")).toEqual([1]);
    const apart = [testOf(3, [2])];
    expect(contradicted(lanes({ 1: [], 2: [] }), apart, [1], "PARALLEL")).toEqual([]);
    expect(contradicted(lanes({ 1: [], 2: [1] }), [testOf(3, [2], { assumedOut: ids(1) })], [1], "PARALLEL")).toEqual([
      3,
    ]);
  });

  it("a test that holds it behind another that it overlaps, and not behind one that it does not", () => {
    const overlapping = lanes({ 1: [], 2: [1], 3: [1, 2] });
    expect(contradicted(overlapping, [testOf(1, [1, 2, 3])], [2], "PARALLEL")).toEqual([1]);
    const apart = lanes({ 1: [], 2: [], 3: [1, 2] });
    expect(contradicted(apart, [testOf(1, [1, 2, 3])], [2], "PARALLEL")).toEqual([]);
  });

  it("none that holds all of what lands in the order in which it lands", () => {
    expect(contradicted(single(1, 2, 3), [testOf(1, [1, 2, 3])], [1, 2], "SINGLE")).toEqual([]);
    expect(contradicted(single(1, 2, 3), [testOf(1, [1, 2, 3])], [2, 1], "SINGLE")).toEqual([1]);
    expect(contradicted(single(1, 2, 3), [testOf(1, [1, 3], { assumedOut: ids(2) })], [1, 2], "SINGLE")).toEqual([1]);
  });

  it("a test that lacks the second of those that land, though the first is none of its business", () => {
    const entries = lanes({ 1: [], 2: [1], 3: [2] });
    expect(contradicted(entries, [testOf(1, [3], { assumedOut: ids(2) })], [1, 2], "PARALLEL")).toEqual([1]);
  });

  it("neither the run that lands nor one that is void already", () => {
    const runs = [testOf(1, [1]), testOf(2, [7, 2])];
    expect(contradicted(single(1, 2), runs, [1], "SINGLE")).toEqual([]);
  });

  it("a test with somebody of whom nothing is known", () => {
    const run = testOf(1, [2]);
    const entries = lanes({ 2: [] });
    expect(contradicted(entries, [run], [8], "PARALLEL")).toEqual([1]);
  });
});

describe("a landing leaves stale", () => {
  it("a test that lacks it and holds another that it overlaps ahead of its group", () => {
    const entries = lanes({ 1: [], 2: [1], 3: [2], 4: [] });
    const runs = [testOf(1, [2, 3]), testOf(2, [3], { assumedOut: ids(2) }), testOf(3, [4])];
    expect(staled(entries, runs, [1], "PARALLEL")).toEqual([1]);
    const second = lanes({ 1: [], 2: [], 3: [1], 4: [2, 3], 5: [] });
    expect(staled(second, [testOf(1, [2, 3, 4])], [5, 1], "PARALLEL")).toEqual([1]);
  });

  it("none that holds it, or of which all that is ahead lands with it", () => {
    const entries = lanes({ 1: [], 2: [1], 3: [1, 2] });
    expect(staled(entries, [testOf(1, [1, 2, 3])], [1], "PARALLEL")).toEqual([]);
    const apart = lanes({ 1: [], 2: [1], 3: [2] });
    expect(staled(apart, [testOf(1, [2, 3])], [1, 2], "PARALLEL")).toEqual([]);
  });

  it("none whose group alone it overlaps: that is contradicted", () => {
    const entries = lanes({ 1: [], 2: [], 3: [1, 2] });
    expect(staled(entries, [testOf(1, [2, 3], { assumedOut: ids(1) })], [1], "PARALLEL")).toEqual([]);
  });
});

describe("a landing leaves in doubt", () => {
  const entries = lanes({ 1: [], 2: [1], 3: [1], 4: [] });
  const testing = { phase: "TESTING" } as const;
  const failed = { phase: "FAILED", failure: { kind: "CHECKS", contexts: ["unit"] } } as const;

  it("a test of what had failed itself, without the successor that proved it", () => {
    const runs = [testOf(1, [1], failed), testOf(2, [1, 2]), testOf(3, [1, 3], testing), testOf(4, [4], testing)];
    expect(doubted(entries, runs, [1, 2], "PARALLEL")).toEqual([3]);
    expect(doubted(lanes({ 1: [], 2: [1], 3: [1], 4: [], 5: [] }), runs, [5, 1, 2], "PARALLEL")).toEqual([3]);
  });

  it("the same while the failed checks are repeated", () => {
    const repeating = { ...failed, phase: "REPEATING" } as const;
    const runs = [testOf(1, [1], repeating), testOf(2, [1, 2]), testOf(3, [1, 3], failed)];
    expect(doubted(entries, runs, [1, 2], "PARALLEL")).toEqual([3]);
  });

  it("none where its own test was in progress, or had passed where another had failed", () => {
    const behind = [testOf(2, [1, 2]), testOf(3, [1, 3], failed)];
    expect(doubted(entries, [testOf(1, [1], testing), ...behind], [1, 2], "PARALLEL")).toEqual([]);
    const twice = [testOf(1, [1], failed), testOf(4, [1]), ...behind];
    expect(doubted(entries, twice, [1, 2], "PARALLEL")).toEqual([]);
  });

  it("none where each had passed itself, or one lands alone", () => {
    const runs = [testOf(1, [1]), testOf(2, [1, 2]), testOf(3, [1, 3], testing)];
    expect(doubted(entries, runs, [1, 2], "PARALLEL")).toEqual([]);
    expect(doubted(entries, [testOf(1, [1], failed), testOf(3, [1, 3], testing)], [1], "PARALLEL")).toEqual([]);
  });

  it("none that holds all of it, or only what had passed", () => {
    const all = lanes({ 1: [], 2: [1], 3: [1, 2] });
    const runs = [testOf(1, [1], failed), testOf(2, [1, 2]), testOf(3, [1, 2, 3], testing)];
    expect(doubted(all, runs, [1, 2], "PARALLEL")).toEqual([]);
    const other = lanes({ 1: [], 2: [1], 3: [2] });
    const behind = [testOf(1, [1], failed), testOf(2, [1, 2]), testOf(3, [2, 3], testing)];
    expect(doubted(other, behind, [1, 2], "PARALLEL")).toEqual([]);
  });
});

describe("the landings", () => {
  it("tell of each entry by which it came, and of each run which speaks against it", () => {
    const first = aStep(0, ids(1), { voids: runIds(1), doubts: runIds(3) });
    const second = aStep(1, ids(2, 3), { voids: runIds(1, 2), stale: runIds(4) });
    const track = trackOf([first, second]);
    expect([...track.landedBy]).toEqual([
      [ids(1)[0], first],
      [ids(2)[0], second],
      [ids(3)[0], second],
    ]);
    expect([...track.voidedBy]).toEqual([
      [runIds(1)[0], first],
      [runIds(2)[0], second],
    ]);
    expect([[...track.doubted], [...track.stale]]).toEqual([runIds(3), runIds(4)]);
  });
});

describe("who is cleared by a successor", () => {
  const settings = someSettings({ canOptimisticallyMerge: true });
  const queue = (entries: readonly Entry[], runs: readonly Run[], change: Partial<QueueState> = {}): QueueState => {
    const state = aQueueOf({ entries, runs }, { mode: "SINGLE" });
    return { ...state, config: { ...state.config, settings }, ...change };
  };
  const cleared = (state: QueueState, stale: readonly string[] = []): Readonly<Record<string, string>> => {
    const line = new Line(state);
    const found = clearedBy(state, {
      line: () => line,
      standing: (run) => standingOf(state, run, line),
      isStale: (run) => stale.includes(run.id),
    });
    return Object.fromEntries([...found].map(([id, run]) => [id, run.id]));
  };

  it("all ahead of a run that passed, where the queue merges so", () => {
    const state = queue(single(1, 2, 3), [testOf(1, [1, 2, 3])]);
    expect(cleared(state)).toEqual({ e1: "q-1", e2: "q-1" });
    expect(cleared({ ...state, config: { ...state.config, settings: someSettings() } })).toEqual({});
  });

  it("nobody by a run that has not passed, is stale, is void, has nobody ahead or leaves somebody out", () => {
    const all = single(1, 2, 3);
    expect(cleared(queue(all, [testOf(1, [1, 2], { phase: "TESTING" })]))).toEqual({});
    expect(cleared(queue(all, [testOf(1, [1, 2])]), ["q-1"])).toEqual({});
    expect(cleared(queue(all, [testOf(1, [1, 2], { base: sha("T7") })]))).toEqual({});
    expect(cleared(queue(all, [testOf(1, [1]), aRun(2, [])]))).toEqual({});
    expect(cleared(queue(all, [testOf(1, [1, 3], { assumedOut: ids(2) })]))).toEqual({});
  });

  it("each by the shortest that contains it, and by the first of two that are as short", () => {
    const longFirst = [testOf(1, [1, 2, 3]), testOf(2, [1, 2])];
    expect(cleared(queue(single(1, 2, 3), longFirst))).toEqual({ e1: "q-2", e2: "q-1" });
    expect(cleared(queue(single(1, 2, 3), longFirst.toReversed()))).toEqual({ e1: "q-2", e2: "q-1" });
    expect(cleared(queue(single(1, 2), [testOf(1, [1, 2]), testOf(2, [1, 2])]))).toEqual({ e1: "q-1" });
  });

  it("nobody where one of them was refused: it lands alone", () => {
    const refused = { refusal: "a review is missing" };
    expect(cleared(queue([anEntry(1, refused), ...single(2)], [testOf(1, [1, 2])]))).toEqual({});
    expect(cleared(queue([...single(1), anEntry(2, refused)], [testOf(1, [1, 2])]))).toEqual({});
  });

  it("nobody where one of them depends on somebody who is not in it", () => {
    // The test of #3 holds #2, which has come to depend on #1; #3 does not.
    const state = queue(lanes({ 1: [], 2: [1], 3: [2] }), [testOf(1, [2, 3])], { mode: "PARALLEL" });
    expect(cleared(state)).toEqual({});
    const apart = queue(lanes({ 1: [], 2: [], 3: [2] }), [testOf(1, [2, 3])], { mode: "PARALLEL" });
    expect(cleared(apart)).toEqual({ e2: "q-1" });
  });
});
