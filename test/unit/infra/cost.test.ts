import { describe, expect, it } from "vitest";
import { MINUTES, PER_PULL_REQUEST } from "../../../infra/cost/assumptions.ts";
import { bill, NOTHING, sum, tableOf, totalOf, units } from "../../../infra/cost/bill.ts";
import { ITEMS, type PriceList, readPrices } from "../../../infra/cost/prices.ts";
import { type CountedMonth, unitsOf } from "../../bench/cost/month.ts";

const list = readPrices();

describe("a bill", () => {
  it("has a price for each thing that is counted, of one region and date", () => {
    expect(Object.keys(list.prices).toSorted()).toEqual([...ITEMS].toSorted());
    expect(list.region).toBe("us-east-1");
    expect(list.asOf).toMatch(/^20\d\d-\d\d$/u);
  });

  it("is what was used, at its price per so many", () => {
    const prices = {
      ...list.prices,
      writeUnits: { usd: 2, per: 1000, what: "w" },
      alarms: { usd: 3, per: 1, what: "a" },
    };
    const lines = bill(units({ writeUnits: 1500, alarms: 2 }), { ...list, prices } satisfies PriceList);
    expect(lines.filter(({ usd }) => usd > 0).map(({ item, usd }) => [item, usd])).toEqual([
      ["writeUnits", 3],
      ["alarms", 6],
    ]);
    expect(totalOf(lines)).toBe(9);
  });

  it("a million requests cost a dollar at the gateway, twenty cents in Lambda", () => {
    expect(totalOf(bill(units({ gatewayRequests: 1e6 }), list))).toBeCloseTo(1);
    expect(totalOf(bill(units({ invocations: 1e6 }), list))).toBeCloseTo(0.2);
  });

  it("of parts is the sum of each so many times", () => {
    const parts = [
      [3, { readUnits: 2, alarms: 1 }],
      [0.5, { readUnits: 10 }],
    ] as const;
    expect(sum(...parts)).toEqual({ ...NOTHING, readUnits: 11, alarms: 3 });
    expect(sum()).toEqual(NOTHING);
  });

  it("is shown with what costs nothing left out, and what costs little not as nothing", () => {
    const months = [
      { name: "idle", lines: bill(NOTHING, list) },
      { name: "busy", lines: bill(units({ readUnits: 100, writeUnits: 2_000_000 }), list) },
    ];
    expect(tableOf(months).split("\n")).toEqual([
      "| USD a month (and how many) | idle | busy |",
      "| --- | ---: | ---: |",
      "| DynamoDB on demand: write request units | 0.00 (0) | 1.25 (2.0 M) |",
      "| DynamoDB on demand: read request units | 0.00 (0) | <0.01 (100) |",
      "| **all of it** | **0.00** | **1.25** |",
    ]);
  });
});

describe("a month", () => {
  const counted = (reads: number, writes: number) => ({ reads, writes });
  const month = (pullRequests: number): CountedMonth => ({
    pullRequests,
    queue: {
      requests: { ...counted(20, 10), count: 10 },
      loop: { ...counted(15, 150), advances: 8, effects: 4 },
      scrape: counted(5, 0),
      idleSweep: counted(2, 0),
      sweepOfOne: counted(3, 0),
    },
    tests: { upload: counted(50, 5), judging: counted(100, 0) },
    deployed: { alarms: 20, dashboards: 1, metrics: 1, secrets: 1, memoryOf: () => 1 },
    bytes: { pullRequest: 1e6, upload: 0 },
  });

  it("in which nothing is merged costs its schedules, its scrapes and its alarms, and nothing else", () => {
    const idle = unitsOf(month(0));
    expect(idle.writeUnits).toBe(0);
    expect(idle.gatewayRequests).toBe(MINUTES);
    // Three workers a minute; a scrape, and who is let in.
    expect(idle.invocations).toBe(5 * MINUTES);
    expect(idle.readUnits).toBe(MINUTES * (5 + 1 + 2 + 0.5 + 1));
    expect([idle.alarms, idle.s3Puts, idle.tableGb]).toEqual([20, 0, 0]);
  });

  it("adds for each merged pull request its requests, its uploads and its part of the loop", () => {
    const [idle, some] = [unitsOf(month(0)), unitsOf(month(100))];
    const { uploads } = PER_PULL_REQUEST;
    expect(some.gatewayRequests - idle.gatewayRequests).toBeCloseTo(100 * (10 + uploads));
    expect(some.writeUnits - idle.writeUnits).toBeCloseTo(100 * (10 + 150 + 5 * uploads));
    // Of each request two calls, and those of the loop.
    expect(some.invocations - idle.invocations).toBeCloseTo(100 * (2 * (10 + uploads) + 8 + 4));
    expect(some.tableGb).toBeCloseTo(1.2);
  });

  it("looks at all tests at most once a minute, however many uploads come", () => {
    const without = { ...month(1e6), tests: { upload: counted(0, 0), judging: counted(0, 0) } };
    const judged = { ...without, tests: { ...without.tests, judging: counted(100, 0) } };
    expect(unitsOf(judged).readUnits - unitsOf(without).readUnits).toBeCloseTo(100 * MINUTES, -3);
  });
});
