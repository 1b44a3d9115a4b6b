import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asInstallation, type Client, twin } from "./client.ts";

let github: GitHubTwin;
let api: Client;
const REPO = "acme/app";

beforeEach(async () => {
  github = await twin();
  await github.addRepository(REPO);
  api = await asInstallation(github);
  github.counts.reset();
});
afterEach(() => github.stop());

const sha = (): Promise<string> => github.git(REPO, "rev-parse", "main");

describe("requests can be made to go wrong", () => {
  test("so many fail, of those that are meant, and nothing is done", async () => {
    github.faults.fail(2, 503, /^POST .*\/git\/refs$/u);
    const make = async (): Promise<number> =>
      (await api("POST", `/repos/${REPO}/git/refs`, { ref: "refs/heads/x", sha: await sha() })).status;
    expect((await api("GET", `/repos/${REPO}`)).status).toBe(200);
    expect([await make(), await make()]).toEqual([503, 503]);
    expect(await github.branches(REPO)).toEqual(["main"]);
    expect(await make()).toBe(201);
  });

  test("an answer is lost after the work was done", async () => {
    github.faults.loseAnswers(1, /^POST/u);
    const lost = api("POST", `/repos/${REPO}/git/refs`, { ref: "refs/heads/x", sha: await sha() });
    await expect(lost).rejects.toThrow("fetch failed");
    expect(await github.branches(REPO)).toEqual(["main", "x"]);
    github.faults.loseAnswers(1, /^DELETE/u, "SILENT");
    const silent = api("DELETE", `/repos/${REPO}/git/refs/heads/x`).catch(() => undefined);
    await expect.poll(() => github.branches(REPO)).toEqual(["main"]);
    expect(await Promise.race([silent, new Promise((resolve) => setTimeout(resolve, 50, "nothing"))])).toBe("nothing");
  });

  test("all are slow", async () => {
    github.faults.delay(80);
    const began = performance.now();
    await api("GET", `/repos/${REPO}`);
    expect(performance.now() - began).toBeGreaterThan(75);
    github.faults.clear();
  });

  test("by chance, the same for the same seed", async () => {
    const course = async (seed: number): Promise<readonly number[]> => {
      github.faults.clear();
      github.faults.byChance(seed, 0.5);
      const met: number[] = [];
      for (let index = 0; index < 12; index += 1)
        met.push(
          await api("GET", `/repos/${REPO}`).then(
            (answer) => answer.status,
            () => 0,
          ),
        );
      return met;
    };
    const first = await course(1);
    expect(await course(1)).toEqual(first);
    expect(await course(2)).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set([200, 502, 0]));
  });
});

describe("limits", () => {
  test("are told with every answer, and are the installation's, not the token's", async () => {
    const first = await api("GET", `/repos/${REPO}`);
    const other = await asInstallation(github);
    const second = await other("GET", `/repos/${REPO}`);
    const left = [first, second].map((answer) => Number(answer.headers.get("x-ratelimit-remaining")));
    expect(left[1]).toBe((left[0] ?? 0) - 1);
    expect(Number(first.headers.get("x-ratelimit-reset"))).toBeGreaterThan(Date.now() / 1000);
  });

  test("that are used up refuse", async () => {
    github.limits.limit = 2;
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await api("GET", `/repos/${REPO}`)).status);
    expect(statuses).toEqual([200, 200, 403]);
    const refused = await api("GET", `/repos/${REPO}`);
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
  });

  test("by order: the primary one says when it ends, the secondary one how long to wait", async () => {
    github.faults.rateLimit({ kind: "PRIMARY", status: 429, seconds: 30 });
    const primary = await api("GET", `/repos/${REPO}`);
    expect([primary.status, primary.headers.get("x-ratelimit-remaining")]).toEqual([429, "0"]);
    github.faults.rateLimit({ kind: "SECONDARY", seconds: 7, match: /^POST/u });
    expect((await api("GET", `/repos/${REPO}`)).status).toBe(200);
    const secondary = await api("POST", `/repos/${REPO}/labels`, { name: "x" });
    expect([secondary.status, secondary.headers.get("retry-after")]).toEqual([403, "7"]);
    expect((await api("POST", `/repos/${REPO}/labels`, { name: "x" })).status).toBe(201);
  });

  test("on creating content end what notifies people, and nothing else", async () => {
    const number = await github.openPullRequest(REPO, { head: "f", base: "main", files: { "f.txt": "1\n" } });
    github.limits.contentPerMinute = 2;
    const comment = (): ReturnType<Client> => api("POST", `/repos/${REPO}/issues/${number}/comments`, { body: "x" });
    expect([(await comment()).status, (await comment()).status]).toEqual([201, 201]);
    const refused = await comment();
    expect(refused.status).toBe(403);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect((await api("POST", `/repos/${REPO}/issues/${number}/labels`, { labels: ["x"] })).status).toBe(200);
    expect(github.comments(REPO, number)).toHaveLength(2);
  });

  test("are counted: requests, points, and what creates content", async () => {
    const number = await github.openPullRequest(REPO, { head: "f", base: "main", files: { "f.txt": "1\n" } });
    await api("GET", `/repos/${REPO}/pulls/${number}`);
    await api("POST", `/repos/${REPO}/issues/${number}/comments`, { body: "x" });
    await api("POST", `/repos/${REPO}/issues/${number}/labels`, { labels: ["x"] });
    expect(github.counts.of("POST /repos/{owner}/{repo}/issues/{issue_number}/comments")).toBe(1);
    const { counts } = github;
    expect([counts.total(), counts.writes(), counts.content(), counts.points()]).toEqual([3, 2, 1, 11]);
  });
});
