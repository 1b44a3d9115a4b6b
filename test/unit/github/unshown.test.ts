import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { DAY_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, type Rig } from "./rig.ts";

const COMMENTS = /issues\/\d+\/comments/u;

let tables: Tables;
let rig: Rig;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  rig = await aRig(tables, { commentsEnabled: true }, 2 * DAY_MS);
});
afterEach(() => rig.stop());

const shown = (number: number): string => {
  const ours = rig.twin.comments(NAME, number).filter((one) => one.viaApp);
  return ours.map((one) => one.body).join("\n");
};
/** How often it is tried, by somebody who looks every five minutes. */
const triesFor = async (ms: number): Promise<number> => {
  let tries = 0;
  for (let passed = 0; passed < ms; passed += 5 * MINUTE_MS) {
    rig.passes(5 * MINUTE_MS);
    tries += await rig.performs("show");
  }
  return tries;
};

async function unshown(): Promise<number> {
  const number = await rig.change();
  rig.twin.faults.fail(10_000, 502, COMMENTS);
  await rig.says(number, "/merge");
  await rig.advances();
  return number;
}

test("what could not be shown for hours of an outage is shown after it", async () => {
  const number = await unshown();
  expect(await triesFor(60 * MINUTE_MS)).toBeGreaterThan(5);
  expect(shown(number)).toBe("");
  rig.twin.faults.clear();
  expect(await triesFor(15 * MINUTE_MS)).toBeGreaterThan(0);
  expect(shown(number)).toContain("queue of `main`");
});

test("what could not be shown for a day is not tried for ever", async () => {
  await unshown();
  rig.passes(DAY_MS);
  expect(await triesFor(5 * MINUTE_MS)).toBeGreaterThan(0);
  expect(await triesFor(30 * MINUTE_MS)).toBe(0);
});
