import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Budget } from "../../../shared/code-host/github/port.ts";
import { epochMs, HOUR_MS, later, MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";
import { githubBudgets } from "../../../shared/table/github-budget.ts";
import { sharedTable, type Tables } from "../../support/table.ts";

const NOW = epochMs(500_000 * HOUR_MS + 7 * MINUTE_MS);
const CAPS = { points: 100, contentOfMinute: 2, contentOfHour: 3 };
const MERGE = { points: 5, content: 1 };

let tables: Tables;
let budget: Budget;
let another: Budget;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  const table = await tables.another();
  [budget, another] = [githubBudgets(table, "github.com")(1), githubBudgets(table, "github.com")(1)];
});

describe("an installation's budget", () => {
  test("is one for all who spend of it, by minutes and hours", async () => {
    await budget.spend(NOW, MERGE, null, CAPS);
    await another.spend(NOW, { points: 25, content: 0 }, null, null);
    expect(await budget.read(NOW)).toMatchObject({
      minute: { now: { points: 30, content: 1 }, before: { points: 0, content: 0 } },
      hour: { now: { content: 1 } },
    });
    expect(await another.read(later(NOW, MINUTE_MS))).toMatchObject({
      minute: { now: { points: 0, content: 0 }, before: { points: 30, content: 1 } },
      hour: { now: { content: 1 } },
    });
    expect(await another.read(later(NOW, HOUR_MS))).toMatchObject({
      minute: { now: { content: 0 }, before: { content: 0 } },
      hour: { now: { content: 0 }, before: { content: 1 } },
    });
  });

  test("reaches over the edge of an hour", async () => {
    const last = epochMs(500_001 * HOUR_MS - SECOND_MS);
    await budget.spend(last, MERGE, null, CAPS);
    expect(await budget.read(later(last, 2 * SECOND_MS))).toMatchObject({
      minute: { now: { content: 0 }, before: { content: 1 } },
      hour: { now: { content: 0 }, before: { content: 1 } },
    });
  });

  test("takes nothing beyond what it may hold, however many spend at a time", async () => {
    const many = Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? budget : another).spend(NOW, MERGE, null, { ...CAPS, contentOfMinute: 4, contentOfHour: 100 }),
    );
    expect((await Promise.all(many)).filter((one) => one === "SPENT")).toHaveLength(5);
    expect(await budget.read(NOW)).toMatchObject({ minute: { now: { content: 5, points: 25 } } });
    const next = later(NOW, MINUTE_MS);
    expect(await budget.spend(next, MERGE, null, { ...CAPS, contentOfHour: 4 })).toBe("OVER");
    expect(await budget.spend(next, MERGE, null, { ...CAPS, contentOfHour: 5 })).toBe("SPENT");
    expect(await budget.spend(next, MERGE, null, { ...CAPS, points: 4, contentOfHour: 50 })).toBe("OVER");
  });

  test("is spent by nobody while GitHub wants to be waited for, and the longest wait counts", async () => {
    const until = later(NOW, 30 * SECOND_MS);
    await budget.wait(NOW, until);
    await another.wait(NOW, later(NOW, 10 * SECOND_MS));
    expect((await another.read(NOW)).waitUntil).toBe(until);
    expect(await another.spend(NOW, MERGE, null, CAPS)).toBe("OVER");
    expect(await another.spend(until, MERGE, null, CAPS)).toBe("SPENT");
    await budget.wait(epochMs(500_001 * HOUR_MS - 1), epochMs(500_001 * HOUR_MS + 50));
    expect((await another.read(epochMs(500_001 * HOUR_MS))).waitUntil).toBe(500_001 * HOUR_MS + 50);
  });

  test("remembers what GitHub said last of the requests that are left, until that is over", async () => {
    const resetAt = later(NOW, 40 * MINUTE_MS);
    await budget.spend(NOW, MERGE, { remaining: 4_000, limit: 5_000, resetAt }, CAPS);
    await another.spend(later(NOW, 1), MERGE, { remaining: 3_999, limit: 5_000, resetAt }, CAPS);
    expect((await budget.read(NOW)).requests).toEqual({ remaining: 3_999, limit: 5_000, resetAt });
    expect((await budget.read(resetAt)).requests).toBeNull();
  });

  test("is not another installation's", async () => {
    const table = await tables.another();
    await githubBudgets(table, "github.com")(1).spend(NOW, MERGE, null, CAPS);
    for (const other of [githubBudgets(table, "github.com")(2), githubBudgets(table, "ghe.local")(1)])
      expect(await other.read(NOW)).toMatchObject({ minute: { now: { content: 0 } } });
  });
});
