import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { rmSync } from "node:fs";
import { Answered, type Ask, createClient } from "../../../shared/code-host/github/client.ts";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { aFolder } from "../../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../../support/github/twin.ts";

const TOKENS = "POST /app/installations/{installation_id}/access_tokens";
const AT = { owner: "acme", repo: "app" };
const folder = aFolder();

let twin: GitHubTwin;
let installation: number;
/** Time passes for the client as it is told here. */
let passedMs = 0;
const clock = () => epochMs(Date.now() + passedMs);
const asker = (): Ask => createClient({ ...twin.app, api: twin.url }, clock).as(installation);
const read = (ask: Ask) => ask("GET /repos/{owner}/{repo}", AT);

beforeAll(async () => {
  twin = await startGitHubTwin({ folder });
  await twin.addRepository("acme/app");
  installation = await twin.installation("acme");
});
afterAll(async () => {
  await twin.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  twin.faults.clear();
  twin.counts.reset();
  passedMs = 0;
});

describe("an installation's token", () => {
  test("is made with a key as GitHub hands it out, once for all who ask at a time", async () => {
    expect(twin.app.privateKey).toContain("BEGIN RSA PRIVATE KEY");
    const ask = asker();
    await Promise.all([read(ask), read(ask), read(ask)]);
    await read(ask);
    expect(twin.counts.of(TOKENS)).toBe(1);
  });

  test("is used until five minutes before its end, and not after", async () => {
    const ask = asker();
    await read(ask);
    passedMs = 54 * 60_000;
    await read(ask);
    expect(twin.counts.of(TOKENS)).toBe(1);
    passedMs = 55 * 60_000 + 1_000;
    await read(ask);
    expect(twin.counts.of(TOKENS)).toBe(2);
  });

  test("that is refused before its end is replaced once, and then believed", async () => {
    const ask = asker();
    await read(ask);
    twin.faults.fail(1, 401, /repos/u);
    await read(ask);
    expect(twin.counts.of(TOKENS)).toBe(2);
    twin.faults.fail(2, 401, /repos/u);
    await expect(read(ask)).rejects.toThrow(Answered);
  });
});

/** What GitHub answers from now on. */
function statusesSeen(): readonly number[] {
  const real = globalThis.fetch;
  const seen: number[] = [];
  vi.stubGlobal("fetch", async (...asked: Parameters<typeof fetch>) => {
    const answer = await real(...asked);
    seen.push(answer.status);
    return answer;
  });
  return seen;
}

describe("what was read before", () => {
  afterEach(() => vi.unstubAllGlobals());
  const commit = async (): Promise<string> => twin.git("acme/app", "rev-parse", "main");

  test("costs nothing of the hourly budget while it is the same, and is read anew when it is not", async () => {
    const ask = asker();
    const read = async () =>
      (await ask("GET /repos/{owner}/{repo}/git/ref/{ref}", { ...AT, ref: "heads/main" })).data.object.sha;
    const before = await commit();
    const statuses = statusesSeen();
    expect([await read(), await read(), await read()]).toEqual([before, before, before]);
    expect(statuses.slice(-3)).toEqual([200, 304, 304]);
    await twin.push("acme/app", "main", { files: { "another.txt": "1\n" } });
    expect(await read()).toBe(await commit());
    expect(await read()).not.toBe(before);
  });

  test("of a commit by its name is not asked for again, of a branch it is", async () => {
    const ask = asker();
    const commit_sha = await commit();
    const GET = "GET /repos/{owner}/{repo}/git/commits/{commit_sha}";
    for (let times = 0; times < 3; times += 1) {
      const { data } = await ask(GET, { ...AT, commit_sha });
      expect(data.sha).toBe(commit_sha);
      await ask("GET /repos/{owner}/{repo}/compare/{basehead}", { ...AT, basehead: `${commit_sha}...${commit_sha}` });
      await ask("GET /repos/{owner}/{repo}/compare/{basehead}", { ...AT, basehead: `${commit_sha}...main` });
    }
    expect(twin.counts.of(GET)).toBe(1);
    expect(twin.counts.of("GET /repos/{owner}/{repo}/compare/{basehead}")).toBe(1 + 3);
  });
});

describe("what is no success", () => {
  test("is told by its status, without the token", async () => {
    const refused = await asker()("GET /repos/{owner}/{repo}", { ...AT, repo: "none" }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ name: "Answered", status: 404 });
    expect(JSON.stringify(refused)).not.toMatch(/ghs_|authorization/iu);
  });

  test("is an outage where the connection breaks", async () => {
    twin.faults.loseAnswers(1, /repos/u);
    await expect(read(asker())).rejects.toThrow(HostUnavailable);
  });

  test.each([
    ["SECONDARY", 30_000],
    ["PRIMARY", 30_000],
  ] as const)("of a %s limit is asked no more until GitHub lets us", async (kind, ms) => {
    const ask = asker();
    await read(ask);
    twin.faults.rateLimit({ kind, seconds: ms / 1_000, match: /repos/u });
    await expect(read(ask)).rejects.toThrow(/wait until/u);
    const asked = twin.counts.total();
    passedMs = ms - 5_000;
    await expect(read(ask)).rejects.toThrow(HostUnavailable);
    expect(twin.counts.total()).toBe(asked);
    passedMs = ms + 2_000;
    await expect(read(ask)).resolves.toMatchObject({ status: 200 });
  });
});
