import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createGitHubHost } from "../../../shared/code-host/github/host.ts";
import type { GitHubMemory } from "../../../shared/code-host/github/port.ts";
import { type BuildRequest, HostUnavailable } from "../../../shared/code-host/port.ts";
import { runId } from "../../../shared/kernel/ids.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { built, type Hosted, hosted, landingOf, NAME, ORG, REPO } from "./hosted.ts";

const RUNS = "/repos/{owner}/{repo}/actions/runs/{run_id}";
const RERUN = `POST ${RUNS}/rerun-failed-jobs` as const;
const CANCEL = `POST ${RUNS}/cancel` as const;
const MERGES = "POST /repos/{owner}/{repo}/merges";

let tables: Tables;
let on: Hosted;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  on = await hosted(tables);
});
afterEach(() => on.stop());

const aRun = async (more: Partial<BuildRequest> = {}): Promise<BuildRequest> =>
  on.request([await on.open("one", { "b.txt": "b\n" })], { required: ["unit"], ...more });
const drafts = () => on.twin.pulls(NAME).filter((pull) => pull.head.ref.startsWith("mainline/"));

/** The same host, with a memory that is not what it should be. */
const hostWith = (memory: Partial<GitHubMemory>) =>
  createGitHubHost({
    org: ORG,
    host: "github.com",
    client: on.client,
    memory: { ...on.memory, ...memory },
    installationOf: async (_org, _host, account) => on.linked.get(account),
  });

describe("a run that is closed while it is built", () => {
  test.each([
    ["before its branch is there", /^POST .*git\/refs$/u, "POST /repos/{owner}/{repo}/git/refs"],
    ["before its draft is there", /^POST .*\/pulls$/u, "POST /repos/{owner}/{repo}/pulls"],
  ] as const)("%s leaves neither branch nor draft", async (_when, slow, operation) => {
    const request = await aRun({ opensDraft: true });
    on.twin.faults.delay(400, slow);
    const building = built(on.host, request).catch((error: unknown) => error);
    await expect.poll(() => on.twin.counts.of(operation), { interval: 5 }).toBe(1);
    await on.another().closeRun(REPO, request.run, request.branch);
    await building;
    expect(await on.twin.branches(NAME)).not.toContain(request.branch);
    expect(drafts().filter((pull) => pull.state === "open")).toEqual([]);
    expect((await on.host.statuses(REPO, request.run)).broken).not.toBeNull();
  });

  test("leaves nothing where its draft cannot be opened either", async () => {
    const request = await aRun({ opensDraft: true });
    on.twin.faults.delay(400, /^POST .*git\/refs$/u);
    on.twin.faults.fail(1, 502, /^POST .*\/pulls$/u);
    const building = built(on.host, request).catch((error: unknown) => error);
    await expect.poll(() => on.twin.counts.of("POST /repos/{owner}/{repo}/git/refs"), { interval: 5 }).toBe(1);
    await on.another().closeRun(REPO, request.run, request.branch);
    expect(await building).toBeInstanceOf(HostUnavailable);
    expect(await on.twin.branches(NAME)).not.toContain(request.branch);
  });

  test("before anybody began is not built any more", async () => {
    const request = await aRun();
    await on.host.closeRun(REPO, request.run, request.branch);
    await expect(on.host.buildRun(request)).rejects.toThrow(/was closed before it was built/u);
    expect(on.twin.counts.of(MERGES)).toBe(0);
    expect(await on.twin.branches(NAME)).not.toContain(request.branch);
  });
});

describe("runs of several pull requests", () => {
  const opened = async () => {
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await on.open(name, { [`${name}.txt`]: `${name}\n` }));
    return numbers;
  };
  const run = (name: string, numbers: readonly number[]) =>
    on.request(numbers, { run: runId(name), branch: `mainline/pr-1/${name}`, mergeMethod: "SQUASH" });

  test("that are begun together merge each change once, onto the one ahead", async () => {
    const numbers = await opened();
    const requests = await Promise.all([1, 2, 3].map((take) => run(`q-${take}`, numbers.slice(0, take))));
    const made = await Promise.all(requests.map((request) => built(on.host, request)));
    expect(on.twin.counts.of(MERGES)).toBe(3);
    const [first, second, third] = made.map(({ commit }) => commit);
    expect(await on.twin.git(NAME, "rev-parse", `${third}^1`, `${second}^1`)).toBe(`${second}\n${first}`);
  });

  test("are merged once, too, where GitHub made another commit of those ahead as it landed them", async () => {
    const [one = 0, two = 0, three = 0] = await opened();
    const first = await run("q-1", [one]);
    const tested = await built(on.host, first);
    await built(on.host, await run("q-2", [one, two]));
    expect(await on.host.land(landingOf(first, tested))).toMatchObject({ ok: true, value: { trees: "EQUAL" } });
    const before = on.twin.counts.of(MERGES);
    const next = await run("q-3", [two, three]);
    const made = await built(on.host, next);
    expect(on.twin.counts.of(MERGES)).toBe(before + 1);
    const chain = await on.twin.git(NAME, "log", "--first-parent", "--format=%P", "-2", made.commit);
    expect(chain.split("\n")[1]).toBe(`${await on.tip()} ${next.changes[0]?.headSha}`);
    const landed = await on.host.land(landingOf(next, made));
    expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: { tree: made.tree } } });
    expect(await on.twin.git(NAME, "ls-tree", "--name-only", "main")).toBe("a.txt\nb.txt\nc.txt\nd.txt");
  });
});

describe("checks that are to run again", () => {
  const failed = async () => {
    const request = await aRun();
    const { commit } = await built(on.host, request);
    await on.twin.setCheckRun(NAME, commit, "unit", "failure");
    return { ...request, commit };
  };
  const states = async ({ run }: BuildRequest) => {
    const { repeats, statuses, complete } = await on.host.statuses(REPO, run);
    return [repeats, complete, ...statuses.map((one) => one.state)];
  };

  test("are asked for once, where somebody dies after GitHub took it and before that is noted", async () => {
    const request = await failed();
    let writes = 0;
    const dies = hostWith({
      putRun: async (run) => {
        writes += 1;
        if (writes > 1) throw new Error("killed");
        return on.memory.putRun(run);
      },
    });
    await expect(dies.repeatChecks(REPO, request.run, 1, ["unit"])).rejects.toThrow("killed");
    expect(await states(request)).toEqual([0, true, "FAILURE"]);
    await on.another().repeatChecks(REPO, request.run, 1, ["unit"]);
    expect(on.twin.counts.of(RERUN)).toBe(1);
    expect(await states(request)).toEqual([1, false, "PENDING"]);
    await on.twin.setCheckRun(NAME, request.commit, "unit", "success", { again: true });
    expect(await states(request)).toEqual([1, true, "SUCCESS"]);
  });

  test("that had ended again by then are not asked for a second time either", async () => {
    const request = await failed();
    let writes = 0;
    const dies = hostWith({
      putRun: async (run) => ((writes += 1) > 1 ? Promise.reject(new Error("killed")) : on.memory.putRun(run)),
    });
    await expect(dies.repeatChecks(REPO, request.run, 1, ["unit"])).rejects.toThrow("killed");
    await on.twin.setCheckRun(NAME, request.commit, "unit", "success", { again: true });
    await on.another().repeatChecks(REPO, request.run, 1, ["unit"]);
    expect(on.twin.counts.of(RERUN)).toBe(1);
    expect(await states(request)).toEqual([1, true, "SUCCESS"]);
  });

  test("are asked for where somebody died before he did", async () => {
    const request = await failed();
    on.twin.faults.fail(1, 502, /rerun-failed-jobs$/u);
    await expect(on.host.repeatChecks(REPO, request.run, 1, ["unit"])).rejects.toThrow(HostUnavailable);
    expect(await states(request)).toEqual([0, true, "FAILURE"]);
    await on.another().repeatChecks(REPO, request.run, 1, ["unit"]);
    expect(await states(request)).toEqual([1, false, "PENDING"]);
  });

  test("were asked for, though the answer was lost", async () => {
    const request = await failed();
    on.twin.faults.loseAnswers(1, /rerun-failed-jobs$/u);
    await on.host.repeatChecks(REPO, request.run, 1, ["unit"]);
    expect(on.twin.counts.of(RERUN)).toBe(1);
    expect(await states(request)).toEqual([1, false, "PENDING"]);
  });
});

describe("a test of the tip", () => {
  test("is a draft pull request as well where drafts are wanted, of a commit that changes nothing", async () => {
    const base = await on.tip();
    const request = await on.request([], { required: ["unit"], opensDraft: true });
    const { commit, tree } = await built(on.host, request);
    expect(await on.twin.git(NAME, "log", "-1", "--format=%P %T", commit)).toBe(`${base} ${tree}`);
    expect(tree).toBe(await on.twin.git(NAME, "rev-parse", `${base}^{tree}`));
    expect(drafts()).toMatchObject([{ draft: true, state: "open", head: { sha: commit } }]);
    expect(await built(on.another(), request)).toEqual({ commit, tree });
    await on.twin.setCheckRun(NAME, commit, "unit", "success");
    expect(await on.host.statuses(REPO, request.run)).toMatchObject({ complete: true, broken: null });
    await on.host.closeRun(REPO, request.run, request.branch);
    expect(drafts()).toMatchObject([{ state: "closed" }]);
    expect(await on.tip()).toBe(base);
  });

  test("that was begun and not finished is taken up again, with the draft that is there", async () => {
    const request = await on.request([], { required: ["unit"], opensDraft: true });
    on.twin.faults.loseAnswers(1, /^POST .*\/pulls$/u);
    await expect(on.host.buildRun(request)).rejects.toThrow(HostUnavailable);
    const { commit } = await built(on.another(), request);
    expect(drafts()).toMatchObject([{ state: "open", head: { sha: commit } }]);
    expect((await on.memory.run(request.run))?.pullRequest).toBe(drafts()[0]?.number);
  });

  test("is the tip itself where no drafts are wanted", async () => {
    expect((await built(on.host, await on.request([]))).commit).toBe(await on.tip());
    expect(drafts()).toEqual([]);
  });
});

describe("workflows of a run that is closed", () => {
  test("are cancelled where they still run, and nobody else's are", async () => {
    const request = await aRun();
    const { commit } = await built(on.host, request);
    const elsewhere = on.twin.pull(NAME, request.changes[0]?.prNumber ?? 0).head.sha;
    for (const sha of [commit, elsewhere]) await on.twin.setCheckRun(NAME, sha, "unit", "in_progress");
    await on.host.closeRun(REPO, request.run, request.branch);
    expect(on.twin.counts.of(CANCEL)).toBe(1);
    await on.host.closeRun(REPO, request.run, request.branch);
    expect(on.twin.counts.of(CANCEL)).toBe(1);
    const read = on.client.as(on.linked.get("acme") ?? 0);
    const at = { owner: "acme", repo: "app" };
    const { data } = await read("GET /repos/{owner}/{repo}/actions/runs", at);
    const ended = data.workflow_runs.map((one) => [one.head_sha, one.conclusion]);
    expect(Object.fromEntries(ended)).toEqual({ [commit]: "cancelled", [elsewhere]: null });
  });

  test("are left as they are where they have ended", async () => {
    const request = await aRun();
    const { commit } = await built(on.host, request);
    await on.twin.setCheckRun(NAME, commit, "unit", "success");
    await on.host.closeRun(REPO, request.run, request.branch);
    expect(on.twin.counts.of(CANCEL)).toBe(0);
  });

  test.each([
    [409, "one that ends at this moment"],
    [403, "an App that may not"],
  ])("are in nobody's way where GitHub answers %i: %s", async (status) => {
    const request = await aRun();
    const { commit } = await built(on.host, request);
    await on.twin.setCheckRun(NAME, commit, "unit", "in_progress");
    on.twin.faults.fail(1, status, /\/cancel$/u);
    await on.host.closeRun(REPO, request.run, request.branch);
    expect(await on.twin.branches(NAME)).not.toContain(request.branch);
  });
});
