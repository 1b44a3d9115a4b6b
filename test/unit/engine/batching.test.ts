import { afterEach, describe, expect, it } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aQueue, id, type ScriptedQueue } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const BATCHING: Partial<Settings> = { batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 10 };
const UNDER_LOAD: Partial<Settings> = {
  batch: true,
  batchingMinSize: 8,
  batchingMaxWaitTimeMinutes: 0,
  concurrency: 2,
};

const batching = (change: Partial<Settings> = {}): ScriptedQueue => aQueue({ ...BATCHING, ...change }).opens();
const laned = (change: Partial<Settings> = {}) => aLanedQueue({ ...BATCHING, ...change }).opens();

/** Which entries are tested together, run by run: `1+2 | 3`. */
const groups = (queue: ScriptedQueue): string =>
  [...queue.state.runs.values()].map((run) => run.group.map((one) => one.slice(1)).join("+")).join(" | ");

describe("a batch", () => {
  it("forms when as many wait as it is to hold, and is tested and landed as one", () => {
    const queue = batching().submits(1, 2);
    expect([groups(queue), queue.states()]).toEqual(["", { 1: "PENDING", 2: "PENDING" }]);
    queue.submits(3);
    expect([groups(queue), queue.contents(2)]).toEqual(["1+2+3", ["1+2+3"]]);
    queue.builds(1).passes(1);
    expect(queue.effect("land")?.changes.map((change) => change.prNumber)).toEqual([1, 2, 3]);
    expect(queue.lands().states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED" });
    expect(queue.state.totals).toMatchObject({ landings: 1, batches: 1, merged: 3 });
  });

  it("is another than the next one, also where everybody has a place already", () => {
    const queue = aQueue({ concurrency: 9 }).opens().submits(1, 2, 3, 4);
    queue.event({ type: "news", prNumbers: [], tip: { sha: null } });
    queue.sets({ batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 10 }).answersTip("T1");
    expect(groups(queue)).toBe("1+2 | 3+4");
  });

  it("is not formed of one that is tested alone: that is no batch", () => {
    const queue = aQueue().opens().submits(1);
    expect([groups(queue), queue.state.totals.batches, queue.entry(1).group]).toEqual(["1", 0, null]);
  });

  it("forms of fewer when the first has waited long enough, and wakes for that", () => {
    const queue = batching()
      .submits(1)
      .after(4 * MINUTE_MS)
      .submits(2);
    expect(queue.last?.wakeAt).toBe((queue.entry(1).admittedAt ?? 0) + 10 * MINUTE_MS);
    queue.waits((queue.entry(1).admittedAt ?? 0) + 10 * MINUTE_MS - 1 - queue.now);
    expect(groups(queue)).toBe("");
    expect(groups(queue.waits(1))).toBe("1+2");
  });

  it("forms as soon as one of it has waited long enough, also where that is not the first in order", () => {
    const queue = batching()
      .submits(1)
      .after(9 * MINUTE_MS);
    queue.submitsWith(2, { priority: { value: 50, byDefault: false } }).waits(MINUTE_MS);
    expect([queue.order(), groups(queue)]).toEqual([[2, 1], "2+1"]);
  });

  it("of one that nobody joined is a test of one", () => {
    const queue = batching().submits(1).sleeps();
    expect([groups(queue), queue.entry(1).group, queue.state.totals.batches]).toEqual(["1", null, 0]);
  });

  it("stands on the batch ahead, and in the order of the queue", () => {
    const queue = batching().submits(1, 2, 3, 4, 5, 6);
    expect([groups(queue), queue.contents(4)]).toEqual(["1+2+3 | 4+5+6", ["1+2+3+4+5+6"]]);
    const two = batching({ batchingMinSize: 2 }).submits(1);
    two.submitsWith(2, { priority: { value: 50, byDefault: false } });
    expect(two.contents(1)).toEqual(["2+1"]);
  });

  it("is told of its mates, and of how many it still waits for", () => {
    const queue = batching().submits(1, 2);
    const [blocker] = queue.explains(1).blockers;
    expect(blocker).toMatchObject({ kind: "BATCH_FORMING" });
    expect(blocker?.message).toContain("2 of 3");
    // Whoever would begin it: all wait for the same one, and until the same time.
    expect(queue.explains(2).blockers).toEqual([blocker]);
    queue.submits(3).builds(1);
    expect(queue.explains(2).blockers.at(-1)).toMatchObject({
      kind: "BATCH",
      message: "it is tested and lands together with PR #1, PR #3",
    });
  });

  it("time during which the queue admits nobody does not count as waiting", () => {
    const queue = batching().submits(1).turns("PAUSED").waits(HOUR_MS);
    expect(groups(queue)).toBe("");
    queue.turns("RUNNING").waits(9 * MINUTE_MS);
    expect(groups(queue)).toBe("");
    expect(groups(queue.waits(MINUTE_MS))).toBe("1");
  });

  it("forms at once while the queue drains: nobody comes any more", () => {
    expect(groups(batching().submits(1, 2).turns("DRAINING"))).toBe("1+2");
  });

  it("is not formed while the queue is paused", () => {
    expect(groups(batching().turns("PAUSED", true).submits(1, 2, 3))).toBe("");
  });

  it("is tested again as it was, and joined by nobody, when its test ended without a verdict", () => {
    const queue = batching({ concurrency: 1 }).submits(1, 2, 3).builds(1).submits(4).breaks(1).sleeps();
    expect(groups(queue)).toBe("1+2+3");
  });

  it("that loses one goes on with the rest, in its place, at once", () => {
    const queue = batching().submits(1, 2, 3).builds(1).forgets().cancels(2);
    expect(queue.moves()).toEqual([
      "#2 TESTING > CANCELLED (CANCELLED_BY_USER)",
      "#1 TESTING > PENDING (BATCH_CHANGED)",
      "#3 TESTING > PENDING (BATCH_CHANGED)",
    ]);
    expect(groups(queue)).toBe("1+3");
  });

  it("of which only one is left is tested again at once, and waits for nobody", () => {
    const queue = batching().submits(1, 2, 3).builds(1).cancels(1).cancels(2);
    expect(groups(queue)).toBe("3");
  });

  it("that loses one to the host goes on with the rest", () => {
    const queue = batching().submits(1, 2, 3).builds(1).forgets().facts(3, { mergeability: "NOT_MERGEABLE" });
    expect(queue.moves()).toEqual([
      "#3 TESTING > NOT_READY (READINESS_LOST)",
      "#1 TESTING > PENDING (BATCH_CHANGED)",
      "#2 TESTING > PENDING (BATCH_CHANGED)",
    ]);
    expect([groups(queue), queue.entry(3).group]).toEqual(["1+2", null]);
  });

  it("one of which conflicts with another goes on without it", () => {
    const queue = batching().submits(1, 2, 3);
    queue.cannotBuild(2, { kind: "CONFLICT", entry: id(3), with: id(1), paths: [] });
    expect([groups(queue), queue.entry(3).group]).toEqual(["1+2", null]);
    expect(queue.entry(3)).toMatchObject({ state: "PENDING", conflictsWith: id(1) });
  });

  it("is finished as one when batching is turned off", () => {
    const queue = batching().submits(1, 2, 3).builds(1).sets({ batch: false }).submits(4, 5);
    expect(groups(queue)).toBe("1+2+3 | 4 | 5");
    expect(queue.restarts(1).builds(1).passes(1).lands().states()).toMatchObject({ 1: "MERGED", 3: "MERGED" });
  });

  it("restarted by a user is tested again as one", () => {
    const queue = batching().submits(1, 2, 3).builds(1).forgets().restarts(2);
    expect(queue.moves()).toContain("#3 TESTING > PENDING (RESTARTED_BY_USER)");
    expect(groups(queue)).toBe("1+2+3");
  });
});

describe("who may join a batch", () => {
  it("nobody who asked to be tested alone; the batch ahead of it forms without waiting", () => {
    const queue = batching().submits(1, 2).submitsWith(3, { noBatch: true });
    expect([groups(queue), queue.contents(3)]).toEqual(["1+2 | 3", ["1+2+3"]]);
  });

  it("nobody whom a rule of the queue isolates", () => {
    const queue = laned()
      .submitsWith(1, { targets: targetsOf("a") })
      .compares(true)
      .brings(2, "a");
    expect(groups(queue)).toBe("1");
    const behind = laned()
      .brings(1, "a")
      .submitsWith(2, { targets: targetsOf("a") })
      .compares(true);
    expect(groups(behind)).toBe("1 | 2");
  });

  it("nobody who is urgent", () => {
    const queue = batching().submits(1, 2).submitsUrgently(3);
    expect(groups(queue)).toBe("3");
  });

  it("nobody who becomes urgent stays in one: it goes to the front alone, and the rest is tested on top of it", () => {
    const queue = batching({ concurrency: 3 }).submitsWith(9, { noBatch: true }).submits(1, 2, 3).builds(9, 1);
    expect(groups(queue.prioritises(2, 0))).toBe("2 | 9 | 1+3");
    expect([queue.contents(2), queue.contents(1)]).toEqual([["2"], ["2+9+1+3"]]);
  });

  it("nor is it kept by what keeps the rest of it from being tested", () => {
    const queue = batching().submits(1, 2, 3).builds(1).turns("PAUSED", true).prioritises(2, 0);
    expect(groups(queue)).toBe("2");
    expect(queue.builds(2).passes(2).lands().states()).toEqual({ 1: "PENDING", 2: "MERGED", 3: "PENDING" });
  });

  it("nobody whose last test broke, or who conflicts with one ahead", () => {
    const queue = batching({ concurrency: 1 }).submitsWith(1, { noBatch: true }).submits(2, 3, 4);
    queue.builds(1).breaks(1);
    expect([groups(queue), queue.states()[1]]).toEqual(["2+3+4", "PENDING"]);
  });

  it("nobody whom the host has refused to land: only whom it is about is refused twice", () => {
    const queue = batching({ batchingMinSize: 2 }).submits(1, 2).builds(1).passes(1);
    queue.refuses({ kind: "REFUSED", what: "#2 needs a review" });
    expect(queue.states()).toEqual({ 1: "NOT_READY", 2: "NOT_READY" });
    queue.facts(1, { mergeability: "MERGEABLE" }).facts(2, { mergeability: "MERGEABLE" });
    expect(groups(queue)).toBe("1 | 2");
    queue.builds(1, 2).passes(1, 2).lands().refuses({ kind: "REFUSED", what: "#2 needs a review" });
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "FAILED" });
  });

  it("nobody who is tested already", () => {
    const queue = batching({ batch: false }).submits(1).sets({ batch: true }).submits(2, 3, 4);
    expect(groups(queue)).toBe("1 | 2+3+4");
  });

  it("no more than it is to hold", () => {
    expect(groups(batching().turns("DRAINING").turns("RUNNING").submits(1, 2, 3, 4, 5))).toBe("1+2+3");
  });
});

describe("a batch in lanes", () => {
  it("is joined only by whoever overlaps one of it", () => {
    const queue = laned().brings(1, "a").brings(2, "b").brings(3, "a").brings(4, "a");
    expect(groups(queue)).toBe("1+3+4");
  });

  it("is joined by one that overlaps one that joined", () => {
    const queue = laned().brings(1, "a").brings(2, "a b").brings(3, "b");
    expect(groups(queue)).toBe("1+2+3");
  });

  it("is not joined by one that depends on another outside it: that one waits, and seals it", () => {
    const queue = laned({ batchingMinSize: 2 }).brings(1, "a").brings(2, "b", { noBatch: true }).brings(3, "a b");
    expect(groups(queue)).toBe("2 | 1");
  });

  it("waits for its own lane, however many are in others", () => {
    const queue = laned({ batchingMinSize: 2 }).brings(1, "a").brings(2, "b").brings(3, "c");
    expect(groups(queue)).toBe("");
    expect(groups(queue.brings(4, "c"))).toBe("3+4");
  });

  it("of those who impact nothing is none", () => {
    const queue = laned({ batchingMinSize: 2 }).brings(1, "").brings(2, "").brings(3, "");
    expect(groups(queue)).toBe("");
    expect(groups(queue.sleeps())).toBe("1");
  });
});

describe("one that conflicts with a member of a batch ahead", () => {
  it("waits for that batch, also where the member came after it", () => {
    const queue = laned({ batch: false, batchingMinSize: 2 }).brings(1, "a").brings(2, "b", { noBatch: true });
    queue.builds(1, 2).sets({ batch: true }).restarts(1).brings(3, "a");
    expect(groups(queue)).toBe("2 | 1+3");
    queue.impacts(2, "a b").cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(3), paths: ["a.txt"] });
    expect([queue.entry(2).conflictsWith, queue.runs(2)]).toEqual([id(3), []]);
    expect(queue.builds(1).passes(1).lands().contents(2)).toEqual(["2"]);
  });
});

describe("batching under load", () => {
  it("tests everybody alone while slots are free", () => {
    const queue = aQueue({ ...UNDER_LOAD, concurrency: 4 })
      .opens()
      .submits(1, 2, 3);
    expect(groups(queue)).toBe("1 | 2 | 3");
  });

  it("tests as many together as wait for each slot, once a slot is free", () => {
    const queue = aQueue(UNDER_LOAD).opens().submits(1, 2, 3, 4, 5, 6, 7).builds(1).passes(1).lands();
    expect(groups(queue)).toBe("2 | 3+4+5");
  });

  it("tests no more together than the operator allows", () => {
    const queue = aQueue({ ...UNDER_LOAD, batchingMinSize: 2 })
      .opens()
      .submits(1, 2, 3, 4, 5, 6, 7);
    expect(groups(queue.builds(1).passes(1).lands())).toBe("2 | 3+4");
  });

  it("in lanes makes nobody depend on what is being tested, and needs no overlap", () => {
    const queue = aLanedQueue(UNDER_LOAD).opens().brings(1, "a").brings(2, "b").brings(3, "g").brings(4, "c");
    queue.brings(5, "b").brings(6, "e").brings(7, "f").builds(1).passes(1).lands();
    expect(groups(queue)).toBe("2 | 3+4+6");
  });

  it("in lanes tests one whose predecessors are undecided alone", () => {
    const queue = aLanedQueue(UNDER_LOAD).opens().brings(1, "a").brings(2, "b").brings(3, "b").brings(4, "b");
    queue.brings(5, "b").brings(6, "b").brings(7, "b").builds(1).passes(1).lands();
    expect(groups(queue)).toBe("2 | 3");
  });
});
