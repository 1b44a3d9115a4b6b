/** Every scenario, without faults, without anybody looking after it, and under each class of faults: one end. */
import { expect, test } from "vitest";
import { FAULT_CLASSES } from "../machine/faults.ts";
import { SCENARIOS } from "./all.ts";
import { playParts } from "./parts.ts";

test("whatever goes wrong, every story ends as it does when nothing does", { timeout: 3_600_000 }, async () => {
  const { staged, kept, rest } = await playParts(2, 1, 2);
  expect(rest).toEqual([]);
  const timeless = SCENARIOS.filter((scenario) => scenario.needsTime !== true).length;
  expect(staged.length).toBe(SCENARIOS.length * (FAULT_CLASSES.length + 1) + timeless);
  expect(kept).toBe(staged.length);
});
