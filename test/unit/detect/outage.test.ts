import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitsOf, isOutage, type SuiteRun } from "../../../shared/test-health/detect/outage.ts";
import { hour } from "./fixture.ts";

const suite = (at: number, failing: number, change: Partial<SuiteRun> = {}): SuiteRun => ({
  at: hour(at),
  sha: `c${at}`,
  tests: 100,
  failing,
  wasOutage: false,
  ...change,
});
/** Ten uploads, of a hundred tests each, on the day before. */
const ordinary = (failing = 0, tests = 100): readonly SuiteRun[] =>
  Array.from({ length: 10 }, (_, at) => suite(at - 20, failing, { tests }));

describe("an upload in which much more fails than is normal", () => {
  it.each([
    [100, 25, false, "a quarter is not more than a quarter"],
    [100, 26, true, "more is"],
    [49, 40, false, "a suite of 49 tests is too small"],
    [50, 40, true, "one of 50 is not"],
    [70, 19, false, "19 are too few, though 27 %"],
    [70, 20, true, "20 are enough"],
    [0, 0, false, "none"],
  ])("of %i tests %i fail: %s (%s)", (tests, failing, expected) => {
    expect(isOutage(suite(0, failing, { tests }), ordinary(0, Math.max(tests, 50)))).toBe(expected);
  });

  it("is more than eight times the suite's normal share", () => {
    expect(isOutage(suite(0, 40), ordinary(5))).toBe(false);
    expect(isOutage(suite(0, 41), ordinary(5))).toBe(true);
    expect(isOutage(suite(0, 100), ordinary(13))).toBe(false);
  });

  it("normal is the median of what was ordinary: neither outages nor a few bad ones change it", () => {
    const bad = [1, 2, 3, 4].map((at) => suite(at - 40, 90));
    const outages = Array.from({ length: 20 }, (_, at) => suite(at - 70, 90, { wasOutage: true }));
    expect(isOutage(suite(0, 60), [...ordinary(), ...bad, ...outages])).toBe(true);
  });

  it("without a known normal nothing is an outage", () => {
    expect(isOutage(suite(0, 90), [])).toBe(false);
    expect(isOutage(suite(0, 90), ordinary().slice(0, 4))).toBe(false);
    expect(isOutage(suite(0, 90), ordinary().slice(0, 5))).toBe(true);
  });

  it("what is later, and in which order the rest is given, does not matter", () => {
    const past = fc.array(
      fc.record({ at: fc.integer({ min: -60, max: 20 }), failing: fc.constantFrom(0, 0, 1, 60, 90) }),
      { maxLength: 30 },
    );
    const both = past
      .map((list) => list.map((one, at) => suite(one.at + at / 100, one.failing)))
      .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(both, ([list, shuffled]) => {
        const found = isOutage(suite(0, 70), list);
        expect(isOutage(suite(0, 70), shuffled)).toBe(found);
        expect(
          isOutage(
            suite(0, 70),
            list.filter((one) => one.at <= hour(0)),
          ),
        ).toBe(found);
      }),
      { numRuns: 200 },
    );
  });
});

/** One after the other, each judged and then recorded as the service does. */
function inARow(times: readonly number[], of: (at: number) => Partial<SuiteRun> = () => ({})): readonly boolean[] {
  const recent = [...ordinary()];
  return times.map((at) => {
    const one = suite(at, 80, of(at));
    const wasOutage = isOutage(one, recent);
    recent.push({ ...one, wasOutage });
    return wasOutage;
  });
}

describe("a break that lasts is not hidden for long", () => {
  it("five commits are an outage, and none of those behind them", () => {
    expect(inARow([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])).toEqual([
      ...Array.from({ length: 5 }, () => true),
      ...Array.from({ length: 7 }, () => false),
    ]);
  });

  it("several uploads of one commit are one", () => {
    expect(inARow([0, 1, 2, 3, 4, 5, 6], () => ({ sha: "same" }))).not.toContain(false);
  });

  it("24 hours are the most, however few commits", () => {
    expect(inARow([0, 12, 24, 24.001, 30])).toEqual([true, true, true, false, false]);
  });

  it("an ordinary upload ends the row; one too small to be judged does not", () => {
    const failing = (at: number): Partial<SuiteRun> => (at === 5 ? { failing: 1 } : {});
    expect(inARow([0, 1, 2, 3, 4, 5, 6, 7], failing)).toEqual([true, true, true, true, true, false, true, true]);
    const small = (at: number): Partial<SuiteRun> => (at === 5 ? { failing: 1, tests: 10 } : {});
    expect(inARow([0, 1, 2, 3, 4, 5, 6, 7], small)).toEqual([true, true, true, true, true, false, false, false]);
  });

  it("what fails for long enough becomes normal, and an outage is none until it is mended", () => {
    const long = Array.from({ length: 60 }, (_, at) => at);
    expect(inARow(long).filter(Boolean)).toHaveLength(5);
  });
});

describe("a commit", () => {
  it("is all of its uploads", () => {
    const commits = commitsOf([
      suite(2, 12, { sha: "a", tests: 30 }),
      suite(1, 10, { sha: "a", tests: 30, wasOutage: true }),
      suite(3, 0, { sha: "b" }),
    ]);
    expect(commits).toEqual([
      { at: hour(1), sha: "a", tests: 60, failing: 22, wasOutage: true },
      { at: hour(3), sha: "b", tests: 100, failing: 0, wasOutage: false },
    ]);
  });

  it("is an outage though each of its uploads is too small to be one", () => {
    const parts = [0, 0.1, 0.2].map((at) => suite(at, 15, { sha: "x", tests: 30 }));
    expect(parts.map((one) => isOutage(one, ordinary()))).toEqual([false, false, false]);
    expect(commitsOf(parts).map((one) => isOutage(one, commitsOf(ordinary())))).toEqual([true]);
  });
});
