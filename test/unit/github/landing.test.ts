import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HostUnavailable, type LandRequest } from "../../../shared/code-host/port.ts";
import { commitSha, entryId, runId } from "../../../shared/kernel/ids.ts";
import type { MergeMethod } from "../../../shared/queue/engine/types.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { built, type Hosted, hosted, landingOf, NAME, REPO } from "./hosted.ts";

let tables: Tables;
let on: Hosted;
let twin: Hosted["twin"];
let host: Hosted["host"];
let tip: Hosted["tip"];
let open: Hosted["open"];
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  on = await hosted(tables);
  ({ twin, host, tip, open } = on);
});
afterEach(() => on.stop());

/** What a passed run of these pull requests on the present tip asks to land. */
async function tested(mergeMethod: MergeMethod, ...numbers: readonly number[]): Promise<LandRequest> {
  const request = await on.request(numbers, { mergeMethod });
  return landingOf(request, await built(host, request));
}

describe("where GitHub makes the commits", () => {
  test("content that is not what was tested is told as such", async () => {
    const begun = await tip();
    await twin.push(NAME, "odd", { files: { "a.txt": "2\n" }, on: begun, message: "There" });
    await twin.push(NAME, "odd", { files: { "a.txt": "1\n", "b.txt": "b\n" }, message: "And back" });
    const number = await twin.openPullRequest(NAME, { head: "odd", base: "main" });
    // Merged, the pull request changes nothing of a.txt; rebased, its second commit takes this back.
    await twin.push(NAME, "main", { files: { "a.txt": "2\n" } });
    const landed = await host.land(await tested("REBASE", number));
    expect(landed).toMatchObject({ ok: true, value: { trees: "DIFFERENT" } });
  });

  test("a push by somebody else in the moment of the merge is told", async () => {
    const request = await tested("SQUASH", await open("one", { "b.txt": "b\n" }));
    twin.faults.delay(800, /^PUT .*\/merge$/u);
    const landing = host.land(request);
    await expect.poll(() => twin.counts.of("GET /repos/{owner}/{repo}/pulls/{pull_number}")).toBeGreaterThan(1);
    await sleep(300);
    await twin.push(NAME, "main", { files: { "x.txt": "x\n" } });
    expect(await landing).toMatchObject({ ok: true, value: { onMovedTip: true, tip: { sha: await tip() } } });
  });

  test("so is one behind a pull request of several commits", async () => {
    const number = await open("one", { "b.txt": "b\n" });
    await twin.push(NAME, "one", { files: { "c.txt": "c\n" } });
    const request = await tested("SQUASH", number);
    twin.faults.delay(800, /^PUT .*\/merge$/u);
    const landing = host.land(request);
    await expect.poll(() => twin.counts.of("GET /repos/{owner}/{repo}/pulls/{pull_number}")).toBeGreaterThan(1);
    await sleep(300);
    await twin.push(NAME, "main", { files: { "x.txt": "x\n" } });
    expect(await landing).toMatchObject({ ok: true, value: { onMovedTip: true, trees: "EQUAL" } });
  });

  test.each(["SQUASH", "REBASE"] as const)(
    "a pull request whose base was changed meanwhile is merged nowhere: %s",
    async (mergeMethod) => {
      const number = await open("one", { "b.txt": "b\n" });
      const request = await tested(mergeMethod, number);
      await twin.push(NAME, "release", { on: await tip(), files: { "r.txt": "r\n" } });
      const release = await twin.git(NAME, "rev-parse", "release");
      await twin.editPullRequest(NAME, number, { base: "release" });
      expect(await host.land(request)).toEqual({
        ok: false,
        why: { kind: "REFUSED", what: `the base branch of #${number} is release now` },
      });
      expect(await twin.git(NAME, "rev-parse", "release", "main")).toBe(`${release}\n${request.base}`);
    },
  );

  test("one that was merged elsewhere by hand has not landed", async () => {
    const number = await open("one", { "b.txt": "b\n" });
    const request = await tested("SQUASH", number);
    await twin.push(NAME, "release", { on: await tip(), files: { "r.txt": "r\n" } });
    await twin.editPullRequest(NAME, number, { base: "release" });
    const release = commitSha(await twin.git(NAME, "rev-parse", "release"));
    const there = { ...request, targetBranch: "release", expectedTip: release };
    expect(await host.land(there)).toMatchObject({ ok: true });
    expect(await host.land(request)).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
  });

  test("what was refused half-way is told with what landed before it", async () => {
    const [one, two] = [await open("one", { "b.txt": "b\n" }), await open("two", { "c.txt": "c\n" })];
    const request = await tested("SQUASH", one, two);
    await twin.push(NAME, "two", { files: { "d.txt": "d\n" } });
    const landed = await host.land(request);
    expect(landed).toMatchObject({ ok: true, value: { landed: [entryId(`e${one}`)], tip: { sha: await tip() } } });
    expect(await twin.git(NAME, "ls-tree", "--name-only", "main")).toBe("a.txt\nb.txt");
  });

  test("a method that the repository forbids is refused, and nothing moves", async () => {
    const request = await tested("SQUASH", await open("one", { "b.txt": "b\n" }));
    twin.allowMethods(NAME, { squash: false });
    expect(await host.land(request)).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
    expect(await tip()).toBe(request.base);
  });
});

describe("where the target is moved", () => {
  test("a rule of the branch that is in the way is told in GitHub's words, and nothing moves", async () => {
    const request = await tested("MERGE_COMMIT", await open("one", { "b.txt": "b\n" }));
    twin.protect(NAME, "main", { requirePullRequest: true });
    expect(await host.land(request)).toMatchObject({
      ok: false,
      why: { kind: "REFUSED", what: expect.stringContaining("GitHub refuses to move the branch") },
    });
    expect(await tip()).toBe(request.base);
  });

  test("an answer that was lost is found out, and not landed again", async () => {
    const request = await tested("MERGE_COMMIT", await open("one", { "b.txt": "b\n" }));
    twin.faults.loseAnswers(1, /^PATCH /u);
    expect(await host.land(request)).toMatchObject({ ok: true, value: { tip: { sha: request.commit } } });
    expect(twin.counts.of("PATCH /repos/{owner}/{repo}/git/refs/{ref}")).toBe(1);
  });

  test("the merge is called what the description says", async () => {
    const number = await open("one", { "b.txt": "b\n" });
    await twin.editPullRequest(NAME, number, { body: "Text\r\nmerge-commit-title: Ship `b` at last\r\nmore" });
    await host.land(await tested("MERGE_COMMIT", number));
    expect(await twin.git(NAME, "log", "-1", "--format=%s", "main")).toBe("Ship `b` at last");
  });
});

describe("a title that has GitHub Actions skip what it names", () => {
  test.each(["[skip ci]", "[CI skip]", "[no ci]", "[skip actions]", "[actions skip]"])(
    "does not keep its own test from running: %s",
    async (words) => {
      const number = await open("one", { "b.txt": "b\n" });
      await twin.editPullRequest(NAME, number, { body: `merge-commit-title: Docs ${words}` });
      const { commit } = await tested("MERGE_COMMIT", number);
      const message = await twin.git(NAME, "log", "-1", "--format=%B", commit);
      expect(message).toContain(`Docs ${words.replace("[", "(").replace("]", ")")}`);
      expect(message).not.toContain(words);
    },
  );
});

describe("what calls that create content are spent on", () => {
  const MERGES = "POST /repos/{owner}/{repo}/merges";
  const REFS = "POST /repos/{owner}/{repo}/git/refs";
  const created = () => [twin.counts.of(MERGES), twin.counts.of(REFS)];

  test("runs that are begun together merge each pull request once, in whatever order they are built", async () => {
    const [one, two] = [await open("one", { "b.txt": "b\n" }), await open("two", { "c.txt": "c\n" })];
    const first = await on.request([one], { run: runId("q-1"), branch: `mainline/pr-${one}/q-1` });
    const both = await on.request([one, two], { run: runId("q-2"), branch: `mainline/pr-${two}/q-2` });
    twin.counts.reset();
    const late = await built(host, both);
    const early = await built(host, first);
    expect(created()).toEqual([2, 2]);

    expect(await host.land(landingOf(first, early))).toMatchObject({ ok: true, value: { tip: { sha: early.commit } } });
    const behind = {
      ...landingOf(both, late),
      base: first.base,
      changes: both.changes.slice(1),
      expectedTip: early.commit,
    };
    expect(await host.land(behind)).toMatchObject({ ok: true, value: { tip: { tree: late.tree } } });
    expect(created()).toEqual([2, 2]);
    expect(await twin.git(NAME, "rev-parse", "main^{tree}", "main^", "main^2")).toBe(
      [late.tree, early.commit, both.changes[1]?.headSha].join("\n"),
    );
    expect(await twin.git(NAME, "log", "-1", "--format=%s", "main")).toContain(`#${two}`);
  });

  test("runs that are begun together are built each on the commit of the one ahead, whoever comes first", async () => {
    const [one, two] = [await open("one", { "b.txt": "b\n" }), await open("two", { "c.txt": "c\n" })];
    const [late, early] = await Promise.all([
      built(host, await on.request([one, two], { run: runId("q-2"), branch: `mainline/pr-${two}/q-2` })),
      built(host, await on.request([one], { run: runId("q-1"), branch: `mainline/pr-${one}/q-1` })),
    ]);
    expect(await twin.git(NAME, "rev-parse", `${late.commit}^`)).toBe(early.commit);
  });

  test("what is tested again has a commit of its own, and is not merged again", async () => {
    const number = await open("one", { "b.txt": "b\n" });
    const before = await built(host, await on.request([number]));
    twin.counts.reset();
    const again = await on.request([number], { run: runId("q-2"), branch: `mainline/pr-${number}/q-2` });
    const after = await built(host, again);
    expect(after.tree).toBe(before.tree);
    expect(after.commit).not.toBe(before.commit);
    expect(await twin.git(NAME, "log", "-1", "--format=%B", again.branch)).toContain("q-2");
    expect(created()).toEqual([0, 1]);
  });

  test("a landing that moved the target and lost the answer is found by who tries again", async () => {
    const [one, two] = [await open("one", { "b.txt": "b\n" }), await open("two", { "c.txt": "c\n" })];
    const both = await on.request([one, two], { run: runId("q-2") });
    const late = await built(host, both);
    const first = await on.request([one]);
    const early = await built(host, first);
    await host.land(landingOf(first, early));
    const behind = {
      ...landingOf(both, late),
      base: first.base,
      changes: both.changes.slice(1),
      expectedTip: early.commit,
    };
    twin.faults.loseAnswers(3, /^PATCH |^GET .*branches/u);
    await expect(host.land(behind)).rejects.toThrow(HostUnavailable);
    twin.faults.clear();
    const landed = await tip();
    expect(landed).not.toBe(early.commit);
    expect(await host.land(behind)).toMatchObject({ ok: true, value: { tip: { sha: landed } } });
  });
});

describe("the branch on which a landing is merged anew", () => {
  /** Another pull request has landed meanwhile. */
  const onAnotherTip = async (): Promise<LandRequest> => {
    const request = await tested("MERGE_COMMIT", await open("one", { "b.txt": "b\n" }));
    await twin.push(NAME, "main", { files: { "c.txt": "c\n" } });
    return { ...request, expectedTip: await tip() };
  };
  const left = async () => (await twin.branches(NAME)).filter((name) => name.startsWith("mainline/landing/"));

  test("goes when it is tried again, too, after somebody died before he could remove it", async () => {
    const request = await onAnotherTip();
    twin.faults.fail(1, 500, /^DELETE .*landing/u);
    await expect(host.land(request)).rejects.toThrow(/500/u);
    expect(await left()).toHaveLength(1);
    expect(await host.land(request)).toMatchObject({ ok: true });
    expect(await left()).toEqual([]);
  });

  test("goes where the target has moved on by then", async () => {
    const request = await onAnotherTip();
    twin.faults.fail(1, 500, /^POST .*\/merges$/u);
    await expect(host.land(request)).rejects.toThrow(/500/u);
    expect(await left()).toHaveLength(1);
    await twin.push(NAME, "main", { files: { "d.txt": "d\n" } });
    expect(await host.land(request)).toMatchObject({ ok: false, why: { kind: "TIP_MOVED" } });
    expect(await left()).toEqual([]);
  });
});

describe("required statuses", () => {
  test("have to pass both, where a check run and a commit status have one name", async () => {
    const { commit } = await tested("SQUASH", await open("one", { "b.txt": "b\n" }));
    await twin.setCheckRun(NAME, commit, "unit", "failure");
    await twin.setCheckRun(NAME, commit, "slow", "in_progress");
    await twin.setCheckRun(NAME, commit, "told", "success");
    for (const [context, state] of [
      ["unit", "success"],
      ["slow", "success"],
      ["told", "failure"],
    ] as const)
      await twin.setStatus(NAME, commit, context, state);
    const { statuses } = await host.statuses(REPO, runId("q-1"));
    expect(Object.fromEntries(statuses.map(({ context, state }) => [context, state]))).toEqual({
      unit: "FAILURE",
      slow: "PENDING",
      told: "FAILURE",
    });
  });

  test.each(["protection", "ruleset"] as const)("are those of a %s where no file names any", async (by) => {
    twin.protect(NAME, "main", { requiredStatuses: ["unit", "lint"], by });
    expect(await host.tip(REPO, "main", null, [])).toMatchObject({
      tip: { required: { source: "BRANCH_PROTECTION", statuses: ["unit", "lint"] } },
    });
  });

  test("are the file's before the branch's, and none where nobody names any", async () => {
    expect(await host.tip(REPO, "main", null, [])).toMatchObject({ tip: { required: null } });
    twin.protect(NAME, "main", { requiredStatuses: ["unit"] });
    await twin.push(NAME, "main", { files: { ".mainline.yaml": "required_statuses: [own]\n" } });
    expect(await host.tip(REPO, "main", null, [])).toMatchObject({
      tip: { required: { source: "CONFIG_FILE", statuses: ["own"] } },
    });
  });

  test("are read of check runs and statuses alike, the newest of each; skipped and neutral pass", async () => {
    const { commit } = await tested("SQUASH", await open("one", { "b.txt": "b\n" }));
    await twin.setCheckRun(NAME, commit, "unit", "failure");
    await twin.setCheckRun(NAME, commit, "unit", "success", { again: true });
    await twin.setCheckRun(NAME, commit, "skips", "skipped");
    await twin.setCheckRun(NAME, commit, "neutral", "neutral");
    await twin.setCheckRun(NAME, commit, "stopped", "cancelled");
    await twin.setCheckRun(NAME, commit, "runs", "in_progress");
    await twin.setStatus(NAME, commit, "ci/other", "failure");
    await twin.setStatus(NAME, commit, "ci/other", "success");
    const { statuses, complete } = await host.statuses(REPO, runId("q-1"));
    expect(Object.fromEntries(statuses.map(({ context, state }) => [context, state]))).toEqual({
      unit: "SUCCESS",
      skips: "SUCCESS",
      neutral: "SUCCESS",
      stopped: "ERROR",
      runs: "PENDING",
      "ci/other": "SUCCESS",
    });
    expect(complete).toBe(false);
  });
});
