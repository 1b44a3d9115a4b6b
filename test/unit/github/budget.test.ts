import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allowedAt, capsOf, costOf } from "../../../shared/code-host/github/budget.ts";
import type { BudgetState, Spent } from "../../../shared/code-host/github/port.ts";
import { epochMs, HOUR_MS, later, MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";

const NOW = epochMs(1_000 * HOUR_MS + 30 * MINUTE_MS);
const none: Spent = { points: 0, content: 0 };
const window = (now: Partial<Spent>, before: Partial<Spent> = {}) => ({
  now: { ...none, ...now },
  before: { ...none, ...before },
});
const state = (of: Partial<BudgetState>): BudgetState => ({
  minute: window({}),
  hour: window({}),
  waitUntil: epochMs(0),
  requests: null,
  ...of,
});
const READ = costOf("GET", "/repos/{owner}/{repo}");
const MERGE = costOf("PUT", "/repos/acme/app/pulls/7/merge");
const waits = (of: Partial<BudgetState>, cost: Spent, isSpare = false): number =>
  (allowedAt(state(of), cost, isSpare, NOW) - NOW) / SECOND_MS;

describe("what a call costs", () => {
  test.each([
    ["POST", "git/refs", 5, 1],
    ["POST", "merges", 5, 1],
    ["POST", "pulls", 5, 1],
    ["PUT", "pulls/{pull_number}/merge", 5, 1],
    ["POST", "issues/{issue_number}/comments", 5, 1],
    ["POST", "issues/{issue_number}/labels", 5, 1],
    ["POST", "check-runs", 5, 1],
    ["POST", "check-runs/{check_run_id}/rerequest", 5, 0],
    ["POST", "actions/runs/{run_id}/cancel", 5, 0],
    ["PATCH", "git/refs/{ref}", 5, 0],
    ["DELETE", "git/refs/{ref}", 5, 0],
    ["GET", "pulls", 1, 0],
  ])("%s %s: %i points, %i created", (method, path, points, content) => {
    expect(costOf(method, `/repos/{owner}/{repo}/${path}`)).toEqual({ points, content });
  });
});

describe("a call", () => {
  test("goes at once while there is room, and waits for the next minute or hour when there is none", () => {
    expect(waits({ minute: window({ content: 79 }) }, MERGE)).toBe(0);
    expect(waits({ minute: window({ content: 80 }) }, MERGE)).toBeCloseTo(60 + 60 / 80, 1);
    expect(waits({ minute: window({ points: 895 }) }, MERGE)).toBe(0);
    expect(waits({ minute: window({ points: 896 }) }, MERGE)).toBeGreaterThan(59);
    expect(waits({ minute: window({ points: 899 }) }, READ)).toBe(0);
    expect(waits({ minute: window({ points: 900 }) }, READ)).toBeGreaterThan(59);
    expect(waits({ hour: window({ content: 499 }) }, MERGE)).toBe(0);
    expect(waits({ hour: window({ content: 500 }) }, MERGE)).toBeGreaterThan(1_799);
  });

  test("counts what is left of the minute and the hour before: nothing is spent twice around their edges", () => {
    expect(waits({ minute: window({}, { content: 80 }) }, MERGE)).toBeCloseTo(0.75, 1);
    expect(waits({ hour: window({ content: 250 }, { content: 500 }) }, MERGE)).toBeGreaterThan(0);
    expect(waits({ hour: window({ content: 249 }, { content: 500 }) }, MERGE)).toBe(0);
  });

  test("that only reads does not wait for what creates content", () => {
    expect(waits({ minute: window({ content: 80 }), hour: window({ content: 500 }) }, READ)).toBe(0);
  });

  test("that can be done without is refused at half of each, and when few requests are left", () => {
    expect(waits({ minute: window({ content: 40 }) }, MERGE, true)).toBeGreaterThan(0);
    expect(waits({ hour: window({ content: 250 }) }, MERGE, true)).toBeGreaterThan(0);
    expect(waits({ hour: window({ content: 249 }) }, MERGE, true)).toBe(0);
    const requests = { remaining: 999, limit: 5_000, resetAt: later(NOW, 90 * SECOND_MS) };
    expect(waits({ requests }, READ, true)).toBe(90);
    expect(waits({ requests: { ...requests, remaining: 1_000 } }, READ, true)).toBe(0);
    expect(waits({ requests }, MERGE)).toBe(0);
    expect(waits({ requests: { ...requests, resetAt: later(NOW, -1) } }, READ, true)).toBe(0);
  });

  test("waits as long as GitHub said", () => {
    expect(waits({ waitUntil: later(NOW, 17 * SECOND_MS) }, READ)).toBe(17);
  });
});

const counts = fc.record({ points: fc.nat(1_000), content: fc.nat(90) });
const states = fc.record({
  minute: fc.record({ before: counts, now: counts }),
  hour: fc.record({
    before: counts.map((one) => ({ ...one, content: one.content * 6 })),
    now: counts.map((one) => ({ ...one, content: one.content * 6 })),
  }),
  waitUntil: fc.constant(epochMs(0)),
  requests: fc.constant(null),
});
const times = fc.nat(HOUR_MS).map((ms) => epochMs(1_000 * HOUR_MS + ms));

test("the table refuses what would have to wait here, and takes what would not", () => {
  fc.assert(
    fc.property(states, times, (of, now) => {
      const caps = capsOf(of, MERGE, now);
      const isTaken =
        of.minute.now.points <= caps.points &&
        of.minute.now.content <= caps.contentOfMinute &&
        of.hour.now.content <= caps.contentOfHour;
      expect(isTaken).toBe(allowedAt(of, MERGE, false, now) <= now);
    }),
  );
});

test("whoever waits as long as is said may go on then, if nobody else did anything", () => {
  fc.assert(
    fc.property(states, times, (of, now) => {
      const until = allowedAt(of, MERGE, false, now);
      const slid = (spanMs: number, one: BudgetState["minute"]): BudgetState["minute"] => {
        const windows = Math.floor(until / spanMs) - Math.floor(now / spanMs);
        if (windows === 0) return one;
        return { now: none, before: windows === 1 ? one.now : none };
      };
      const then = { ...of, minute: slid(MINUTE_MS, of.minute), hour: slid(HOUR_MS, of.hour) };
      expect(allowedAt(then, MERGE, false, until)).toBe(until);
      expect(until - now).toBeLessThanOrEqual(2 * HOUR_MS);
    }),
  );
});
