import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HostUnavailable, NotConnected } from "../../../shared/code-host/port.ts";
import { githubRepositories } from "../../../shared/table/github-repositories.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { built, type Hosted, hosted, landingOf, NAME, ORG, REPO } from "./hosted.ts";

let tables: Tables;
let on: Hosted;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  on = await hosted(tables);
});
afterEach(() => on.stop());

const look = () => on.host.tip(REPO, "main", null, []);

describe("a repository that is renamed", () => {
  test.each(["MERGE_COMMIT", "SQUASH"] as const)(
    "while it is tested lands under its new name, by %s",
    async (method) => {
      const request = await on.request([await on.open("one", { "b.txt": "b\n" })]);
      const made = await built(on.host, request);
      await on.twin.rename(NAME, "better");
      expect(await on.host.land(landingOf(request, made, method))).toMatchObject({ ok: true });
      expect(await on.twin.git("acme/better", "ls-tree", "--name-only", "main")).toBe("a.txt\nb.txt");
      await on.host.closeRun(REPO, request.run, request.branch);
      expect(await on.twin.branches("acme/better")).not.toContain(request.branch);
    },
  );

  test("is found again by its number, and is known by it to whoever hears of it", async () => {
    const { id } = await on.twin.addRepository("acme/other");
    await look();
    await on.twin.rename(NAME, "better");
    await look();
    const now = await on.memory.repository(REPO);
    expect(now).toMatchObject({ owner: "acme", name: "better", account: "acme" });
    expect(await on.memory.repositoriesOfId("github.com", now?.id ?? 0)).toEqual([REPO]);
    expect(await on.memory.repositoriesOfId("github.com", id)).toEqual([]);
  });

  test("is looked for once where several ask at a time, and where somebody asks again at once", async () => {
    const { run } = await on.request([]);
    const read = () => on.host.statuses(REPO, run);
    const looks = () => on.twin.counts.of("GET /repos/{owner}/{repo}");
    await Promise.all([look(), look(), read()]);
    await read();
    expect(looks()).toBe(1);
    on.passes(6_000);
    await read();
    expect(looks()).toBe(2);
  });
});

describe("a stranger's repository under the former name", () => {
  const stranger = async (): Promise<void> => {
    await on.twin.rename(NAME, "better");
    await on.twin.addRepository(NAME, { files: { "theirs.txt": "1\n" } });
  };

  test.each(["MERGE_COMMIT", "SQUASH"] as const)("is not what the queue lands on, by %s", async (method) => {
    const request = await on.request([await on.open("one", { "b.txt": "b\n" })]);
    const made = await built(on.host, request);
    await stranger();
    const theirs = await on.twin.git(NAME, "for-each-ref");
    expect(await on.host.land(landingOf(request, made, method))).toMatchObject({ ok: true });
    await on.host.closeRun(REPO, request.run, request.branch);
    expect(await on.twin.git(NAME, "for-each-ref")).toBe(theirs);
    expect(await on.twin.git("acme/better", "ls-tree", "--name-only", "main")).toBe("a.txt\nb.txt");
    expect(await on.twin.branches("acme/better")).not.toContain(request.branch);
  });

  test("is not read for the queue's, from the moment on at which it is there", async () => {
    const number = await on.open("one", { "b.txt": "b\n" });
    await look();
    const sha = await on.tip();
    await stranger();
    expect(await on.host.pullRequest(REPO, number, "main")).toMatchObject({ state: "OPEN" });
    expect(await look()).toMatchObject({ tip: { sha } });
  });

  test("is not what anybody who begins later takes for the queue's", async () => {
    await look();
    const sha = await on.tip();
    await stranger();
    expect(await on.another().tip(REPO, "main", null, [])).toMatchObject({ tip: { sha } });
  });

  test("is no way to the queue's, once that is gone: it says so, and nothing of the stranger moves", async () => {
    const request = await on.request([await on.open("one", { "b.txt": "b\n" })]);
    const made = await built(on.host, request);
    await stranger();
    on.twin.deleteRepository("acme/better");
    const theirs = await on.twin.git(NAME, "for-each-ref");
    const refused = on.host.land(landingOf(request, made));
    await expect(refused).rejects.toThrow(NotConnected);
    await expect(refused).rejects.toThrow(/acme\/app .* was removed, or moved/u);
    await expect(on.host.buildRun({ ...request, changes: [] })).rejects.toThrow(HostUnavailable);
    expect(await on.twin.git(NAME, "for-each-ref")).toBe(theirs);
  });
});

describe("a repository that was removed and made anew", () => {
  test("is the queue's once somebody says so, in processes that knew the former one as well", async () => {
    await look();
    on.twin.deleteRepository(NAME);
    await on.twin.addRepository(NAME, { files: { "new.txt": "1\n" } });
    await expect(look()).rejects.toThrow(/forget --org local --repo acme\/app/u);
    const { id } = (await on.memory.repository(REPO)) ?? { id: 0 };
    expect(await githubRepositories(on.table, ORG).forget(REPO)).toBe(true);
    expect(await look()).toMatchObject({ tip: { sha: await on.tip() } });
    expect(await on.memory.repositoriesOfId("github.com", id)).toEqual([]);
    expect((await on.memory.repository(REPO))?.id).not.toBe(id);
    expect(await githubRepositories(on.table, ORG).forget({ ...REPO, name: "none" })).toBe(false);
  });
});

describe("a repository that is handed over", () => {
  const handOver = async (): Promise<number> => {
    await look();
    await on.twin.transfer(NAME, "globex");
    return on.twin.installation("globex");
  };

  test("to an account whose installation is linked goes on there", async () => {
    const sha = await on.tip();
    const installation = await handOver();
    await on.twin.install("globex/app");
    on.linked.set("globex", installation);
    expect(await look()).toMatchObject({ tip: { sha } });
    expect(await on.memory.repository(REPO)).toMatchObject({ owner: "globex", account: "globex" });
  });

  test("to an account that is not linked says whom to link, and goes on when that is done", async () => {
    const installation = await handOver();
    await on.twin.install("globex/app");
    await expect(look()).rejects.toThrow(NotConnected);
    await expect(look()).rejects.toThrow(/belongs to globex now.*link --org local/u);
    on.linked.set("globex", installation);
    expect(await look()).toMatchObject({ tip: {} });
  });

  test("to where the App is not installed says so", async () => {
    await handOver();
    await expect(look()).rejects.toThrow(/moved to where the GitHub App is not installed/u);
  });
});

test("an installation that is taken away from the organization is used no more, at once", async () => {
  await look();
  on.linked.clear();
  await expect(look()).rejects.toThrow(NotConnected);
});

test("a repository that nobody knows is no repository that is not connected", async () => {
  const nowhere = on.host.tip({ ...REPO, name: "none" }, "main", null, []);
  await expect(nowhere).rejects.toThrow(/knows no repository acme\/none/u);
  await expect(nowhere).rejects.not.toThrow(NotConnected);
});
