import { expect, test } from "vitest";
import { FAILING_SEEDS } from "./failing-seeds.ts";
import { broken, landingsOf, verdictsOf } from "./verdicts.ts";

/** simulation.world.test.ts goes on to fifty, `npm run simulate:all` to a thousand. */
const SEEDS = Array.from({ length: 10 }, (_, at) => at + 1);

test("ten seeds of trouble break no promise", async () => {
  const verdicts = await verdictsOf(SEEDS);
  expect(broken(verdicts)).toEqual([]);
  expect(landingsOf(verdicts)).toBeGreaterThan(20);
});

test("what once broke a promise breaks none", async () => {
  for (const hours of new Set(FAILING_SEEDS.map((one) => one.hours))) {
    const seeds = FAILING_SEEDS.filter((one) => one.hours === hours).map((one) => one.seed);
    expect(broken(await verdictsOf(seeds, hours))).toEqual([]);
  }
});
