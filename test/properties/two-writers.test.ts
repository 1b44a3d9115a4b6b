import { afterAll, beforeAll, expect, test } from "vitest";
import { withoutSigning } from "../simulation/machine/unsigned.ts";
import { startTable, type TestTable } from "../support/table.ts";
import { twoWriters } from "./two-writers.ts";

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(() => table.stop());

// two-writers.slow.test.ts plays the others.
test.each([1])(
  "two writers, seed %i: every PR ends, none lands twice, each landing goes on from the last",
  async (seed) => {
    const own = withoutSigning(await table.another());
    const { queue, landings, submitted } = await twoWriters(seed, own);
    expect(queue?.entries.map((one) => [one.entry.prNumber, one.entry.state])).toEqual([]);
    expect(queue?.degraded).toBeNull();
    const merged = submitted.filter((one) => one.entry.state === "MERGED").map((one) => one.entry.prNumber);
    const landed = landings.flatMap((one) => one.changes.map((change) => change.prNumber));
    expect(landed.toSorted((a, b) => a - b)).toEqual(merged.toSorted((a, b) => a - b));
    for (const [at, landing] of landings.entries())
      if (at > 0) expect(landing.expectedTip).toBe(landings[at - 1]?.commit);
    expect(landed.length).toBeGreaterThan(3);
  },
);
