/** What every code host promises about landings: all of what was tested or nothing, once, and never anything else. */
import { describe, expect, test } from "vitest";
import { commitSha, treeSha } from "../../shared/kernel/ids.ts";
import type { LandRequest } from "../../shared/code-host/port.ts";
import type { Given, Started } from "./code-host.ts";

const METHODS = ["MERGE_COMMIT", "SQUASH", "REBASE"] as const;
const FIRST = { "a.txt": "1\n2\n3\n" };
const B = { "b.txt": "b\n" };
const C = { "c.txt": "c\n" };
const D = { "d.txt": "d\n" };
const X = { "x.txt": "x\n" };

const present = async (f: Started) => {
  const read = await f.host.tip(f.repo, "main", null, []);
  if (read === "MISSING") throw new Error("main is missing");
  return read.tip;
};

/** The tested commit itself, or its content where the host makes the commits. */
const whatWasTested = (f: Started, { commit: sha, tree, mergeMethod }: LandRequest) =>
  f.makesCommits === true && mergeMethod !== "MERGE_COMMIT" ? { tree } : { sha };

export function landingConformance({ start, changeOf, build, landing }: Given): void {
  describe("landing", () => {
    test.each(METHODS)("by %s moves the target to the tested content, once", async (mergeMethod) => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      await f.openPullRequest(2, f.base, C, "Add c");
      const { request, answer } = await build(f, "r1", [1, 2], { mergeMethod });
      const asked = landing(request, answer);
      const landed = await f.host.land(asked);
      expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: { tree: asked.tree } } });
      expect(await f.filesAt("main")).toEqual({ ...FIRST, ...B, ...C });
      expect(await f.host.land(asked)).toEqual(landed);
    });

    test("on a target that moved does nothing", async () => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      const { request, answer } = await build(f, "r1", [1]);
      const moved = await f.push("main", X);
      expect(await f.host.land(landing(request, answer))).toEqual({ ok: false, why: { kind: "TIP_MOVED" } });
      expect(await present(f)).toMatchObject({ sha: moved });
    });

    test.each(METHODS)("by %s of what is left of a run, after what it contains has landed", async (mergeMethod) => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      await f.openPullRequest(2, f.base, C, "Add c");
      await f.openPullRequest(3, f.base, D, "Add d");
      const first = await build(f, "r1", [1], { mergeMethod });
      const all = await build(f, "r3", [1, 2, 3], { mergeMethod });
      const one = await f.host.land(landing(first.request, first.answer));
      if (!one.ok) throw new Error("not landed");
      const asked = landing(all.request, all.answer);
      const rest = { ...asked, expectedTip: one.value.tip.sha, changes: asked.changes.slice(1) };
      const landed = await f.host.land(rest);
      expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: whatWasTested(f, asked) } });
      expect(await f.filesAt("main")).toEqual({ ...FIRST, ...B, ...C, ...D });
      expect(await f.host.land(rest)).toEqual(landed);
    });

    test("of a commit that does not hold the tested content is refused", async () => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      const { request, answer } = await build(f, "r1", [1]);
      const landed = await f.host.land({ ...landing(request, answer), tree: treeSha("0".repeat(40)) });
      expect(landed).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
    });

    test("of less than the tested commit adds, or of more, is refused", async () => {
      const f = await start();
      for (const [number, files] of [B, C, D].entries()) await f.openPullRequest(number + 1, f.base, files, "Add");
      const { request, answer } = await build(f, "r1", [1, 2]);
      const asked = landing(request, answer);
      for (const changes of [asked.changes.slice(1), [...asked.changes, await changeOf(f, 3)], []])
        expect(await f.host.land({ ...asked, changes })).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
      expect(await present(f)).toMatchObject({ sha: f.base });
    });
  });

  describe("landing on a tip that moved in another lane", () => {
    test.each(METHODS)("by %s merges the tested changes onto it, all of them, once", async (mergeMethod) => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      await f.openPullRequest(2, f.base, C, "Add c");
      const { request, answer } = await build(f, "r1", [1, 2], { mergeMethod });
      const asked = { ...landing(request, answer), expectedTip: await f.push("main", X) };
      const landed = await f.host.land(asked);
      expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL" } });
      expect(await f.filesAt("main")).toEqual({ ...FIRST, ...B, ...C, ...X });
      await f.push("main", D, "By hand, later");
      expect(await f.host.land(asked)).toEqual(landed);
    });

    test("goes on from there: the next of the same lane, and of the other one", async () => {
      const f = await start();
      for (const [number, files] of [B, C, D].entries()) await f.openPullRequest(number + 1, f.base, files, "Add");
      const [one, both, other] = [await build(f, "r1", [1]), await build(f, "r2", [1, 2]), await build(f, "r3", [3])];
      const landed = async (asked: LandRequest) => {
        const answer = await f.host.land({ ...asked, expectedTip: (await present(f)).sha });
        expect(answer).toMatchObject({ ok: true, value: { trees: "EQUAL" } });
      };
      await landed(landing(other.request, other.answer));
      await landed(landing(one.request, one.answer));
      const rest = landing(both.request, both.answer);
      await landed({ ...rest, changes: rest.changes.slice(1) });
      expect(await f.filesAt("main")).toEqual({ ...FIRST, ...B, ...C, ...D });
    });

    test("says so where it conflicts in text, and moves nothing, not even what does not conflict", async () => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      await f.openPullRequest(2, f.base, { "a.txt": "mine\n" }, "Mine");
      const { request, answer } = await build(f, "r1", [1, 2]);
      const expectedTip = await f.push("main", { "a.txt": "theirs\n" });
      const landed = await f.host.land({ ...landing(request, answer), expectedTip });
      expect(landed).toMatchObject({ ok: false, why: { kind: "CONFLICT" } });
      expect(JSON.stringify(landed)).toContain("a.txt");
      expect(await present(f)).toMatchObject({ sha: expectedTip });
    });

    test("does nothing once the tip has moved on", async () => {
      const f = await start();
      await f.openPullRequest(1, f.base, B, "Add b");
      const { request, answer } = await build(f, "r1", [1]);
      const expectedTip = await f.push("main", X);
      const moved = await f.push("main", C);
      const asked = { ...landing(request, answer), expectedTip };
      expect(await f.host.land(asked)).toEqual({ ok: false, why: { kind: "TIP_MOVED" } });
      expect(await present(f)).toMatchObject({ sha: moved });
    });
  });

  describe("a direct merge", () => {
    /** Of #1, whose own checks have passed. */
    const direct = async (f: Started, mergeMethod: LandRequest["mergeMethod"]): Promise<LandRequest> => {
      const facts = await f.host.pullRequest(f.repo, 1, "main");
      if (facts === "NOT_FOUND" || facts.own === undefined || facts.own === null) throw new Error("not proven");
      const { tip, tree } = facts.own;
      const changes = [await changeOf(f, 1)];
      const to = { repo: f.repo, targetBranch: "main", expectedTip: tip };
      return { run: null, ...to, base: tip, commit: facts.headSha, tree, changes, mergeMethod };
    };
    const proven = async () => {
      const f = await start();
      const head = await f.openPullRequest(1, f.base, B, "Add b");
      await f.openPullRequest(1, head, C, "Add c");
      await f.proveHead(1);
      return f;
    };

    test.each(METHODS)("by %s brings the content of the head onto the target, once", async (mergeMethod) => {
      const f = await proven();
      const asked = await direct(f, mergeMethod);
      const landed = await f.host.land(asked);
      expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: { tree: asked.tree } } });
      expect(await f.filesAt("main")).toEqual({ ...FIRST, ...B, ...C });
      expect(await f.host.land(asked)).toEqual(landed);
      expect(await f.host.pullRequest(f.repo, 1, "main")).toMatchObject({ state: "MERGED" });
    });

    test.each(METHODS)("by %s is what a run behind it was built on", async (mergeMethod) => {
      const f = await proven();
      const asked = await direct(f, mergeMethod);
      await f.openPullRequest(2, f.base, D, "Add d");
      const behind = await build(f, "r2", [1, 2], { mergeMethod });
      const landed = await f.host.land(asked);
      if (!landed.ok) throw new Error("not landed");
      const all = landing(behind.request, behind.answer);
      const rest = { ...all, expectedTip: landed.value.tip.sha, changes: all.changes.slice(1) };
      expect(await f.host.land(rest)).toMatchObject({ ok: true, value: { tip: whatWasTested(f, all) } });
    });

    test.each(METHODS)("by %s of a head into which the target was merged brings its content", async (mergeMethod) => {
      const f = await start();
      const head = await f.openPullRequest(1, f.base, { "a.txt": "mine\n2\n3\n" }, "Change a");
      const tip = await f.push("main", { "a.txt": "1\n2\ntheirs\n" });
      await f.updatePullRequest(1, head, tip, { "a.txt": "ours\n" });
      await f.proveHead(1);
      const asked = await direct(f, mergeMethod);
      const landed = await f.host.land(asked);
      expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: { tree: asked.tree } } });
      expect(await f.filesAt("main")).toEqual({ "a.txt": "ours\n" });
      expect(await f.host.land(asked)).toEqual(landed);
    });

    test("on a target that moved does nothing", async () => {
      const f = await proven();
      const asked = await direct(f, "SQUASH");
      const moved = await f.push("main", X);
      expect(await f.host.land(asked)).toEqual({ ok: false, why: { kind: "TIP_MOVED" } });
      expect(await f.host.land({ ...asked, expectedTip: moved })).toMatchObject({
        ok: false,
        why: { kind: "REFUSED" },
      });
      expect(await present(f)).toMatchObject({ sha: moved });
    });

    test.each(METHODS)("by %s of anything else than the head of its one change is refused", async (mergeMethod) => {
      const f = await proven();
      await f.openPullRequest(2, f.base, D, "Add d");
      const asked = await direct(f, mergeMethod);
      const other = await changeOf(f, 2);
      for (const wrong of [
        { changes: [] },
        { changes: [other] },
        { changes: [...asked.changes, other] },
        { tree: treeSha("0".repeat(40)) },
        { commit: commitSha(f.base) },
      ])
        expect(await f.host.land({ ...asked, ...wrong })).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
      expect(await present(f)).toMatchObject({ sha: f.base });
    });
  });
}
