import { expect, test } from "vitest";
import { broken, landingsOf, verdictsOf } from "./verdicts.ts";

const SEEDS = Array.from({ length: 50 }, (_, at) => at + 1);

test("fifty seeds of trouble break no promise", { timeout: 3_600_000 }, async () => {
  const verdicts = await verdictsOf(SEEDS);
  expect(broken(verdicts)).toEqual([]);
  expect(landingsOf(verdicts)).toBeGreaterThan(100);
});
