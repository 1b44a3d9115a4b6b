import { expect, test } from "vitest";
import { FAILING_SEEDS } from "./failing-seeds.ts";
import { simulateMany, type Verdict } from "./many.ts";

const SEEDS = Array.from({ length: 50 }, (_, at) => at + 1);
const HOURS = 0.1;
/** As many as there are cores where this runs. */
const PROCESSES = 2;

async function verdictsOf(seeds: readonly number[], hours: number): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const notTried = await simulateMany({ seeds, hours, processes: PROCESSES, done: (one) => verdicts.push(one) });
  expect(notTried).toEqual([]);
  return verdicts;
}

test("fifty seeds of trouble break no promise", async () => {
  const verdicts = await verdictsOf(SEEDS, HOURS);
  expect(verdicts.filter((one) => one.problems.length > 0).map((one) => one.text)).toEqual([]);
  const landings = verdicts.map((one) => one.counts["landings"] ?? 0);
  expect(landings.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(100);
}, 600_000);

test("what once broke a promise breaks none", async () => {
  for (const hours of new Set(FAILING_SEEDS.map((one) => one.hours))) {
    const seeds = FAILING_SEEDS.filter((one) => one.hours === hours).map((one) => one.seed);
    const verdicts = await verdictsOf(seeds, hours);
    expect(verdicts.filter((one) => one.problems.length > 0).map((one) => one.text)).toEqual([]);
  }
}, 600_000);

test("a seed decides everything: the same one twice makes the same decisions at the same times", async () => {
  const [once, again] = await Promise.all([verdictsOf([7], HOURS), verdictsOf([7], HOURS)]);
  expect(once.map((one) => one.fingerprint)).toEqual(again.map((one) => one.fingerprint));
}, 120_000);
