import { describe, expect, test } from "vitest";
import { createRefusals } from "../../../functions/refusals.ts";
import { epochMs } from "../../../shared/kernel/time.ts";

const at = epochMs;

describe("what was refused", () => {
  test("is remembered until then, with its reason, and not after", () => {
    const refusals = createRefusals();
    refusals.keep("run 1", "it is over", at(100));
    expect([refusals.of("run 1", at(99)), refusals.of("run 2", at(99))]).toEqual(["it is over", undefined]);
    expect(refusals.of("run 1", at(100))).toBeUndefined();
  });

  test("is counted for its group from the beginning of the question, and what was right is not", () => {
    const refusals = createRefusals();
    const asked = [1, 2, 3].map(() => refusals.begin("acme", at(100)));
    expect([refusals.count("acme", at(0)), refusals.count("other", at(0))]).toEqual([3, 0]);
    asked[1]?.right();
    expect(refusals.count("acme", at(99))).toBe(2);
    expect(refusals.count("acme", at(100))).toBe(0);
  });

  test("takes no more room however many strangers come", () => {
    const refusals = createRefusals();
    for (let run = 0; run < 20_000; run += 1) refusals.keep(`run ${run}`, "no such run", at(100));
    const kept = Array.from({ length: 20_000 }, (_, run) => refusals.of(`run ${run}`, at(0))).filter(Boolean);
    expect(kept.length).toBe(10_000);
    expect(refusals.of("run 19999", at(0))).toBeDefined();
  });
});
