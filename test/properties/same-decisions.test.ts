import { afterAll, beforeAll, expect, test } from "vitest";
import { withoutSigning } from "../simulation/machine/unsigned.ts";
import { startTable, type TestTable } from "../support/table.ts";
import { CHANGES, storiesOf, WORLDS } from "./same-decisions.ts";

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(() => table.stop());

// One of each settings; same-decisions.slow.test.ts goes through the others.
test.each(WORLDS.slice(0, 2))("seed $seed is decided alike", async (one) => {
  const own = withoutSigning(await table.another());
  const { alone, whole } = await storiesOf(one, own);
  expect(whole).toEqual(alone);
  expect(alone.length).toBeGreaterThan(CHANGES * 2);
});
