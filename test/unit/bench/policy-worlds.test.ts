import { describe, expect, test } from "vitest";
import { newLedger, noteEjected, noteLanded } from "../../bench/policies/ledger.ts";
import { runnersOf } from "../../bench/policies/mainline/runners.ts";
import { figuresOf, isOverloaded, jain, quantiles } from "../../bench/policies/measure.ts";
import { COMPARED_NAMES, DEFAULTS, FIXED_NAMES, ORACLE, policyOf, TUNED } from "../../bench/policies/policies.ts";
import { isGood, landOn, newTrunk, outcomeOf } from "../../bench/policies/trunk.ts";
import { BASE, workload } from "../../bench/policies/workload.ts";
import { worldOf } from "../../bench/policies/world.ts";
import { runId } from "../../../shared/kernel/ids.ts";
import { aWorld, sum } from "./a-world.ts";

describe("a world", () => {
  const load = workload({ changes: 400, overlap: 0.05 });

  test("is the same for the same seed, and another for another", () => {
    expect(worldOf(load, 7)).toEqual(worldOf(load, 7));
    expect(worldOf(load, 8).takes).not.toEqual(worldOf(load, 7).takes);
  });

  test("varying one factor leaves the others as they were", () => {
    const one = worldOf(load, 7);
    const other = worldOf({ ...load, flake: 0.1, workers: 2, overlap: "CLUSTERED" }, 7);
    expect(other.arrivesAt).toEqual(one.arrivesAt);
    expect(other.takes).toEqual(one.takes);
    expect(other.isBad).toEqual(one.isBad);
    expect(other.earlier).not.toEqual(one.earlier);
  });

  test("is drawn as it says", () => {
    const world = worldOf(workload({ changes: 1_900, overlap: 0.05 }), 1);
    const minutes = quantiles(Array.from(world.takes, (ms) => ms / 60_000));
    expect(minutes.p50).toBeGreaterThan(25.5);
    expect(minutes.p50).toBeLessThan(28.5);
    expect(minutes.p99).toBeLessThanOrEqual(120);
    expect(sum(world.isBad) / 1_900).toBeCloseTo(0.08, 1);
    expect(sum(world.earlier.map((others) => others.length)) / ((1_900 * 1_899) / 2)).toBeCloseTo(0.05, 2);
    expect((world.arrivesAt[1_899] ?? 0) / 3_600_000).toBeGreaterThan(1_900 / 20 / 1.1);
  });
});

describe("the truth", () => {
  const world = aWorld(
    1,
    { at: 0, takes: 1 },
    { at: 0, takes: 1, bad: true, overlaps: [0], fixedBy: 2 },
    { at: 0, takes: 1, overlaps: [1] },
    { at: 0, takes: 1, overlaps: [0], conflicts: [0] },
  );

  test("a bad change fails, unless what mends it is there; two that conflict fail together, landed or not", () => {
    const trunk = newTrunk(world);
    expect([[0], [1], [1, 2], [3], [0, 3]].map((onTop) => isGood(trunk, 0, onTop))).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
    landOn(trunk, 0);
    expect(isGood(trunk, 1, [3])).toBe(false);
    expect(isGood(trunk, 0, [3])).toBe(true);
  });

  test("a commit between a bad change and the one that mends it is red, and so is what overlaps it", () => {
    const trunk = newTrunk(world);
    expect(landOn(trunk, 1)).toBe(false);
    expect(isGood(trunk, 1, [0])).toBe(false);
    expect(landOn(trunk, 2)).toBe(true);
    expect(isGood(trunk, 2, [0])).toBe(true);
  });

  test("whether a run flakes is a matter of seed, content and attempt alone", () => {
    const flaky = { ...world, load: { ...world.load, flake: 0.5 } };
    const attempts = (): readonly boolean[] => {
      const trunk = newTrunk(flaky);
      return Array.from({ length: 40 }, () => outcomeOf(trunk, 0, [0]));
    };
    expect(attempts()).toEqual(attempts());
    expect(new Set(attempts())).toEqual(new Set([true, false]));
    const trunk = newTrunk(flaky);
    outcomeOf(trunk, 0, [2]);
    expect(Array.from({ length: 40 }, () => outcomeOf(trunk, 0, [0]))).toEqual(attempts());
  });

  test("out although it would have been right is a false ejection", () => {
    const trunk = newTrunk(world);
    const ledger = newLedger(world.count);
    noteEjected(ledger, trunk, 1, 5);
    noteLanded(ledger, trunk, 0, 5);
    noteEjected(ledger, trunk, 2, 6);
    noteEjected(ledger, trunk, 3, 6);
    expect([...ledger.wronged]).toEqual([0, 0, 1, 0]);
    expect(() => noteLanded(ledger, trunk, 3, 7)).toThrow("decided before");
  });
});

describe("every policy", () => {
  const load = workload({ changes: 100, perHour: 40, overlap: 0.05, workers: 0.5, flake: 0.1 });

  test.each([...COMPARED_NAMES, ...FIXED_NAMES])("%s decides everything and lands nothing that is wrong", (name) => {
    const world = worldOf(load, 3);
    const ledger = policyOf(name).run(world);
    expect(ledger.decidedAt.some(Number.isNaN)).toBe(false);
    expect(sum(ledger.isRed)).toBe(0);
    for (const [change, at] of ledger.decidedAt.entries())
      expect(at).toBeGreaterThanOrEqual(world.arrivesAt[change] ?? Infinity);
    expect(sum(ledger.busyMs) / (world.workers * Math.max(...ledger.decidedAt))).toBeLessThanOrEqual(1);
  });

  test.each([DEFAULTS, TUNED])("%s does the same twice", (name) => {
    const world = worldOf(load, 4);
    expect(policyOf(name).run(world)).toEqual(policyOf(name).run(world));
  });

  test("the oracle wrongs nobody and needs one run each", () => {
    const world = worldOf(load, 3);
    const ledger = policyOf(ORACLE).run(world);
    expect(sum(ledger.wronged)).toBe(0);
    expect([...new Set(ledger.runs)]).toEqual([1]);
  });

  test("only optimism lands a commit that is not right, and only one that a later change mends", () => {
    const world = worldOf({ ...BASE, changes: 120, success: 0.8, workers: 2, overlap: 0.05, fixForward: 0.6 }, 4);
    expect(sum(policyOf(DEFAULTS).run(world).isRed)).toBe(0);
    const { isRed, landed } = policyOf(TUNED).run(world);
    const red = [...isRed.keys()].filter((change) => isRed[change] === 1);
    expect(red.length).toBeGreaterThan(0);
    for (const change of red) expect([world.isBad[change], landed[world.fixedBy[change] ?? -1]]).toEqual([1, 1]);
  });
});

describe("the workers", () => {
  const job = (name: string, rank: "REPEAT" | "BISECTION" | "MAIN") => ({
    run: runId(name),
    repeat: 0,
    rank,
    tested: [0],
    takesMs: 10,
    passes: () => true,
  });

  test("take repeats first, then parts of batches, then the others as they came; never more than there are", () => {
    const runners = runnersOf(1, newLedger(1));
    runners.begin(job("first", "MAIN"), 0);
    runners.begin(job("second", "MAIN"), 1);
    runners.begin(job("stopped", "MAIN"), 1);
    runners.begin(job("part", "BISECTION"), 2);
    runners.begin(job("again", "REPEAT"), 3);
    runners.stop(runId("stopped"), 4);
    const ended: string[] = [];
    for (let at = runners.nextEnd(); at !== undefined; at = runners.nextEnd()) {
      expect(runners.busy()).toBe(1);
      ended.push(`${runners.end(at)?.job.run} ${at}`);
    }
    expect(ended).toEqual(["first 10", "again 20", "part 30", "second 40"]);
  });

  test("time of a worker that is given back early counts, as an aborted run", () => {
    const ledger = newLedger(1);
    const runners = runnersOf(1, ledger);
    runners.begin(job("one", "MAIN"), 0);
    runners.stop(runId("one"), 4);
    expect([ledger.runs[0], ledger.aborted[0], ledger.busyMs[0]]).toEqual([1, 1, 4]);
    expect(runners.nextEnd()).toBeUndefined();
  });
});

describe("the figures", () => {
  test("quantiles are values that occur", () => {
    expect(quantiles([4, 1, 3, 2])).toEqual({ p50: 2, p95: 4, p99: 4 });
  });

  test("fairness is 1 when all wait alike, and 1/n when one bears it all", () => {
    expect(jain([3, 3, 3])).toBe(1);
    expect(jain([3, 0, 0])).toBeCloseTo(1 / 3);
  });

  test("a queue whose backlog grows is overloaded, one whose backlog stands is not", () => {
    const world = worldOf(workload({ changes: 500 }), 1);
    const decided = (takes: (change: number) => number) => {
      const ledger = newLedger(world.count);
      for (const [change, at] of world.arrivesAt.entries()) ledger.decidedAt[change] = at + takes(change) * 60_000;
      return isOverloaded(world, ledger);
    };
    expect(decided(() => 60)).toBe(false);
    expect(decided((change) => 60 + change)).toBe(true);
  });

  test("runs, merges and false ejections are of what was counted", () => {
    const world = worldOf(workload({ changes: 500 }), 1);
    const figures = figuresOf(world, policyOf(ORACLE).run(world));
    expect(figures.runsPerLanded).toBeGreaterThan(1);
    expect(figures.runsPerLanded).toBeLessThan(1.2);
    expect(figures.mergesPerHour).toBeGreaterThan(15);
    expect(figures.mergesPerHour).toBeLessThan(21);
    expect(figures.wrongedPer100).toBe(0);
    expect(figures.greenShare).toBe(1);
  });

  test("of one that was given up the undecided take longer than any ratio, and what landed until then counts", () => {
    const world = worldOf(workload({ changes: 500 }), 1);
    const ledger = newLedger(world.count);
    const hours = (change: number): number => (world.arrivesAt[change] ?? 0) / 3_600_000;
    for (const [change, at] of world.arrivesAt.entries())
      if (hours(change) < 4) [ledger.decidedAt[change], ledger.landed[change]] = [at, 1];
    ledger.gaveUpAt = 4 * 3_600_000;
    const figures = figuresOf(world, ledger);
    const between = world.arrivesAt.filter((_, change) => hours(change) >= 1 && hours(change) < 4).length;
    expect([figures.isOverloaded, figures.mergesPerHour]).toEqual([true, between / 3]);
    expect(figures.landed.p50).toBeGreaterThan(1_000_000);
  });
});
