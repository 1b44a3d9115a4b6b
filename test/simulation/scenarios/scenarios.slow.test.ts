/** Nearly every story once, each under another class of faults than the one before it. The world tier plays all. */
import { expect, test } from "vitest";
import { playParts } from "./parts.ts";

test("whatever goes wrong, stories end as they do when nothing does", async () => {
  const { staged, kept, rest } = await playParts(18, 1, 10);
  expect(rest).toEqual([]);
  expect(staged).toBeGreaterThanOrEqual(25);
  expect(kept).toBe(staged);
});
