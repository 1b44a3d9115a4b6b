/** `npm run smoke:github` on GitHub's twin, and on one that is broken on purpose. */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { PERMISSIONS } from "../../infra/admin/github-manifest.ts";
import type { GitHubSmoke } from "../../infra/smoke-github/arguments.ts";
import { smokeGitHub } from "../../infra/smoke-github/smoke.ts";
import { NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";

const CHECK = "mainline-smoke";
let github: OnGitHub;
let verdict: "success" | "failure" = "success";
beforeAll(async () => {
  github = await onGitHub();
  github.twin.onTestingBranch(({ sha }) => void github.twin.setCheckRun(NAME, sha, CHECK, verdict).catch(() => {}));
});
afterEach(() => {
  verdict = "success";
  github.twin.faults.clear();
  github.twin.setPermissions("acme", PERMISSIONS);
});
afterAll(() => github.stop());

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
/** With nothing of the environment that could lead to a real repository. */
const run = (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const options = { env: { PATH: process.env["PATH"], ...env } };
    execFile(process.execPath, ["infra/smoke-github.ts", ...args], options, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });

/** The service's time passes while somebody else waits for it. */
async function meanwhile<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  const hasEnded = (): boolean => isOver;
  while (!hasEnded()) {
    await github.service.server().settled();
    await github.service.server().passes(1_000);
    await sleep(100);
  }
  return over;
}

const environment = () => ({
  MAINLINE_GITHUB_APP_ID: String(github.twin.app.appId),
  MAINLINE_GITHUB_PRIVATE_KEY: github.twin.app.privateKey,
  MAINLINE_GITHUB_REPOSITORY: NAME,
  MAINLINE_GITHUB_API: github.twin.url,
});

/** In this process, without the service. */
async function tries(change: Partial<GitHubSmoke> = {}) {
  const { appId, privateKey } = github.twin.app;
  const app = { appId, privateKey, api: github.twin.url };
  const given = { app, host: "github.com", owner: "acme", name: "app", waitMinutes: 10, service: undefined };
  const lines: string[] = [];
  const failed = await smokeGitHub({ ...given, ...change }, (line) => lines.push(line));
  return { failed, fails: lines.filter((line) => line.startsWith("fail")), lines };
}

async function isTidy(): Promise<void> {
  const branches = await github.twin.branches(NAME);
  expect(branches.filter((branch) => /mainline[-/]/u.test(branch))).toEqual([]);
  expect(github.twin.openPulls(NAME)).toEqual([]);
}

describe("the smoke test of GitHub", () => {
  test("says in one line that it is skipped where nothing is said, and what it needs where too little is", async () => {
    const skipped = await run({});
    expect([skipped.code, skipped.stderr, skipped.stdout.trim().split("\n").length]).toEqual([0, "", 1]);
    expect(skipped.stdout).toMatch(/^Skipped: /u);
    const { MAINLINE_GITHUB_PRIVATE_KEY: key, ...less } = environment();
    const wrong = await run({ ...less, MAINLINE_GITHUB_REPOSITORY: "app", MAINLINE_TOKEN: "t" });
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toMatch(/PRIVATE_KEY is missing; .*REPOSITORY must be owner\/name/u);
    const damaged = await run({ ...less, MAINLINE_GITHUB_PRIVATE_KEY: key.slice(40) });
    expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringContaining("must be a PEM")]);
    expect(damaged.stderr).not.toContain(key.slice(60, 80));
    const help = await run(environment(), "--help");
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("MAINLINE_GITHUB_APP_ID")]);
  });

  test("passes on GitHub, sends a pull request through the service, and leaves nothing behind", async () => {
    const { url, adminToken } = github.service.server();
    const before = await github.twin.git(NAME, "rev-parse", "main");
    const env = { ...environment(), MAINLINE_URL: url, MAINLINE_TOKEN: adminToken };
    const { code, stdout, stderr } = await meanwhile(run(env));
    expect([code, stderr, stdout]).toEqual([0, "", expect.stringMatching(/\nNothing is broken\.\n$/u)]);
    for (const step of ["takes the App's key", "its workflow reports", "it lands", "merged by the service"])
      expect(stdout).toMatch(new RegExp(`^ok {4}.*${step}`, "mu"));
    expect(await github.twin.git(NAME, "rev-parse", "main")).toBe(before);
    await isTidy();
  });

  test.each<readonly [string, string, (on: OnGitHub) => Partial<GitHubSmoke> | void]>([
    [
      "a number of another App",
      "GitHub takes the App's key",
      ({ twin }) => ({ app: { ...twin.app, api: twin.url, appId: 7 } }),
    ],
    ["a repository without the App", "it is installed on the repository", () => ({ owner: "nobody" })],
    [
      "a right that is missing",
      "it may do what it asks for: it lacks checks: write.",
      ({ twin }) => twin.setPermissions("acme", { ...PERMISSIONS, checks: "read" }),
    ],
    [
      "branches that nobody may make",
      "a branch is made",
      ({ twin }) => twin.faults.fail(9, 403, /POST .*\/git\/refs/u),
    ],
    ["pull requests that fail", "a pull request is opened", ({ twin }) => twin.faults.fail(9, 422, /POST .*\/pulls$/u)],
    ["a CI that fails", "its workflow reports: mainline-smoke is FAILURE", () => void (verdict = "failure")],
    ["a target that is protected", "it lands", ({ twin }) => twin.faults.fail(99, 422, /PATCH .*\/git\/refs/u)],
  ])("names %s, says what to do, and removes what it made", async (_, what, breaks) => {
    const change = breaks(github);
    const { failed, fails } = await tries(change ?? {});
    expect([failed, fails]).toEqual([1, [expect.stringContaining(what)]]);
    expect(fails[0]).toMatch(/ Do: .+\.$/u);
    expect(fails[0]).not.toMatch(/PRIVATE KEY|ghs_/u);
    await isTidy();
  });

  test("names a service that does not take the token, after all that GitHub did well", async () => {
    const { url } = github.service.server();
    const { fails, lines } = await tries({ service: { url, token: "mlq_wrong" } });
    expect(fails).toEqual([expect.stringContaining("the service takes a queue: /createQueue: 401")]);
    expect(lines.filter((line) => line.startsWith("ok")).length).toBeGreaterThan(8);
    await isTidy();
  });
});
