/** `npm run demo -- --host github --exit`: some minutes. */
import { afterAll, describe, expect, it } from "vitest";
import { foldersLeft, removePlace, runDemo } from "./demo.ts";

afterAll(removePlace);

describe("npm run demo", () => {
  it("comes to the same end on GitHub, of which nothing is left that the queue made", async () => {
    const demo = runDemo("--host", "github", "--exit");
    const status = await demo.gone;
    expect(status === 0 ? "" : demo.said()).toBe("");
    const lines = demo.said().split("\n");
    expect(lines).toContain("Everything was as promised.");
    // What is promised of the host itself, too.
    expect(lines.filter((line) => line.startsWith("kept"))).toHaveLength(52);
    expect(lines.filter((line) => line.startsWith("BROKEN") || line.startsWith("FAILS"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("passes"))).toHaveLength(25);
    expect(lines.filter((line) => /^PR #\d+ ended (?:MERGED|FAILED|CANCELLED): .+\.$/u.test(line))).toHaveLength(24);
    expect(lines.some((line) => line.startsWith("    the log of unit is at http"))).toBe(true);
    expect(foldersLeft()).toEqual([]);
  });
});
