import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aGate, type Gate } from "../support/gate.ts";
import { config } from "../support/git-repository.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

describe("what lands", () => {
  it("squash: one commit per PR with the subject `<title> (#<n>)`, by its author", async () => {
    const { repo, queue } = await service.queue();
    const before = repo.sha("main");
    const first = repo.pullRequest(7, { files: { "a.txt": "1\n" }, message: "Begin", author: "Bo <bo@example.com>" });
    repo.pullRequest(7, { on: first, files: { "b.txt": "2\n" }, message: "Add b", author: "Bo <bo@example.com>" });
    await queue.submit(7);
    const { state, prTitle, verifiedByTestRun } = await queue.ends(7);
    expect({ state, prTitle }).toEqual({ state: "MERGED", prTitle: "Add b" });
    expect(repo.subjects(`${before}..main`)).toEqual(["Add b (#7)"]);
    expect(repo.git("log", "-1", "--format=%an <%ae> %P", "main")).toBe(`Bo <bo@example.com> ${before}`);
    expect(repo.read("main", "a.txt") + repo.read("main", "b.txt")).toBe("12");
    const { testBranchSha, status } = await queue.runs({ testRunId: verifiedByTestRun });
    expect({ testBranchSha, status }).toEqual({ testBranchSha: repo.sha("main"), status: "SUCCEEDED" });
  });

  it("merge_commit: a merge of tip and head with the subject `Merge #<n>: <title>`", async () => {
    const { repo, queue } = await service.queue({ settings: { mergeMethod: "merge_commit" } });
    const before = repo.sha("main");
    const head = repo.pullRequest(3, { files: { "a.txt": "1\n" }, message: "Add a" });
    await queue.submit(3);
    expect((await queue.ends(3)).state).toBe("MERGED");
    expect(repo.git("log", "-1", "--format=%s|%P", "main")).toBe(`Merge #3: Add a|${before} ${head}`);
  });

  it("rebase: the PR's own commits, one after the other, on the tip", async () => {
    const { repo, queue } = await service.queue({ settings: { mergeMethod: "rebase" } });
    const base = repo.sha("main");
    const one = repo.pullRequest(1, { on: base, files: { "a.txt": "1\n" }, message: "One" });
    repo.pullRequest(1, { on: one, files: { "b.txt": "2\n" }, message: "Two" });
    const tip = repo.commit("main", { files: { "c.txt": "3\n" }, message: "Meanwhile" });
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect(repo.subjects(`${tip}..main`)).toEqual(["Two", "One"]);
  });

  it("a PR whose change is empty on its base is tested and lands", async () => {
    const { repo, queue } = await service.queue();
    const before = repo.sha("main");
    repo.pullRequest(1, { message: "Nothing" });
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect(repo.subjects(`${before}..main`)).toEqual(["Nothing (#1)"]);
  });

  it("removes the testing branches afterwards", async () => {
    const { repo, queue } = await service.queue();
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    await queue.ends(1);
    await eventually(
      () => repo.git("for-each-ref", "--format=%(refname)", "refs/heads/mainline/"),
      (refs) => refs === "",
    );
  });
});

describe("what does not land", () => {
  it("a PR whose tests fail ends FAILED after its repeat, with the run that failed it; the next one lands", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: "test ! -e bad.txt", lint: "true" } });
    const before = repo.sha("main");
    repo.pullRequest(1, { files: { "bad.txt": "1\n" }, message: "Bad" });
    repo.pullRequest(2, { files: { "good.txt": "1\n" }, message: "Good" });
    await queue.submit(1);
    await queue.submit(2);
    const failed = await queue.ends(1);
    expect(failed).toMatchObject({ state: "FAILED", conclusion: { reason: "TESTS_FAILED" } });
    expect(failed.isCurrentlySubmittedToQueue).toBe(false);
    expect((await queue.ends(2)).state).toBe("MERGED");
    expect(repo.subjects(`${before}..main`)).toEqual(["Good (#2)"]);
    const run = await queue.runs({ testRunId: failed.verifiedByTestRun });
    expect(run).toMatchObject({ status: "FAILED", testedPullRequests: [{ prNumber: 1, title: "Bad" }] });
    expect(run.statusChecks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ context: "unit", state: "FAILURE" }),
        expect.objectContaining({ context: "lint", state: "SUCCESS" }),
      ]),
    );
    const told = await queue.explain(1);
    expect(told.failedRun?.testRunId).toBe(failed.verifiedByTestRun);
    expect(told.summary).toContain("unit");
    expect((await queue.explain(2)).summary).toMatch(/MERGED/u);
  });

  it("two PRs that pass alone and fail together: the first lands, the second fails, and the tip passes", async () => {
    const check = 'test "$(cat a.txt b.txt 2>/dev/null | wc -l)" -lt 2';
    const { repo, queue } = await service.queue({ checks: { unit: check } });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    repo.pullRequest(2, { files: { "b.txt": "1\n" } });
    await queue.submit(1);
    await queue.submit(2);
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect((await queue.ends(2)).state).toBe("FAILED");
    expect(repo.git("ls-tree", "--name-only", "main").split("\n")).not.toContain("b.txt");
  });

  it("a PR that conflicts in text with the tip is NOT_READY and says so; rebased it is admitted by itself", async () => {
    const { repo, queue } = await service.queue({ files: { "a.txt": "0\n" } });
    const base = repo.sha("main");
    repo.commit("main", { files: { "a.txt": "tip\n" } });
    repo.pullRequest(1, { on: base, files: { "a.txt": "mine\n" }, message: "Change a" });
    await queue.submit(1);
    const stuck = await queue.reaches(1, "NOT_READY");
    expect(stuck.readiness.gitHubMergeability).toBe("NOT_MERGEABLE");
    const told = await queue.explain(1);
    expect(told.blockers.map((one) => one.message).join()).toMatch(/conflicts with main in a\.txt/u);
    const head = repo.pullRequest(1, { on: repo.sha("main"), files: { "a.txt": "mine\n" }, message: "Change a" });
    const ended = await queue.ends(1);
    expect(ended).toMatchObject({ state: "MERGED", prSha: head });
  });

  it("two PRs that conflict in text: the second waits, names the first, and becomes NOT_READY when that lands", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command }, files: { "a.txt": "0\n" } });
    repo.pullRequest(11, { files: { "a.txt": "one\n" } });
    repo.pullRequest(12, { files: { "a.txt": "two\n" } });
    await queue.submit(11);
    await queue.submit(12);
    const told = await eventually(
      () => queue.explain(12),
      (one) => one.blockers.some((blocker) => blocker.kind === "CONFLICT"),
    );
    expect(told.state).toBe("PENDING");
    expect(told.blockers).toContainEqual(expect.objectContaining({ kind: "CONFLICT", prNumber: 11 }));
    gate.pass("11");
    await queue.ends(11);
    await queue.reaches(12, "NOT_READY");
    await queue.cancel(12);
  });

  it("without any required status a PR fails with NO_REQUIRED_STATUSES", async () => {
    const { repo, queue } = await service.queue({ checks: {}, required: [] });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    expect(await queue.ends(1)).toMatchObject({ state: "FAILED", conclusion: { reason: "NO_REQUIRED_STATUSES" } });
  });

  it("a check that the tested content retired fails, unless required_statuses let go of it first", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: "true", lint: "true" } });
    repo.pullRequest(1, { files: config({ unit: "true" }), message: "Drop lint" });
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("FAILED");
    repo.pullRequest(2, { files: config({ unit: "true", lint: "true" }, ["unit"]), message: "Let go of lint" });
    await queue.submit(2);
    expect((await queue.ends(2)).state).toBe("MERGED");
    repo.pullRequest(3, { files: config({ unit: "true" }), message: "Drop lint" });
    await queue.submit(3);
    expect((await queue.ends(3)).state).toBe("MERGED");
  });

  it("the queue's own required statuses override the file; dropping them brings the file's back", async () => {
    const { repo, queue } = await service.queue({
      checks: { unit: "true", slow: "false" },
      settings: { requiredStatuses: ["unit"] },
    });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    const merged = await queue.ends(1);
    expect(merged.state).toBe("MERGED");
    const run = await queue.runs({ testRunId: merged.verifiedByTestRun });
    expect(run).toMatchObject({ requiredStatuses: ["unit"], requiredStatusesSource: "MERGE_INSTANCE" });
    expect((await queue.update({ deleteRequiredStatuses: true })).requiredStatuses).toBeNull();
    repo.pullRequest(2, { files: { "b.txt": "1\n" } });
    await queue.submit(2);
    const failed = await queue.ends(2);
    expect(failed.state).toBe("FAILED");
    const second = await queue.runs({ testRunId: failed.verifiedByTestRun });
    expect(second).toMatchObject({ requiredStatuses: ["unit", "slow"], requiredStatusesSource: "CONFIG_FILE" });
  });
});

describe("order", () => {
  it("an urgent PR goes before those that are being tested, which are tested again on top of it", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    const before = repo.sha("main");
    for (const number of [21, 22])
      repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" }, message: `Change ${number}` });
    await queue.submit(21);
    await queue.reaches(21, "TESTING");
    expect(await queue.submit(22, { priority: "urgent" })).toMatchObject({
      priorityValue: 0,
      priorityName: "urgent",
      skipTheLine: true,
    });
    await queue.reaches(22, "TESTING");
    const [first, second] = (await queue.view()).enqueuedPullRequests;
    expect([first?.prNumber, second?.prNumber]).toEqual([22, 21]);
    for (const content of ["21", "22", "22,21"]) gate.pass(content);
    await queue.ends(21);
    expect(repo.subjects(`${before}..main`)).toEqual(["Change 21 (#21)", "Change 22 (#22)"]);
    const reasons = (await queue.timeline(21)).map((move) => move.reason);
    expect(reasons).toContain("SKIP_THE_LINE_INTERRUPTED");
  });

  it("each run contains what is ahead of it, and says who builds on it", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    for (const number of [31, 32]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(31);
    await queue.submit(32);
    const { testRuns } = await eventually(
      () => queue.runs(),
      ({ testRuns: found }) => found.filter((run) => run.statusChecks.length > 0).length === 2,
    );
    expect(testRuns.map((run) => run.status)).toEqual(["IN_PROGRESS", "IN_PROGRESS"]);
    const first = testRuns.find((run) => run.testedPullRequests[0]?.prNumber === 31);
    const second = testRuns.find((run) => run.testedPullRequests[0]?.prNumber === 32);
    expect(first).toMatchObject({ dependentPrs: [32], statusChecks: [{ context: "unit", state: "PENDING" }] });
    expect(second?.dependentPrs).toEqual([]);
    expect(repo.sha(second?.testBranch ?? "")).toBe(second?.testBranchSha);
    expect(repo.subjects(`main..${second?.testBranch}`)).toHaveLength(2);
    expect(await queue.runs({ pr: { number: 32 } })).toMatchObject({ testRunId: second?.testRunId });
    gate.pass("31");
    gate.pass("31,32");
    await queue.ends(32);
    expect((await queue.runs()).testRuns).toEqual([]);
    expect(await queue.runs({ pr: { number: 32 } })).toMatchObject({
      testRunId: second?.testRunId,
      status: "SUCCEEDED",
      checkSuites: [{ checkRuns: [{ name: "unit", status: "COMPLETED", conclusion: "SUCCESS" }] }],
    });
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
