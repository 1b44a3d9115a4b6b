/** `npm run demo -- --exit`, for real, as a stranger runs it; and what it does when it is ended before its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";

type Demo = { readonly child: ChildProcess; readonly said: () => string; readonly gone: Promise<number | null> };

/** Where it makes its folder, and a home without a git identity. */
const place = mkdtempSync(join(tmpdir(), "mainline-demo-test-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

function runDemo(...args: readonly string[]): Demo {
  const child = spawn("npm", ["run", "--silent", "demo", "--", ...args], {
    env: { PATH: process.env["PATH"], HOME: place, TMPDIR: place },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  const gone = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { child, said: () => said, gone };
}

const foldersLeft = (): readonly string[] => readdirSync(place).filter((name) => name.startsWith("mainline-demo-"));

describe("npm run demo", () => {
  it("keeps all its promises, says so line by line in a pipe, and leaves nothing behind", {
    timeout: 300_000,
  }, async () => {
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

  it("comes to the same end on GitHub, of which nothing is left that the queue made", {
    timeout: 600_000,
  }, async () => {
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

  it("stops the server and removes its folder when it is ended half-way", async () => {
    const demo = runDemo();
    while (!demo.said().includes("are submitted") && demo.child.exitCode === null) await sleep(50);
    expect(foldersLeft()).toHaveLength(1);
    // As a terminal does it: to everybody in the foreground.
    if (demo.child.pid !== undefined) process.kill(-demo.child.pid, "SIGINT");
    expect(await demo.gone).not.toBe(0);
    expect(foldersLeft()).toEqual([]);
  });

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
