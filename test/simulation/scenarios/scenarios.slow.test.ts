/** Every story, each under another class of faults than the one before it. The world tier plays each under all. */
import { expect, test } from "vitest";
import { FAULT_CLASSES } from "../machine/faults.ts";
import { SCENARIOS } from "./all.ts";
import { playParts } from "./parts.ts";

test("whatever goes wrong, stories end as they do when nothing does", async () => {
  // Every seventh staging, half of them in each process.
  const { staged, kept, rest } = await playParts(14, 4, 11);
  expect(rest).toEqual([]);
  expect(new Set(staged.map(({ scenario }) => scenario.name)).size).toBe(SCENARIOS.length);
  expect(new Set(staged.map(({ faults }) => faults)).size).toBe(FAULT_CLASSES.length + 2);
  expect(kept).toBe(staged.length);
});
