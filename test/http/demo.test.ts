/** What `npm run demo` says without a run. */
import { afterAll, describe, expect, it } from "vitest";
import { foldersLeft, removePlace, runDemo } from "./demo.ts";

afterAll(removePlace);

describe("npm run demo", () => {
  it("explains itself, and refuses what it does not know", async () => {
    const help = runDemo("--help");
    expect(await help.gone).toBe(0);
    expect(help.said()).toMatch(/^Usage: npm run demo/u);
    for (const args of [["--frobnicate"], ["--host", "frobnicate"]]) {
      const wrong = runDemo(...args);
      expect(await wrong.gone).toBe(2);
      expect(wrong.said()).toContain("frobnicate");
    }
    expect(foldersLeft()).toEqual([]);
  });
});
