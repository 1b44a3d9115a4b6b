import { rmSync } from "node:fs";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Ask, createClient, type GitHubClient } from "../../../shared/code-host/github/client.ts";
import type { Budgets } from "../../../shared/code-host/github/port.ts";
import { HostUnavailable, NotNow } from "../../../shared/code-host/port.ts";
import { epochMs, MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";
import { githubBudgets } from "../../../shared/table/github-budget.ts";
import { aFolder } from "../../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../../support/github/twin.ts";
import { sharedTable, type Tables } from "../../support/table.ts";

const AT = { owner: "acme", repo: "app" };
const LABELS = "POST /repos/{owner}/{repo}/labels";

let tables: Tables;
let twin: GitHubTwin;
let folder: string;
let installation: number;
let budgets: Budgets;
let now = 0;
const clock = () => epochMs(now);
/** Each as a process of its own. */
let one: GitHubClient;
let two: GitHubClient;
const asked = (): number => twin.counts.total();
const read = (ask: Ask) => ask("GET /repos/{owner}/{repo}", AT);
let labels = 0;
const create = (ask: Ask) => ask(LABELS, { ...AT, name: `label-${(labels += 1)}` });

beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  folder = aFolder();
  // The beginning of a minute, so that a test does not depend on where in it it runs.
  now = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
  twin = await startGitHubTwin({ folder, now: () => now });
  await twin.addRepository("acme/app");
  installation = await twin.installation("acme");
  budgets = githubBudgets(await tables.another(), "github.com");
  const client = () => createClient({ ...twin.app, api: twin.url }, clock, budgets);
  [one, two] = [client(), client()];
});
afterEach(async () => {
  await twin.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("two processes with one installation", () => {
  test("both wait when GitHub tells one of them to, and go on after that", async () => {
    const [mine, theirs] = [one.as(installation), two.as(installation)];
    await read(theirs);
    twin.faults.rateLimit({ kind: "SECONDARY", seconds: 40, match: /labels/u });
    await expect(create(mine)).rejects.toThrow(/asks us to wait/u);
    const before = asked();
    await expect(create(theirs)).rejects.toThrow(/GitHub asked us to wait until/u);
    await expect(read(mine)).rejects.toThrow(HostUnavailable);
    now += 11 * SECOND_MS;
    await expect(read(theirs)).rejects.toThrow(HostUnavailable);
    expect(asked()).toBe(before);
    now += 30 * SECOND_MS;
    await create(theirs);
    await read(mine);
    expect(asked()).toBe(before + 2);
  });

  test("never create more within any minute than GitHub lets an account", async () => {
    twin.limits.contentPerMinute = 80;
    const asks = [one.as(installation), two.as(installation)];
    let [created, waits] = [0, 0];
    for (let call = 0; created < 200 && call < 1_000; call += 1) {
      const ask = asks[call % 2] ?? read;
      const done = await create(ask as Ask).catch((error: unknown) => error);
      if (!(done instanceof Error)) created += 1;
      else {
        expect(done.message).toMatch(/what GitHub lets an App do is used up until/u);
        waits += 1;
        now += 5 * SECOND_MS;
      }
    }
    expect(created).toBe(200);
    expect(waits).toBeLessThan(60);
    expect(twin.counts.of(LABELS)).toBe(200);
  });

  test("keep half for what the queue needs: calls that people can do without are put off", async () => {
    for (let made = 0; made < 40; made += 1) await create((made % 2 === 0 ? one : two).as(installation));
    now += 11 * SECOND_MS;
    const refused = await create(one.spare(installation)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NotNow);
    expect(refused instanceof NotNow ? refused.until - now : 0).toBeGreaterThan(0);
    await create(one.as(installation));
    await read(one.spare(installation));
    now = refused instanceof NotNow ? refused.until + 2 * SECOND_MS : now;
    await create(two.spare(installation));
  });
});

describe("what is counted", () => {
  test("is what is sent: reads together with the next write, at the latest when they are 25 points", async () => {
    const ask = one.as(installation);
    const points = async () => (await budgets(installation).read(clock())).minute.now.points;
    for (let call = 0; call < 10; call += 1) await read(ask);
    expect(await points()).toBe(0);
    await create(ask);
    expect(await points()).toBe(15);
    for (let call = 0; call < 25; call += 1) await read(ask);
    expect(await points()).toBe(40);
    expect((await budgets(installation).read(clock())).requests).toMatchObject({ limit: 5_000 });
  });

  test("is nothing for what is known for good", async () => {
    const ask = one.as(installation);
    const commit_sha = await twin.git("acme/app", "rev-parse", "main");
    for (let call = 0; call < 30; call += 1)
      await ask("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", { ...AT, commit_sha });
    await create(ask);
    expect((await budgets(installation).read(clock())).minute.now.points).toBe(6);
  });
});

test("a server that limits nobody is asked as much as there is to ask, and waited for when it says so", async () => {
  const ask = createClient({ ...twin.app, api: twin.url }, clock).spare(installation);
  for (let at = 0; at < 200; at += 1) await create(ask);
  expect(twin.counts.of(LABELS)).toBe(200);
  twin.faults.rateLimit({ kind: "SECONDARY", seconds: 40, match: /labels/u });
  await expect(create(ask)).rejects.toThrow(/asks us to wait/u);
  await expect(create(ask)).rejects.toThrow(NotNow);
  now += 41 * SECOND_MS;
  await create(ask);
});
