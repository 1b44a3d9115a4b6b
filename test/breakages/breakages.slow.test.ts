import { describe, expect, it } from "vitest";
import { BREAKAGES } from "./breakages.ts";
import { noticed, noticedOf, titled } from "./noticed.ts";

describe("the engine", () => {
  it("as it is lets nobody overtake", async () => {
    expect(await noticed([], /overtakes/u, {}, 60)).toBeUndefined();
  });

  it.each(titled(BREAKAGES))("broken by %s", async (_, breakage) => {
    expect(await noticedOf(breakage)).toBeDefined();
  });
});
