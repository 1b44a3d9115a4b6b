import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { epochMs } from "../../../shared/kernel/time.ts";
import type { Observation } from "../../../shared/test-health/detect/history.ts";
import { DEFAULT_RULES } from "../../../shared/test-health/detect/rules.ts";
import { verdictOf } from "../../../shared/test-health/detect/verdict.ts";
import { aHistory, aRetriedRun, aStatus, aTime, day, hour, judged, only, runs, someRules } from "./fixture.ts";

const RUNS = 300;

describe("a verdict", () => {
  it("does not depend on the order in which results came", () => {
    const both = aHistory.chain((history) =>
      fc.tuple(fc.constant(history), fc.shuffledSubarray(history, { minLength: history.length })),
    );
    fc.assert(
      fc.property(both, someRules, aStatus, aTime, ([history, shuffled], rules, previous, now) => {
        expect(verdictOf(shuffled, rules, previous, now)).toEqual(verdictOf(history, rules, previous, now));
      }),
      { numRuns: RUNS },
    );
  });

  it("nor where nothing but their content tells them apart", () => {
    const alike = aHistory.map((history) => history.map((run) => ({ ...run, at: hour(1), upload: "u" })));
    const both = alike.chain((history) =>
      fc.tuple(fc.constant(history), fc.shuffledSubarray(history, { minLength: history.length })),
    );
    fc.assert(
      fc.property(both, someRules, ([history, shuffled], rules) => {
        expect(judged(shuffled, hour(2), { rules })).toEqual(judged(history, hour(2), { rules }));
      }),
      { numRuns: RUNS },
    );
  });

  it("stands until the time it names, and is another then", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    let changed = 0;
    fc.assert(
      fc.property(aHistory, someRules, aStatus, aTime, share, (history, rules, previous, now, part) => {
        const verdict = verdictOf(history, rules, previous, now);
        const at = (time: number) => verdictOf(history, rules, verdict.status, epochMs(time)).status;
        const end = verdict.revisitAt ?? day(400);
        expect(end).toBeGreaterThan(now);
        expect(at(now)).toBe(verdict.status);
        expect(at(Math.floor(now + part * (end - 1 - now)))).toBe(verdict.status);
        expect(at(end - 1)).toBe(verdict.status);
        const isNews = history.some((run) => run.at === verdict.revisitAt);
        if (verdict.revisitAt === null || isNews) return;
        changed += 1;
        expect(at(end)).not.toBe(verdict.status);
      }),
      { numRuns: RUNS },
    );
    expect(changed).toBeGreaterThan(RUNS / 30);
  });

  it("outages are no evidence: with them it is what it is without them", () => {
    fc.assert(
      fc.property(aHistory, someRules, aStatus, aTime, (history, rules, previous, now) => {
        const { reason: _, ...without } = verdictOf(
          history.filter((run) => !run.isOutage),
          rules,
          previous,
          now,
        );
        expect(verdictOf(history, rules, previous, now)).toMatchObject(without);
        const all = history.map((run) => ({ ...run, isOutage: true }));
        expect(verdictOf(all, DEFAULT_RULES, previous, now)).toMatchObject({ status: "HEALTHY", revisitAt: null });
      }),
      { numRuns: RUNS },
    );
  });

  it("what has not happened yet is not known, and is a reason to look again", () => {
    const history = [aRetriedRun(hour(1)), aRetriedRun(hour(2))];
    expect(judged(history, hour(1.5))).toMatchObject({ status: "HEALTHY", revisitAt: hour(2) });
    expect(judged(history, hour(2)).status).toBe("FLAKY");
  });

  it("is one of a test that never fails: HEALTHY, for ever", () => {
    const passing = aHistory.map((history) => history.map((run) => ({ ...run, passed: 1, failed: 0 })));
    fc.assert(
      fc.property(passing, aStatus, (history, previous) => {
        expect(verdictOf(history, DEFAULT_RULES, previous, day(20))).toMatchObject({
          status: "HEALTHY",
          rules: [],
          evidence: [],
          revisitAt: null,
        });
      }),
      { numRuns: 50 },
    );
  });

  it("carries at most 20 pieces of evidence, newest first, each of a rule that says so", () => {
    fc.assert(
      fc.property(aHistory, someRules, aStatus, aTime, (history, rules, previous, now) => {
        const { evidence, rules: speaking, status } = verdictOf(history, rules, previous, now);
        const times = evidence.map((one) => one.at);
        expect(times).toEqual(times.toSorted((a, b) => b - a));
        expect(evidence.every((one) => speaking.includes(one.rule))).toBe(true);
        expect(speaking.length > 0).toBe(status !== "HEALTHY");
      }),
      { numRuns: RUNS },
    );
    const many = Array.from({ length: 50 }, (_, at) => aRetriedRun(hour(at)));
    const verdict = judged(many, hour(50));
    expect(verdict.evidence).toHaveLength(20);
    expect(verdict.evidence[0]?.at).toBe(hour(49));
    expect(verdict.reason).toMatch(/on 50 commits/u);
  });
});

describe("more of the same does not weaken a verdict", () => {
  const with2 = (history: readonly Observation[], more: readonly Observation[], names: "sameCommit" | "failureRun") =>
    [history, [...history, ...more]].map((all) => judged(all, day(12), { rules: only(names) }).status);

  it("any observation added to what is FLAKY by the same-commit rule leaves it FLAKY", () => {
    fc.assert(
      fc.property(aHistory, aHistory, (history, more) => {
        const [before, after] = with2(history, more, "sameCommit");
        if (before === "FLAKY") expect(after).toBe("FLAKY");
      }),
      { numRuns: RUNS },
    );
  });

  it("failures added to what is BROKEN by its last runs leave it BROKEN", () => {
    const failing = aHistory.map((history) => history.map((run) => ({ ...run, passed: 0, failed: 1 })));
    fc.assert(
      fc.property(aHistory, failing, (history, more) => {
        const [before, after] = with2(history, more, "failureRun");
        if (before === "BROKEN") expect(after).toBe("BROKEN");
      }),
      { numRuns: RUNS },
    );
  });

  it("what is called FLAKY or BROKEN anew is so whatever it was called before", () => {
    fc.assert(
      fc.property(aHistory, someRules, aTime, (history, rules, now) => {
        const anew = verdictOf(history, rules, "HEALTHY", now).status;
        if (anew !== "HEALTHY") expect(verdictOf(history, rules, anew, now).status).toBe(anew);
        if (anew === "BROKEN") expect(verdictOf(history, rules, "FLAKY", now).status).toBe("BROKEN");
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a HEALTHY verdict", () => {
  it("says with numbers why", () => {
    expect(judged([], hour(0)).reason).toBe("0 runs are known");
    const history = [...runs("..F.R"), ...runs("F", 6, { isOutage: true })];
    expect(judged(history, hour(7)).reason).toBe(
      "of 5 runs 1 failed, 1 failed and then passed, 1 run in an outage not counted: too few for any rule",
    );
  });

  it("needs no rule at all", () => {
    expect(judged(runs("FFFFFFFFFFRRRR"), hour(14), { rules: only(), previous: "BROKEN" })).toMatchObject({
      status: "HEALTHY",
      revisitAt: null,
    });
  });
});
