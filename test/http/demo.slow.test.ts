/** `npm run demo -- --exit`, for real, as a stranger runs it; and what it does when it is ended before its end. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { foldersLeft, removePlace, runDemo } from "./demo.ts";

afterAll(removePlace);

describe("npm run demo", () => {
  it("keeps all its promises, says so line by line in a pipe, and leaves nothing behind", async () => {
    const demo = runDemo("--exit");
    const status = await demo.gone;
    expect(status === 0 ? "" : demo.said()).toBe("");
    const lines = demo.said().split("\n");
    expect(lines).toContain("Everything was as promised.");
    expect(lines.filter((line) => line.startsWith("kept"))).toHaveLength(50);
    expect(lines.filter((line) => line.startsWith("BROKEN") || line.startsWith("FAILS"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("passes"))).toHaveLength(25);
    expect(lines.some((line) => /s {2}#4 +PENDING +-> NOT_READY +it conflicts with main in tax\.sh/u.test(line))).toBe(
      true,
    );
    expect(lines.filter((line) => /^PR #\d+ ended (?:MERGED|FAILED|CANCELLED): .+\.$/u.test(line))).toHaveLength(24);
    for (const shown of [
      /\| PR #23 is being tested: .*/u,
      /\| PR #32 waits to be tested: it waits for others to be tested with, 3 of 4, until/u,
      /\| batch +#31 #32 #33 #34 +on main +FAILED/u,
      /\| bisection +#33 +on main +FAILED/u,
      /^PR #41 ended MERGED: .+; its own test failed, and the test of PR #42 behind it, which contains it, passed\.$/u,
      /\| the scale is steady +FLAKY +\d+ % +@demo\/weights$/u,
      /\| +passed and failed on [23] commits in the last 7 days, latest at [0-9a-f]{7}$/u,
      /\| the freezer door closes +BROKEN +100 % +@demo\/cold$/u,
      /\| only the flaky one fails, with quarantinesFlaky +verdict: PASS$/u,
      /\| the broken one fails, too +verdict: FAIL$/u,
    ])
      expect({ shown: shown.source, is: lines.some((line) => shown.test(line)) }).toMatchObject({ is: true });
    expect(lines.some((line) => /^mq_pr_conclusions_1h_total\{.*conclusion="merged"\} 8$/u.test(line))).toBe(true);
    expect(lines.some((line) => /unproven_total\{repo="demo\/oven".*how="by_successor"\} 1$/u.test(line))).toBe(true);
    expect(demo.said()).not.toContain("\u001b");
    expect(foldersLeft()).toEqual([]);
  });

  it("stops the server and removes its folder when it is ended half-way", async () => {
    const demo = runDemo();
    while (!demo.said().includes("are submitted") && demo.child.exitCode === null) await sleep(50);
    expect(foldersLeft()).toHaveLength(1);
    // As a terminal does it: to everybody in the foreground.
    if (demo.child.pid !== undefined) process.kill(-demo.child.pid, "SIGINT");
    expect(await demo.gone).not.toBe(0);
    expect(foldersLeft()).toEqual([]);
  });
});
