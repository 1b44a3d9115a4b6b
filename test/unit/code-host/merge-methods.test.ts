import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MERGE_METHODS } from "../../../shared/queue/engine/types.ts";
import { aBuild, aChange, aGitHost, aLanding, built, type Fixture } from "./fixture.ts";

let f: Fixture;
beforeEach(async () => {
  f = await aGitHost();
});
afterEach(() => f.dispose());

const start = () => f.repo.commit("main", { files: { "a.txt": "1\n2\n3\n4\n5\n" }, message: "First" });
const format = (commit: string, pattern: string): string => f.repo.git("log", "-1", `--format=${pattern}`, commit);

describe("a merge commit", () => {
  test("has the tip and the head as parents, its subject names the PR, its author is the PR's", async () => {
    const base = start();
    const head = f.repo.pullRequest(7, { files: { b: "b" }, message: "Add b" });
    const changes = [aChange(7, head, { title: "Add b" })];
    const { commit } = await built(f, aBuild(f, "r", base, { changes }));
    expect(format(commit, "%s|%P|%an <%ae>|%at|%cn <%ce>|%ct")).toBe(
      `Merge #7: Add b|${base} ${head}|Ada <ada@example.com>|1700000420|Mainline <mainline@localhost>|1700000420`,
    );
  });
});

describe("a squash", () => {
  test("is one commit whose subject names the PR and whose body keeps the messages", async () => {
    const base = start();
    const first = f.repo.pullRequest(7, { files: { b: "b" }, message: "Add b\n\nBecause of b." });
    const head = f.repo.pullRequest(7, { on: first, files: { c: "c" }, message: "Add c" });
    const request = aBuild(f, "r", base, { changes: [aChange(7, head, { title: "Both" })], mergeMethod: "SQUASH" });
    const { commit } = await built(f, request);
    expect(format(commit, "%P")).toBe(base);
    expect(format(commit, "%B").trim()).toBe("Both (#7)\n\n* Add b\n\nBecause of b.\n\n* Add c");
  });

  test("of one commit keeps that commit's body", async () => {
    const base = start();
    const head = f.repo.pullRequest(7, { files: { b: "b" }, message: "Add b\n\nBecause of b." });
    const request = aBuild(f, "r", base, { changes: [aChange(7, head, { title: "Add b" })], mergeMethod: "SQUASH" });
    const { commit } = await built(f, request);
    expect(format(commit, "%B").trim()).toBe("Add b (#7)\n\nBecause of b.");
  });
});

describe("a rebase", () => {
  test("is one commit for each of the PR's own, with their subjects, authors and authors' dates", async () => {
    const base = start();
    const one = f.repo.pullRequest(7, {
      files: { b: "b" },
      message: "Add b",
      author: "Bo <bo@example.com>",
      at: 1_600_000_000,
    });
    const head = f.repo.pullRequest(7, { on: one, files: { c: "c" }, message: "Add c" });
    const tip = f.repo.commit("main", { files: { m: "m" }, message: "Second" });
    const request = aBuild(f, "r", tip, { changes: [aChange(7, head)], mergeMethod: "REBASE" });
    const { commit } = await built(f, request);
    expect(f.repo.subjects(`${base}..${commit}`)).toEqual(["Add c", "Add b", "Second"]);
    expect(format(`${commit}~1`, "%an|%at|%cn|%ct")).toBe("Bo|1600000000|Mainline|1700000420");
    expect(f.repo.read(commit, "b") + f.repo.read(commit, "c") + f.repo.read(commit, "m")).toBe("bcm");
  });

  test("leaves out merges inside the PR and what the target has already", async () => {
    const base = start();
    const shared = f.repo.pullRequest(7, { files: { b: "b" }, message: "Add b" });
    const other = f.repo.commit("other", { on: base, files: { o: "o" }, message: "Other" });
    const tip = f.repo.commit("main", { files: { b: "b", o: "o" }, message: "The same by hand" });
    const merge = f.repo.pullRequest(7, { on: shared, alsoOn: other, files: { o: "o" }, message: "Merge other" });
    const head = f.repo.pullRequest(7, { on: merge, files: { c: "c" }, message: "Add c" });
    const request = aBuild(f, "r", tip, { changes: [aChange(7, head)], mergeMethod: "REBASE" });
    const { commit } = await built(f, request);
    expect(f.repo.subjects(`${tip}..${commit}`)).toEqual(["Add c"]);
  });

  test("that only works as a whole is the PR's own affair", async () => {
    start();
    const back = f.repo.pullRequest(7, { files: { "a.txt": "1\nmine\n3\n4\n5\n" }, message: "Mine" });
    const head = f.repo.pullRequest(7, { on: back, files: { "a.txt": "1\n2\n3\n4\n5\n" }, message: "Back" });
    const tip = f.repo.commit("main", { files: { "a.txt": "1\ntheirs\n3\n4\n5\n" } });
    const request = aBuild(f, "r", tip, { changes: [aChange(7, head)], mergeMethod: "REBASE" });
    expect(await f.host.buildRun(request)).toMatchObject({ ok: false, why: { kind: "OWN" } });
    const squashed = aBuild(f, "r2", tip, { changes: [aChange(7, head)], mergeMethod: "SQUASH" });
    expect(await f.host.buildRun(squashed)).toMatchObject({ ok: true });
  });
});

describe.each(MERGE_METHODS)("by %s", (mergeMethod) => {
  test("the same content on the same parent is the same commit, here and in another repository", async () => {
    const base = start();
    const one = f.repo.pullRequest(1, { files: { b: "b" }, message: "Add b" });
    const two = f.repo.pullRequest(2, { files: { c: "c" }, message: "Add c" });
    const changes = [aChange(1, one), aChange(2, two)];
    const first = await built(f, aBuild(f, "r1", base, { changes, mergeMethod }));
    const second = await built(f, aBuild(f, "r2", base, { changes, mergeMethod }));
    expect(second).toEqual(first);
    const g = await aGitHost();
    try {
      g.repo.git("fetch", "--quiet", f.repo.dir, "+refs/*:refs/*");
      expect(await built(g, aBuild(g, "r1", base, { changes, mergeMethod }))).toEqual(first);
    } finally {
      await g.dispose();
    }
  });

  test("a run that continues another descends from it", async () => {
    const base = start();
    const one = f.repo.pullRequest(1, { files: { b: "b" } });
    const two = f.repo.pullRequest(2, { files: { c: "c" } });
    const changes = [aChange(1, one), aChange(2, two)];
    const first = await built(f, aBuild(f, "r1", base, { changes: changes.slice(0, 1), mergeMethod }));
    const both = await built(f, aBuild(f, "r2", base, { changes, mergeMethod }));
    expect(f.repo.sha(`${both.commit}^1`)).toBe(first.commit);
  });

  test("a PR whose change is empty is built, tested and landed", async () => {
    const base = start();
    const head = f.repo.pullRequest(1, { message: "Nothing" });
    const request = aBuild(f, "r", base, { changes: [aChange(1, head)], mergeMethod });
    const answer = await built(f, request);
    expect(answer.tree).toBe(f.repo.tree(base));
    const landed = await f.host.land(aLanding(request, answer));
    expect(landed).toMatchObject({ ok: true, value: { trees: "EQUAL", tip: { tree: answer.tree } } });
    if (mergeMethod === "REBASE") expect(f.repo.sha("main")).toBe(base);
    else expect(f.repo.sha("main^1")).toBe(base);
  });

  test("a head that the target contains already is an empty change", async () => {
    const base = start();
    f.repo.pullRequest(1, { on: base });
    f.repo.git("update-ref", "refs/pull/1/head", base);
    const request = aBuild(f, "r", base, { changes: [aChange(1, base)], mergeMethod });
    expect((await built(f, request)).tree).toBe(f.repo.tree(base));
  });

  test("unrelated history is the PR's own affair", async () => {
    const base = start();
    f.repo.commit("island", { files: { z: "z" } });
    const head = f.repo.sha("island");
    const request = aBuild(f, "r", base, { changes: [aChange(1, head)], mergeMethod });
    expect(await f.host.buildRun(request)).toMatchObject({
      ok: false,
      why: { kind: "OWN", entry: "e1", what: expect.stringContaining("no commit in common") },
    });
  });

  test("hostile titles and names become one harmless line", async () => {
    const base = start();
    const head = f.repo.pullRequest(1, { files: { b: "b" }, message: "--exec=x" });
    const change = aChange(1, head, {
      title: "--amend\n\ntree 0000\0\u2028evil",
      author: { name: "<>\n", email: "a b<c>\n" },
    });
    const { commit } = await built(f, aBuild(f, "r", base, { changes: [change], mergeMethod }));
    expect(f.repo.git("fsck", "--strict", "--no-dangling", commit)).toBe("");
    if (mergeMethod !== "REBASE") {
      expect(format(commit, "%s")).toContain("--amend tree 0000 evil");
      expect(format(commit, "%an <%ae>")).toBe("unknown <abc>");
    }
  });
});

describe("a conflict", () => {
  test("is attributed to the nearest earlier change that makes it, not to one before", async () => {
    const base = start();
    const line = (text: string) => ({ "a.txt": `1\n${text}\n3\n4\n5\n` });
    const clean = f.repo.pullRequest(1, { on: base, files: { b: "b" } });
    const same = f.repo.pullRequest(2, { on: base, files: line("two") });
    const onTop = f.repo.pullRequest(3, { on: same, files: line("three") });
    const other = f.repo.pullRequest(4, { on: base, files: line("four") });
    const changes = [aChange(1, clean), aChange(2, same), aChange(3, onTop), aChange(4, other)];
    expect(await f.host.buildRun(aBuild(f, "r", base, { changes }))).toEqual({
      ok: false,
      why: { kind: "CONFLICT", entry: "e4", with: "e3", paths: ["a.txt"] },
    });
  });

  test("that only two earlier ones make together is attributed to the one that completes it", async () => {
    const base = f.repo.commit("main", { files: { "one/x": "1\n2\n3\n4\n5\n6\n7\n8\n", keep: "k" } });
    // One renames the file, the next changes the renamed one, the last changes the original: each pair is fine.
    const content = "1\n2\n3\n4\n5\n6\n7\n8\n";
    const rename = f.repo.pullRequest(1, { on: base, files: { "one/x": null, "two/x": content } });
    const edit = f.repo.pullRequest(2, { on: rename, files: { "two/x": content.replace("4", "vier") } });
    const last = f.repo.pullRequest(3, { on: base, files: { "one/x": content.replace("4", "four") } });
    const changes = [aChange(1, rename), aChange(2, edit), aChange(3, last)];
    expect(await f.host.buildRun(aBuild(f, "r", base, { changes }))).toMatchObject({
      ok: false,
      why: { kind: "CONFLICT", entry: "e3", with: "e2", paths: ["two/x"] },
    });
  });
});
