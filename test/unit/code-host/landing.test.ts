import { rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { commitSha } from "../../../shared/kernel/ids.ts";
import { config } from "../../support/git-repository.ts";
import { aBuild, aChange, aGitHost, aLanding, built, type Fixture } from "./fixture.ts";

let f: Fixture;
beforeEach(async () => {
  f = await aGitHost();
});
afterEach(() => f.dispose());

const MOVED = { ok: false, why: { kind: "TIP_MOVED" } };

async function aTestedChange(run = "r", prNumber = 1, more: Parameters<typeof aBuild>[3] = {}) {
  const base = f.repo.commit("main", { files: { a: "a", ...config({ unit: "true" }) } });
  const head = f.repo.pullRequest(prNumber, { on: base, files: { [`pr-${prNumber}`]: "x" } });
  const request = aBuild(f, run, base, { changes: [aChange(prNumber, head)], ...more });
  return { base, head, request, tested: await built(f, request) };
}

describe("landing", () => {
  test("of two at the same time lets exactly one through", async () => {
    const { base, request, tested } = await aTestedChange();
    const rival = f.repo.pullRequest(2, { on: base, files: { rival: "x" } });
    const other = aBuild(f, "r2", base, { changes: [aChange(2, rival)] });
    const rivalTested = await built(f, other);
    const answers = await Promise.all([
      f.host.land(aLanding(request, tested)),
      f.host.land(aLanding(other, rivalTested)),
    ]);
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect([tested.commit, rivalTested.commit]).toContain(f.repo.sha("main"));
  });

  test("that succeeded but was not heard of succeeds again, also when somebody pushed on top since", async () => {
    const { request, tested } = await aTestedChange();
    const first = await f.host.land(aLanding(request, tested));
    f.repo.commit("main", { files: { later: "x" } });
    const pushed = f.repo.sha("main");
    expect(await f.host.land(aLanding(request, tested))).toEqual(first);
    expect(first).toMatchObject({ ok: true, value: { tip: { sha: tested.commit } } });
    expect(f.repo.sha("main")).toBe(pushed);
  });

  test("on a tip with the same content and another history rebuilds the merge and lands the tested tree", async () => {
    const { base, request, tested } = await aTestedChange();
    const empty = f.repo.commit("main", { on: base, message: "Nothing changed" });
    const asked = aLanding(request, tested, { expectedTip: empty });
    const landed = await f.host.land(asked);
    expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: { tree: tested.tree } } });
    expect(f.repo.sha("main^1")).toBe(empty);
    expect(await f.host.land(asked)).toEqual(landed);
  });

  test("never forces: a target that was reset, moved or removed stays as it is", async () => {
    const { base, request, tested } = await aTestedChange();
    const moved = f.repo.commit("main", { on: base, files: { hand: "x" } });
    expect(await f.host.land(aLanding(request, tested))).toEqual(MOVED);
    expect(f.repo.sha("main")).toBe(moved);
    f.repo.git("update-ref", "-d", "refs/heads/main");
    expect(await f.host.land(aLanding(request, tested))).toEqual(MOVED);
    expect(f.repo.git("for-each-ref", "refs/heads/main")).toBe("");
  });

  test("of nothing on a tip that moved is no success", async () => {
    const base = f.repo.commit("main", { files: { a: "a" } });
    const head = f.repo.pullRequest(1, { on: base });
    const request = aBuild(f, "r", base, { changes: [aChange(1, head)], mergeMethod: "REBASE" });
    const tested = await built(f, request);
    f.repo.commit("main", { files: { hand: "x" } });
    expect(await f.host.land(aLanding(request, tested))).toEqual(MOVED);
  });

  test("of a run that contains a predecessor that landed lands the tested commit itself", async () => {
    const { base, head, request, tested } = await aTestedChange();
    const two = f.repo.pullRequest(2, { on: base, files: { two: "x" } });
    const both = aBuild(f, "r2", base, { changes: [aChange(1, head), aChange(2, two)] });
    const bothTested = await built(f, both);
    await f.host.land(aLanding(request, tested));
    const second = await f.host.land(
      aLanding(both, bothTested, { expectedTip: tested.commit, changes: both.changes.slice(1) }),
    );
    expect(second).toMatchObject({ ok: true, value: { tip: { sha: bothTested.commit }, trees: "EQUAL" } });
  });

  test("marks the PR as merged until it is pushed to again", async () => {
    const { head, request, tested } = await aTestedChange();
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({ state: "OPEN" });
    await f.host.land(aLanding(request, tested));
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({ state: "MERGED" });
    f.repo.pullRequest(1, { on: head, files: { more: "x" } });
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({ state: "OPEN" });
  });

  test("refuses a target that is not a branch name, or one of its own branches", async () => {
    const { request, tested } = await aTestedChange();
    for (const targetBranch of ["--force", "../../config", "a b", "HEAD", "mainline/pr-1/r", "x\ny", ""])
      expect(await f.host.land(aLanding(request, tested, { targetBranch }))).toMatchObject({
        ok: false,
        why: { kind: "REFUSED" },
      });
  });

  test("works on a branch that is named like a ref or an option of git", async () => {
    const { base, request, tested } = await aTestedChange();
    for (const targetBranch of ["refs/heads/x", "feature/--upload-pack=x", "ünï©ode", "a#b%c"]) {
      f.repo.git("update-ref", `refs/heads/${targetBranch}`, base);
      expect(await f.host.land(aLanding(request, tested, { targetBranch }))).toMatchObject({ ok: true });
      expect(f.repo.sha(`refs/heads/${targetBranch}`)).toBe(tested.commit);
    }
  });

  test("of a commit that holds more than the tip and the changes is refused", async () => {
    const { base, head, request, tested } = await aTestedChange();
    const two = f.repo.pullRequest(2, { on: base, files: { two: "x" } });
    const both = aBuild(f, "r2", base, { changes: [aChange(1, head), aChange(2, two)] });
    const bothTested = await built(f, both);
    const short = aLanding(both, bothTested, { changes: both.changes.slice(1) });
    expect(await f.host.land(short)).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
    const reset = f.repo.commit("older", { files: { older: "x" } });
    const onReset = aLanding(request, tested, { expectedTip: reset });
    expect(await f.host.land(onReset)).toEqual(MOVED);
    expect(f.repo.sha("main")).toBe(base);
  });

  test("does not mind that the queue's merge method was changed since the run was built", async () => {
    const { request, tested } = await aTestedChange();
    const asked = aLanding(request, tested, { mergeMethod: "REBASE" });
    expect(await f.host.land(asked)).toMatchObject({ ok: true, value: { tip: { sha: tested.commit } } });
  });

  test("of a commit that vanished is the host's trouble, not the PR's", async () => {
    const { request, tested } = await aTestedChange();
    const commit = commitSha("a".repeat(40));
    await expect(f.host.land(aLanding(request, { ...tested, commit }))).rejects.toThrow(HostUnavailable);
  });

  test("of a target that somebody is just writing is tried again later", async () => {
    const { base, request, tested } = await aTestedChange();
    writeFileSync(`${f.repo.dir}/refs/heads/main.lock`, "");
    await expect(f.host.land(aLanding(request, tested))).rejects.toThrow(HostUnavailable);
    expect(f.repo.sha("main")).toBe(base);
    rmSync(`${f.repo.dir}/refs/heads/main.lock`);
    expect(await f.host.land(aLanding(request, tested))).toMatchObject({ ok: true });
  });
});
