/** A few stories: without faults, without anybody looking after them, and under faults. The slow tier plays every story. */
import { expect, test } from "vitest";
import { playParts } from "./parts.ts";

test("whatever goes wrong, a few stories end as they do when nothing does", async () => {
  const { staged, kept, rest } = await playParts(59, 1);
  expect(rest).toEqual([]);
  expect(staged.length).toBeGreaterThanOrEqual(4);
  expect(kept).toBe(staged.length);
});
