import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
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
