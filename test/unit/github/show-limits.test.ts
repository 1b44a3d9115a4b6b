import { rmSync } from "node:fs";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../../shared/code-host/github/client.ts";
import { createGitHubHost } from "../../../shared/code-host/github/host.ts";
import type { Budgets, Spent } from "../../../shared/code-host/github/port.ts";
import type { CheckShown, Page, People } from "../../../shared/code-host/people.ts";
import { NotNow } from "../../../shared/code-host/port.ts";
import { commitSha, orgSlug } from "../../../shared/kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS, later, MINUTE_MS, systemClock } from "../../../shared/kernel/time.ts";
import { show as showAll } from "../../../shared/queue/app/people/show.ts";
import { showOf } from "../../../shared/queue/app/people/showing.ts";
import { githubMemory } from "../../../shared/table/github-memory.ts";
import { githubShown } from "../../../shared/table/github-shown.ts";
import { aFolder } from "../../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../../support/github/twin.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, REPO } from "./rig.ts";

const ORG = orgSlug("local");
const NONE: Spent = { points: 0, content: 0 };
const USED_UP: Spent = { points: 0, content: 300 };

let tables: Tables;
let twin: GitHubTwin;
let folder: string;
let people: People;
let ahead = 0;
const clock = (): EpochMs => later(systemClock(), ahead);
/** Of the hour, by account. */
let spent: Record<string, Spent> = {};
let waitUntil: Record<string, EpochMs> = {};
const numbers = new Map<string, number>();

beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  [ahead, spent, waitUntil] = [0, {}, {}];
  folder = aFolder();
  twin = await startGitHubTwin({ folder });
  const accounts = new Map<number, string>();
  for (const account of ["acme", "beta"]) {
    await twin.addRepository(`${account}/app`, { files: { "a.txt": "1\n" } });
    accounts.set(await twin.installation(account), account);
    const change = { head: "one", base: "main", files: { "b.txt": "b\n" } };
    numbers.set(account, await twin.openPullRequest(`${account}/app`, change));
  }
  const table = await tables.another();
  const budgets: Budgets = (installation) => {
    const account = accounts.get(installation) ?? "";
    return {
      read: async () => ({
        minute: { before: NONE, now: NONE },
        hour: { before: NONE, now: spent[account] ?? NONE },
        waitUntil: waitUntil[account] ?? epochMs(0),
        requests: null,
      }),
      spend: async () => "SPENT",
      wait: async () => {},
    };
  };
  const host = createGitHubHost({
    org: ORG,
    host: "github.com",
    client: createClient({ ...twin.app, api: twin.url }, clock, budgets),
    memory: githubMemory(table, ORG, clock),
    installationOf: async (_org, _host, account) => [...accounts].find(([, one]) => one === account)?.[0],
    clock,
    pages: githubShown(table, ORG, clock),
  });
  if (host.people === undefined) throw new Error("nothing is shown");
  people = host.people;
});
afterEach(async () => {
  await twin.stop();
  rmSync(folder, { recursive: true, force: true });
});

const numberOf = (account: string): number => numbers.get(account) ?? 0;
const head = (account = "acme") => commitSha(twin.pull(`${account}/app`, numberOf(account)).head.sha);
const checkIn = (state: CheckShown["state"]): CheckShown => ({
  name: "Mainline (main)",
  state,
  title: "A title",
  summary: "A summary",
  url: null,
});
const pageOf = (account: string): Page => ({
  branch: "main",
  headSha: head(account),
  comment: "Hello",
  check: checkIn("QUEUED"),
  labels: { of: [], on: [] },
});
const showing = (account: string, page: () => Page): Promise<readonly string[]> =>
  people.show({ host: "github.com", owner: account, name: "app" }, numberOf(account), "main", async () => page());
const show = (account: string, change: Partial<Page> = {}): Promise<readonly string[]> =>
  showing(account, () => ({ ...pageOf(account), ...change }));
const putOff = async (shown: Promise<unknown>): Promise<NotNow> => {
  const error = await shown.catch((one: unknown) => one);
  if (error instanceof NotNow) return error;
  throw new Error(`not put off, but ${String(error)}`);
};
const said = (account = "acme"): string =>
  twin
    .comments(`${account}/app`, numberOf(account))
    .map((one) => one.body.split("\n")[1])
    .join();
const checks = () => twin.checkRuns("acme/app", head()).map((one) => one.conclusion ?? one.status);
/** What the client knows of the limits is read anew by then. */
const waits = (): void => void (ahead += 11_000);

describe("an account", () => {
  test("at its limits keeps no other account's pages waiting", async () => {
    spent = { beta: USED_UP };
    await putOff(show("beta"));
    expect(await show("acme")).toEqual([]);
    expect([said("acme"), said("beta")]).toEqual(["Hello", ""]);
  });

  test("that GitHub tells to wait is left alone until then, and no other is", async () => {
    const until = later(clock(), MINUTE_MS);
    const told = showing("beta", () => {
      waitUntil = { beta: until };
      waits();
      return pageOf("beta");
    });
    expect(await putOff(told)).toMatchObject({ until, isForAll: true });
    waitUntil = {};
    waits();
    twin.counts.reset();
    expect((await putOff(show("beta"))).message).toMatch("nothing is shown before");
    expect(twin.counts.of("POST /repos/{owner}/{repo}/issues/{issue_number}/comments")).toBe(0);
    expect(await show("acme")).toEqual([]);
    ahead += MINUTE_MS;
    expect(await show("beta")).toEqual([]);
  });

  test("for which GitHub does not answer is left alone for a while, and no other is", async () => {
    twin.faults.fail(1, 502, /beta\/app\/issues/u);
    await expect(show("beta")).rejects.toThrow("502");
    expect((await putOff(show("beta"))).message).toMatch("nothing is shown before");
    expect(await show("acme")).toEqual([]);
  });
});

describe("what has to wait for a limit on what creates content", () => {
  test("keeps nothing else of its page waiting, nor of other pages", async () => {
    await show("acme");
    spent = { acme: USED_UP };
    waits();
    const answer = { key: "show:1", text: "Because." };
    const labels = { of: ["x"], on: ["x"] };
    const { until, isForAll } = await putOff(
      show("acme", { comment: "Bye", answer, check: checkIn("SUCCESS"), labels }),
    );
    expect([said(), checks()]).toEqual(["Bye", ["success"]]);
    expect([isForAll, until > later(clock(), MINUTE_MS)]).toEqual([false, true]);
    expect(await show("acme", { comment: "Edited", check: null })).toEqual([]);
    expect(said()).toBe("Edited");
    spent = {};
    waits();
    expect(await show("acme", { comment: "Edited", answer, check: null, labels })).toEqual([]);
    expect(twin.labels("acme/app", numberOf("acme"))).toEqual(["x"]);
    expect(twin.comments("acme/app", numberOf("acme"))).toHaveLength(2);
  });

  test("is a label that is put on, never one that is taken off; what was there before comes back", async () => {
    const wanting = (on: string) => ({ comment: null, check: null, labels: { of: ["x", "y"], on: [on] } });
    const carried = () => twin.labels("acme/app", numberOf("acme"));
    await show("acme", wanting("x"));
    spent = { acme: USED_UP };
    waits();
    await putOff(show("acme", wanting("y")));
    expect(carried()).toEqual([]);
    spent = {};
    waits();
    await show("acme", wanting("x"));
    expect(carried()).toEqual(["x"]);
  });

  test("keeps no other pull request waiting that is shown with it, and is tried when the first may be", async () => {
    const rig = await aRig(tables);
    try {
      const host = rig.app.hosts(rig.key.org, REPO.host);
      if (host?.people === undefined) throw new Error("nothing is shown");
      const shown: number[] = [];
      const now = rig.app.clock();
      const untils = [3, 1, 2, 4, 5].map((hours) => later(now, hours * HOUR_MS));
      const pages: People = {
        ...host.people,
        show: async (_repo, prNumber) => {
          const until = untils[prNumber - 1];
          if (until !== undefined) throw new NotNow("later", until);
          shown.push(prNumber);
          return [];
        },
      };
      const all = showAll(rig.app, { ...host, people: pages }, rig.key, showOf("1", [1, 2, 3, 4, 5, 6, 7], now));
      expect((await putOff(all)).until).toBe(untils[1]);
      expect(shown).toEqual([6, 7]);
    } finally {
      await rig.stop();
    }
  });
});
