import { describe, expect, it } from "vitest";
import { groupId } from "../../../shared/kernel/ids.ts";
import { standingOf } from "../../../shared/queue/engine/evidence.ts";
import { Line } from "../../../shared/queue/engine/line.ts";
import type { Entry, QueueState, Run } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, aRun, aStep, ids, inLane, laneOf, runIds } from "../../support/forged.ts";
import { sha } from "../../support/queue.ts";

/** `GOOD 1+2 without 3`, or the reason for which it is void. */
function standing(state: QueueState, run: Run): string {
  const found = standingOf(state, run, new Line(state));
  if (found.kind === "VOID") return found.reason;
  const numbers = (of: readonly string[]): string => of.map((id) => id.slice(1)).join("+");
  return `${found.kind} ${numbers(found.before)}${found.without.length === 0 ? "" : ` without ${numbers(found.without)}`}`.trim();
}

const single = (...numbers: readonly number[]): readonly Entry[] => numbers.map((number) => anEntry(number));
const MOVED = "MANUAL_PUSH_TO_TARGET_BRANCH";

describe("a run on the way to the tip", () => {
  const landed = (numbers: readonly number[], tip: string): QueueState =>
    aQueueOf({ entries: single(8, 9), tip }, { lineage: numbers.map((number) => aStep(number, ids(number))) });

  it.each<[string, number, readonly number[], string, string]>([
    ["T0", 0, [], "T0", "GOOD 8"],
    ["T1", 0, [], "T0", MOVED],
    ["T0", 0, [0, 1], "T2", "GOOD 8"],
    ["T1", 1, [0, 1], "T2", "GOOD 8"],
    ["T2", 2, [0, 1], "T2", "GOOD 8"],
    ["T0", 1, [0, 1], "T2", MOVED],
    ["T1", 2, [0, 1], "T2", MOVED],
    ["T5", 5, [3, 4, 5], "T6", "GOOD 8"],
    ["T4", 5, [3, 4, 5], "T6", MOVED],
    ["T3", 2, [3, 4, 5], "T6", "GOOD 8"],
    ["T0", 0, [0, 1], "T9", MOVED],
  ])("from %s after %i landings, by landings %j to %s: %s", (base, landingsBefore, numbers, tip, expected) => {
    const state = landed(numbers, tip);
    const run = { base: sha(base), landingsBefore };
    // What landed is contained or not: in one lane that shows in what it was tested on.
    const predecessors = [...ids(...numbers.filter((number) => number >= landingsBefore)), ...ids(8)];
    expect(standing(state, aRun(1, ids(9), { ...run, predecessors }))).toBe(expected);
    expect(standing(state, aRun(1, [], run))).toBe(expected.replace(" 8", ""));
  });

  it("has nothing ahead any more when that has landed, and what landed before it was started is none of its own", () => {
    const state = aQueueOf({ entries: single(2), tip: "T2" }, { lineage: [aStep(0, ids(5)), aStep(1, ids(1))] });
    const run = { base: sha("T1"), landingsBefore: 1, predecessors: ids(1) };
    expect(standing(state, aRun(1, ids(2), run))).toBe("GOOD");
    const again = { ...state, lineage: [aStep(0, ids(1)), aStep(1, ids(5))] };
    expect(standing(again, aRun(1, ids(2), run))).toBe("PREDECESSOR_LEFT");
  });

  it("is void by the first landing that contradicts it, and for what that brought", () => {
    const lineage = [aStep(0, ids(1), { voids: runIds(1) }), aStep(1, ids(2), { voids: runIds(1, 2) })];
    const state = aQueueOf({ entries: single(3), tip: "T2" }, { lineage });
    expect(standing(state, aRun(1, ids(3), { assumedOut: ids(1, 7) }))).toBe("PREDECESSOR_LANDED");
    expect(standing(state, aRun(1, ids(3), { assumedOut: ids(2) }))).toBe("PREDECESSORS_CHANGED");
    expect(standing(state, aRun(2, ids(3), { assumedOut: ids(2) }))).toBe("PREDECESSOR_LANDED");
    expect(standing(state, aRun(2, ids(3)))).toBe("PREDECESSORS_CHANGED");
    expect(standing(state, aRun(3, ids(3)))).toBe("GOOD");
    const both = { ...state, lineage: [aStep(0, ids(1, 2), { voids: runIds(1) }), aStep(1, ids(9))] };
    expect(standing(both, aRun(1, ids(3), { assumedOut: ids(2) }))).toBe("PREDECESSOR_LANDED");
  });

  it("is void where only a part of its batch landed, and not where all did", () => {
    const batch = groupId("b");
    const entries = [anEntry(1, { group: batch }), anEntry(2, { group: batch })];
    const state = aQueueOf({ entries, tip: "T1" }, { lineage: [aStep(0, ids(1))] });
    expect(standing(state, aRun(1, ids(1, 2)))).toBe("PREDECESSORS_CHANGED");
    const both = aQueueOf({ entries: single(3), tip: "T1" }, { lineage: [aStep(0, ids(1, 2))] });
    expect(standing(both, aRun(1, ids(1, 2), { predecessors: ids(3) }))).toBe("GOOD 3");
  });
});

describe("a run whose contents were never compared with what landed", () => {
  const after = (since: readonly [number, number], landed: readonly (number | readonly number[])[]): QueueState => {
    const entries = since.map((at, index) => inLane(index + 1, [], { lane: laneOf(index + 1, [], at) }));
    const lineage = landed.map((numbers, at) => aStep(at, ids(...[numbers].flat())));
    return aQueueOf({ entries, tip: `T${landed.length}` }, { mode: "PARALLEL", lineage });
  };
  const run = aRun(1, ids(2), { predecessors: ids(1) });

  it.each<[string, readonly [number, number], readonly (number | readonly number[])[], string]>([
    ["got no new targets since", [0, 0], [8], "GOOD 1"],
    ["got them after somebody else landed", [0, 1], [8], "TARGETS_CHANGED"],
    ["got them after somebody else landed, ahead of it", [1, 0], [8], "TARGETS_CHANGED"],
    ["got them before somebody else landed", [0, 1], [1, 8], "GOOD"],
    ["got them after what it contains landed", [0, 1], [1], "GOOD"],
    ["got them after another landed behind what it contains", [0, 2], [1, 8], "TARGETS_CHANGED"],
    ["got them after another landed with what it contains", [0, 1], [[1, 8]], "TARGETS_CHANGED"],
  ])("that %s", (_, since, landed, expected) => {
    expect(standing(after(since, landed), run)).toBe(expected);
  });

  it("and in one lane nothing is ever compared", () => {
    expect(standing({ ...after([0, 1], [8]), mode: "SINGLE" }, run)).toBe("GOOD 1");
  });

  it("is as good as before where they came before the run", () => {
    const state = { ...after([1, 1], [8]), entries: after([1, 1], [8]).entries };
    expect(standing(state, { ...run, base: sha("T1"), landingsBefore: 1 })).toBe("GOOD 1");
  });
});

describe("a run against the queue as it is", () => {
  it("is void when one that it holds has left or is not ready", () => {
    const state = aQueueOf({ entries: [anEntry(1, { state: "NOT_READY" }), ...single(2, 3)] });
    expect(standing(state, aRun(1, ids(3), { predecessors: ids(1, 2) }))).toBe("PREDECESSOR_LEFT");
    expect(standing(state, aRun(1, ids(3), { predecessors: ids(7, 2) }))).toBe("PREDECESSOR_LEFT");
    expect(standing(state, aRun(1, ids(3), { predecessors: ids(2) }))).toBe("GOOD 2");
  });

  it("says who is ahead that it left out, in order, and forgets who left", () => {
    const state = aQueueOf({ entries: single(1, 2, 3, 4) });
    const run = aRun(1, ids(4), { predecessors: ids(2), assumedOut: ids(1, 3, 7) });
    expect(standing(state, run)).toBe("GOOD 2 without 1+3");
  });

  it("is void when its group is tested with others, or in parts", () => {
    const batch = groupId("b");
    const together = [1, 2, 3].map((number) => anEntry(number, { group: batch }));
    const state = aQueueOf({ entries: together });
    expect(standing(state, aRun(1, ids(1, 2, 3)))).toBe("GOOD");
    expect(standing(state, aRun(1, ids(1, 2)))).toBe("BATCH_CHANGED");
    expect(standing(state, aRun(1, ids(1, 3, 2)))).toBe("BATCH_CHANGED");
    const parts = [
      { members: ids(1), depth: 1 },
      { members: ids(2, 3), depth: 1 },
    ];
    const apart = { ...state, bisections: [{ group: batch, parts }] };
    expect(standing(apart, aRun(1, ids(1, 2, 3)))).toBe("BATCH_CHANGED");
    expect(standing(apart, aRun(1, ids(2, 3), { predecessors: ids(1) }))).toBe("GOOD 1");
  });
});

describe("somebody new ahead of a run", () => {
  const urgent = { priority: { value: 0, byDefault: false } };

  it("voids it, and says why: urgent, or simply ahead", () => {
    const run = aRun(1, ids(3), { predecessors: ids(2) });
    expect(standing(aQueueOf({ entries: single(1, 2, 3) }), run)).toBe("PREDECESSORS_CHANGED");
    expect(standing(aQueueOf({ entries: [anEntry(4, urgent), ...single(2, 3)] }), run)).toBe(
      "SKIP_THE_LINE_INTERRUPTED",
    );
  });

  it("in lanes is one that was there before, and took other targets; or one that came later", () => {
    const lanes = (place: number | null): QueueState =>
      aQueueOf({ entries: [inLane(1, [], { place }), inLane(2, [1], { place: 5 })] }, { mode: "PARALLEL" });
    expect(standing(lanes(1), aRun(1, ids(2)))).toBe("TARGETS_CHANGED");
    const later = aQueueOf(
      { entries: [inLane(2, [], { place: 5 }), inLane(4, [2], { place: 1 })] },
      { mode: "PARALLEL" },
    );
    expect(standing(later, aRun(1, ids(2)))).toBe("PREDECESSORS_CHANGED");
    expect(standing({ ...later, mode: "SINGLE" }, aRun(1, ids(2)))).toBe("PREDECESSORS_CHANGED");
    // Of a batch, whose members came at different times, the last counts.
    const batch = { group: groupId("b"), place: 5 };
    const entries = [inLane(2, [], batch), inLane(3, [], { place: 1 }), inLane(4, [3], batch)];
    expect(standing(aQueueOf({ entries }, { mode: "PARALLEL" }), aRun(1, ids(2, 4)))).toBe("TARGETS_CHANGED");
  });
});

describe("another order ahead of a run", () => {
  // 4 depends on 1, 2 and 3; 2 overlaps 1.
  const lanes = (change: Partial<Entry> = {}): QueueState => {
    const entries = [inLane(1), inLane(2, [1]), inLane(3), inLane(4, [1, 2, 3], change)];
    return aQueueOf({ entries }, { mode: "PARALLEL" });
  };
  const on = (...numbers: readonly number[]): Run => aRun(1, ids(4), { predecessors: ids(...numbers) });

  it("is none of its business between those that share nothing", () => {
    expect(standing(lanes(), on(1, 3, 2))).toBe("GOOD 1+3+2");
    expect(standing(lanes(), on(3, 1, 2))).toBe("GOOD 3+1+2");
  });

  it("voids it between two that overlap, and in one lane always", () => {
    expect(standing(lanes(), on(2, 1, 3))).toBe("PREDECESSORS_CHANGED");
    expect(standing(lanes(), on(2, 3, 1))).toBe("PREDECESSORS_CHANGED");
    expect(standing(aQueueOf({ entries: single(1, 2, 4) }), on(2, 1))).toBe("PREDECESSORS_CHANGED");
  });

  it("leaves in it what it does not depend on any more, as long as that is ahead", () => {
    expect(standing(lanes({ lane: laneOf(4, [2, 3]) }), on(1, 2, 3))).toBe("GOOD 1+2+3");
    const behind = lanes({ lane: laneOf(4, [2, 3]), place: 1 });
    expect(standing(behind, on(1))).toBe("PREDECESSORS_CHANGED");
    const between = [inLane(1, [], { place: 1 }), inLane(4, [], { place: 2 }), inLane(2, [1])];
    expect(standing(aQueueOf({ entries: between }, { mode: "PARALLEL" }), on(1, 2))).toBe("PREDECESSORS_CHANGED");
  });
});
