import { describe, expect, it } from "vitest";
import { BREAKAGES } from "./breakages.ts";
import { brokenEngine } from "./broken-engine.ts";
import { noticed, noticedOf, titled } from "./noticed.ts";

/** Those that show soonest; breakages.slow.test.ts tries all. */
const SOONEST: readonly string[] = ["a merge without a pass", "a slot overrun", "the order swapped"];

describe("the engine", () => {
  it("as it is lets nobody overtake", async () => {
    expect(await noticed([], /overtakes/u, {}, 12)).toBeUndefined();
  });

  it.each(titled(BREAKAGES.filter(({ name }) => SOONEST.includes(name))))("broken by %s", async (_, breakage) => {
    expect(await noticedOf(breakage)).toBeDefined();
  });

  it("that is not as a breakage expects it is an error", () => {
    expect(() => brokenEngine([{ file: "step.ts", from: "no such line", to: "" }])).toThrow("mend the breakage");
  });
});
