import { afterEach, describe, expect, it } from "vitest";
import { groupId } from "../../../shared/kernel/ids.ts";
import { epochMs, later, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { batchDeadline, batchFrom } from "../../../shared/queue/engine/batching.ts";
import { Draft } from "../../../shared/queue/engine/draft.ts";
import type { Group } from "../../../shared/queue/engine/line.ts";
import { permitsOf } from "../../../shared/queue/engine/permits.ts";
import type { Entry, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, aRun, ids, inLane } from "../../support/forged.ts";
import { someSettings, START } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const NOW = later(START, MINUTE_MS);
const waiting = { admittedAt: START };
const failure = { what: "disk full", count: 1, retryAt: START };

type Change = Partial<Pick<QueueState, "mode" | "closed">> & { readonly runs?: readonly Run[] };
const draftOf = (entries: readonly Entry[], settings: Partial<Settings> = {}, change: Change = {}): Draft => {
  const { runs = [], ...rest } = change;
  const state = aQueueOf({ entries, runs }, rest);
  const all = someSettings({ mode: state.mode, batch: true, batchingMinSize: 3, ...settings });
  return new Draft({ ...state, config: { ...state.config, settings: all } }, NOW);
};
const four = (change: Readonly<Record<number, Partial<Entry>>> = {}): readonly Entry[] =>
  [1, 2, 3, 4].map((number) => anEntry(number, { ...waiting, ...change[number] }));

/** Who is tested with #1, and whether they wait for more: `1+2 waits`. */
function formed(draft: Draft, number = 1): string {
  const group = draft.groupOf(ids(number)[0] as never) as Group;
  const { members, waitsUntil } = batchFrom(draft, group, permitsOf(draft, NOW));
  return `${members.map((id) => id.slice(1)).join("+")}${waitsUntil === undefined ? "" : " waits"}`;
}

describe("a batch begins with", () => {
  it("as many as it is to have, in order, and waits for those that are missing", () => {
    expect(formed(draftOf(four()))).toBe("1+2+3");
    expect(formed(draftOf(four().slice(0, 2)))).toBe("1+2 waits");
    expect(formed(draftOf(four(), { batch: false }))).toBe("1");
  });

  it.each<[string, Partial<Entry>]>([
    ["wants no batch", { noBatch: true }],
    ["is urgent", { priority: { value: 0, byDefault: false } }],
    ["broke its last test", { broken: failure }],
    ["conflicts with another", { conflictsWith: ids(9)[0] as never }],
    ["was refused", { refusal: "a review is missing" }],
    ["is being tested", { state: "TESTING" }],
    ["has targets that are tested alone", { lane: { number: 1, overlaps: [], since: 0, isolated: true } }],
  ])("one alone that %s, and ends before it", (_, change) => {
    expect(formed(draftOf(four({ 1: change })))).toBe("1");
    if (change.priority === undefined) expect(formed(draftOf(four({ 2: change })))).toBe("1");
  });

  it("one alone that has a run of its own, and ends before it", () => {
    expect(formed(draftOf(four(), {}, { runs: [aRun(1, ids(1), { phase: "BUILDING" })] }))).toBe("1");
    expect(formed(draftOf(four(), {}, { runs: [aRun(1, ids(2), { phase: "BUILDING" })] }))).toBe("1");
  });

  it("what is left of one that was tested: it is tested again as it is", () => {
    const left = (firstTestAt: Entry["firstTestAt"]) => {
      const of = { group: groupId("b"), firstTestAt };
      return formed(draftOf(four({ 1: of, 2: of })));
    };
    expect([left(START), left(null)]).toEqual(["1+2", "1+2+3"]);
    const one = { group: groupId("b"), firstTestAt: START };
    expect(formed(draftOf(four({ 1: one, 2: { group: groupId("b") } })))).toBe("1+2");
    expect(formed(draftOf(four({ 1: { firstTestAt: START } })))).toBe("1+2+3");
  });

  it("none of another batch", () => {
    expect(formed(draftOf(four({ 2: { group: groupId("b") } })))).toBe("1");
    const both = { group: groupId("b") };
    expect(formed(draftOf(four({ 2: both, 3: both })))).toBe("1");
  });

  it("all of those who began it, or as they are", () => {
    const both = { group: groupId("b") };
    expect(formed(draftOf(four({ 1: both, 2: { ...both, noBatch: true } })))).toBe("1+2");
  });
});

describe("a batch waits", () => {
  const two = four().slice(0, 2);
  const until = (change: Partial<Entry>, closed: QueueState["closed"] = { totalMs: 0, since: null }) => {
    const draft = draftOf(two, {}, { closed });
    const at = batchDeadline(draft, anEntry(1, { ...waiting, ...change }));
    return at === undefined ? undefined : (at - START) / MINUTE_MS;
  };

  it("until the first of it has waited long enough, time in which nobody was admitted left out", () => {
    expect(until({})).toBe(5);
    expect(until({}, { totalMs: 3 * MINUTE_MS, since: null })).toBe(8);
    expect(until({ closedMsBefore: 2 * MINUTE_MS }, { totalMs: 3 * MINUTE_MS, since: null })).toBe(6);
    expect(until({ state: "TESTING" })).toBeUndefined();
    expect(until({ admittedAt: null })).toBeUndefined();
    expect(batchDeadline(draftOf(two, { batch: false }), anEntry(1, waiting))).toBeUndefined();
    expect(batchDeadline(draftOf(two, { batchingMaxWaitTimeMinutes: 0 }), anEntry(1, waiting))).toBeUndefined();
  });

  it("no longer than that, and not at all where nobody knows since when", () => {
    const old = { admittedAt: later(START, -4 * MINUTE_MS) };
    const older = { admittedAt: later(START, -5 * MINUTE_MS) };
    expect(formed(draftOf([anEntry(1, waiting), anEntry(2, old)]))).toBe("1+2");
    expect(formed(draftOf([anEntry(1, waiting), anEntry(2, older)]))).toBe("1+2");
    expect(formed(draftOf([anEntry(1, { admittedAt: epochMs(old.admittedAt + 1) })]))).toBe("1 waits");
    expect(formed(draftOf([anEntry(1, { admittedAt: null })]))).toBe("1");
  });
});

describe("in lanes a batch takes", () => {
  const lanes = (...entries: readonly Entry[]) => draftOf(entries, {}, { mode: "PARALLEL" });
  const lane = (number: number, overlaps: readonly number[] = [], change: Partial<Entry> = {}) =>
    inLane(number, overlaps, { ...waiting, ...change });

  it("those that share a target with one of it, and all on whom they depend", () => {
    expect(formed(lanes(lane(1), lane(2), lane(3, [1])))).toBe("1+3 waits");
    expect(formed(lanes(lane(1), lane(2), lane(3, [1, 2])))).toBe("1");
    expect(formed(lanes(lane(1), lane(2, [1]), lane(3, [2])))).toBe("1+2+3");
    expect(formed(lanes(lane(1, [], { state: "TESTING" }), lane(2, [1]), lane(3, [1, 2])), 2)).toBe("2+3 waits");
  });

  it("nobody behind one that depends on it and may not join", () => {
    expect(formed(lanes(lane(1), lane(2, [1], { noBatch: true }), lane(3, [1])))).toBe("1");
    expect(formed(lanes(lane(1), lane(2, [], { noBatch: true }), lane(3, [1])))).toBe("1+3 waits");
  });
});

describe("where nobody waits for a batch, it takes", () => {
  const load = { batchingMaxWaitTimeMinutes: 0, batchingMinSize: 4 };
  const testing = (number: number, change: Partial<Run> = {}) =>
    aRun(number, ids(10 + number), { phase: "TESTING", ...change });

  it("one each while slots are free for all, else as many as wait for each slot", () => {
    expect(formed(draftOf(four(), { ...load, concurrency: 4 }))).toBe("1");
    expect(formed(draftOf(four(), { ...load, concurrency: 3 }))).toBe("1+2");
    expect(formed(draftOf(four(), { ...load, concurrency: 1 }))).toBe("1+2+3");
  });

  it("no account of slots that are another kind's or not in use", () => {
    const with4 = (run: Run) => formed(draftOf(four(), { ...load, concurrency: 4 }, { runs: [run] }));
    expect(with4(testing(1))).toBe("1+2");
    expect(with4(testing(1, { phase: "PASSED" }))).toBe("1");
    expect(with4(testing(1, { kind: "BISECTION" }))).toBe("1");
    expect(with4(aRun(1, [], { phase: "BUILDING" }))).toBe("1+2");
  });

  it("no account of those that may not join, or are not decided about", () => {
    expect(formed(draftOf(four({ 4: { noBatch: true } }), { ...load, concurrency: 3 }))).toBe("1");
    const lanes = [inLane(1, [], waiting), inLane(2, [1], waiting), inLane(3, [], waiting), inLane(4, [1], waiting)];
    const parallel = (concurrency: number, number = 1) =>
      formed(draftOf(lanes, { ...load, concurrency }, { mode: "PARALLEL" }), number);
    expect([parallel(2), parallel(1), parallel(1, 2)]).toEqual(["1", "1+2+3", "2"]);
  });
});
