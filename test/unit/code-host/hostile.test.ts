/** What somebody who may push a pull request can put into it, and that it harms nobody but that pull request. */
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commitSha, type CommitSha } from "../../../shared/kernel/ids.ts";
import { config } from "../../support/git-repository.ts";
import { aBuild, aChange, aGitHost, built, type Fixture } from "./fixture.ts";

let f: Fixture;
let base: CommitSha;
beforeEach(async () => {
  f = await aGitHost();
  base = f.repo.commit("main", { files: { a: "a", ...config({ unit: "true" }) } });
});
afterEach(() => f.dispose());

/** As a client of the attacker's own would write it: git's own commands refuse to. */
function written(type: "commit" | "tree" | "blob", body: string | Buffer): CommitSha {
  const args = [`--git-dir=${f.repo.dir}`, "hash-object", "-t", type, "-w", "--stdin", "--literally"];
  const answer = spawnSync("git", args, { input: body, encoding: "utf8" });
  if (answer.status !== 0) throw new Error(answer.stderr);
  return commitSha(answer.stdout.trim());
}

function aCommit(tree: string, more: { on?: string; author?: string; message?: string } = {}): CommitSha {
  const { on = base, author = "Ada <ada@example.com> 1700000000 +0000", message = "A change" } = more;
  return written("commit", `tree ${tree}\nparent ${on}\nauthor ${author}\ncommitter ${author}\n\n${message}\n`);
}

type Item = { readonly mode: string; readonly name: string; readonly sha: string };

const aTree = (items: readonly Item[]): CommitSha =>
  written(
    "tree",
    Buffer.concat(
      items
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
        .flatMap(({ mode, name, sha }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, "hex")]),
    ),
  );

/** What the base holds, and one thing more. */
const withItem = (name: string, { mode = "100644", sha = f.repo.sha(`${base}:a`) } = {}): CommitSha =>
  aTree([
    { mode: "100644", name: ".mainline.yaml", sha: f.repo.sha(`${base}:.mainline.yaml`) },
    { mode: "100644", name: "a", sha: f.repo.sha(`${base}:a`) },
    { mode, name, sha },
  ]);

describe("a commit message of 9 MiB", () => {
  test("is not held against another pull request in the same test", async () => {
    const huge = aCommit(f.repo.tree(base), { message: "x".repeat(9 * 1024 * 1024) });
    const other = f.repo.pullRequest(2, { files: { b: "b" } });
    const changes = [aChange(1, huge), aChange(2, other)];
    for (const mergeMethod of ["SQUASH", "MERGE_COMMIT", "REBASE"] as const)
      expect(await f.host.buildRun(aBuild(f, mergeMethod, base, { changes, mergeMethod }))).toMatchObject({ ok: true });
  });

  test("in parts is rebased like any other history", async () => {
    let head = base;
    for (let at = 0; at < 10; at++) {
      const sha = written("blob", `${at}`);
      head = aCommit(withItem("b", { sha }), { on: head, message: `${at}\n\n${"y".repeat(1_000_000)}` });
    }
    const request = aBuild(f, "r", base, { changes: [aChange(1, head)], mergeMethod: "REBASE" });
    const { commit } = await built(f, request);
    expect(f.repo.subjects(`${base}..${commit}`)).toEqual(["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]);
  });
});

describe("a history of more commits than are rebased", () => {
  test("is its own fault, and is nothing to the other methods", async () => {
    let head = base;
    for (let at = 0; at < 4; at++) head = aCommit(f.repo.tree(base), { on: head });
    const commit = (at: number): string =>
      `commit refs/pull/1/head\ncommitter A <a@b> ${at} +0000\ndata 1\nx\n${at === 1 ? `from ${head}\n` : ""}`;
    const input = Array.from({ length: 500 }, (_, at) => commit(at + 1)).join("\n");
    spawnSync("git", [`--git-dir=${f.repo.dir}`, "fast-import", "--quiet"], { input });
    const changes = [aChange(1, f.repo.sha("refs/pull/1/head"))];
    expect(await f.host.buildRun(aBuild(f, "r", base, { changes, mergeMethod: "REBASE" }))).toMatchObject({
      ok: false,
      why: { kind: "OWN", what: "it has more than 500 commits to rebase: squash some of them" },
    });
    await built(f, aBuild(f, "s", base, { changes, mergeMethod: "SQUASH" }));
  });
});

describe("content that cannot be checked out", () => {
  test.each([
    ["a folder .git", ".git"],
    ["a folder ..", ".."],
    ["a name that means .git elsewhere", "git~1"],
    ["a name of 300 bytes", "n".repeat(300)],
    ["a name of 100,000 bytes", "n".repeat(100_000)],
  ])("fails, and is not taken for the host's trouble: %s", async (_what, name) => {
    const head = aCommit(withItem(name));
    await built(f, aBuild(f, "r", base, { changes: [aChange(1, head)] }));
    const { statuses, broken } = await f.ended("r");
    expect(broken).toBeNull();
    expect(statuses).toMatchObject([{ context: "unit", state: "FAILURE" }]);
    expect(statuses[0]?.description).toMatch(/cannot be checked out/u);
    expect(await f.log("r", "unit")).toMatch(/cannot be checked out/u);
  });

  test("neither is a tree over which git itself crashes", async () => {
    const sha = aCommit(withItem("one/two"));
    f.repo.git("update-ref", "refs/pull/1/head", sha);
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({ mergeability: "NOT_MERGEABLE" });
    const answer = await f.host.buildRun(aBuild(f, "r", base, { changes: [aChange(1, sha)] }));
    expect(answer).toMatchObject({ ok: false, why: { kind: "CONFLICT", with: null } });
  });
});

describe("content that is strange and can be checked out", () => {
  test("is tested: submodules, links that lead out, ten thousand files", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`many/${at}`, `${at}`]));
    const files = { ...many, ...config({ unit: "test $(ls many | wc -l) = 10000 && test -L link" }) };
    const first = f.repo.pullRequest(1, { files });
    const read = (path: string): string => f.repo.git("rev-parse", `${first}:${path}`);
    const tree = aTree([
      { mode: "100644", name: ".mainline.yaml", sha: read(".mainline.yaml") },
      { mode: "120000", name: "link", sha: written("blob", "/etc/passwd") },
      { mode: "40000", name: "many", sha: read("many") },
      { mode: "160000", name: "module", sha: "1234567890".repeat(4) },
    ]);
    await built(f, aBuild(f, "r", base, { changes: [aChange(1, aCommit(tree))] }));
    expect((await f.ended("r")).statuses).toMatchObject([{ context: "unit", state: "SUCCESS" }]);
  });
});

describe("a conflict", () => {
  test("in more than git's answer may hold is a conflict all the same", async () => {
    const folder = Array.from({ length: 15 }, () => "d".repeat(250)).join("/");
    const files = (text: string) =>
      Object.fromEntries(Array.from({ length: 2_400 }, (_, at) => [`${folder}/${at}`, text]));
    const one = f.repo.pullRequest(1, { on: base, files: files("one\n") });
    const two = f.repo.pullRequest(2, { on: base, files: files("two\n") });
    const changes = [aChange(1, one), aChange(2, two)];
    const answer = await f.host.buildRun(aBuild(f, "r", base, { changes }));
    expect(answer).toMatchObject({ ok: false, why: { kind: "CONFLICT", entry: "e2", with: "e1" } });
  });

  test("in a name of half a megabyte is told in a sentence that can be stored", async () => {
    const named = (text: string): CommitSha => withItem("n".repeat(500_000), { sha: written("blob", text) });
    f.repo.git("update-ref", "refs/heads/main", aCommit(named("1")));
    f.repo.git("update-ref", "refs/pull/2/head", aCommit(named("2")));
    const facts = await f.host.pullRequest(f.repo.key, 2, "main");
    expect(facts).toMatchObject({ mergeability: "NOT_MERGEABLE" });
    expect(JSON.stringify(facts).length).toBeLessThan(4_000);
  });
});

test("a run without anything to run says so at once", async () => {
  const told: string[] = [];
  const news = { checksMoved: (_repo: unknown, run: string) => void told.push(run) };
  const g = await aGitHost({ news });
  const bare = g.repo.commit("main", { files: { a: "a" } });
  await built(g, aBuild(g, "r", bare, { required: ["unit"] }));
  expect(told).toEqual(["r"]);
  await g.dispose();
});

describe("text of any kind", () => {
  test("a title that is cut has no half of a character at its end", async () => {
    f.repo.pullRequest(1, { files: { b: "b" }, message: `${"a".repeat(499)}\u{1F600}` });
    const facts = await f.host.pullRequest(f.repo.key, 1, "main");
    expect(facts !== "NOT_FOUND" && facts.title.isWellFormed()).toBe(true);
  });

  test.each([
    ["half a character", '{"\\ud83d": "true"}'],
    ["a long name", `{"${"\u{1F600}".repeat(300)}\\n": "true"}`],
    ["no YAML", `{x${"\u{1F600}".repeat(300)}: [}`],
  ])("what is wrong with .mainline.yaml can be stored, whatever stands there: %s", async (_what, checks) => {
    const head = f.repo.pullRequest(1, { files: { ".mainline.yaml": `checks: ${checks}` } });
    await built(f, aBuild(f, "r", base, { changes: [aChange(1, head)], required: ["unit"] }));
    const { statuses } = await f.ended("r");
    expect(statuses).toMatchObject([{ context: "unit", state: "FAILURE" }]);
    expect(statuses[0]?.description?.isWellFormed()).toBe(true);
  });

  test("a command that no process can be started with is an error of the file", async () => {
    const head = f.repo.pullRequest(1, { files: { ".mainline.yaml": 'checks: {unit: "true\\0"}' } });
    await built(f, aBuild(f, "r", base, { changes: [aChange(1, head)], required: ["unit"] }));
    expect(await f.ended("r")).toMatchObject({ broken: null, statuses: [{ state: "FAILURE" }] });
  });

  test.each(["-5 +0000", "99999999999999999999999 +0000", "0001 +0000"])(
    "an author's date of %s costs the date and not the author's name",
    async (date) => {
      const sha = written("blob", "b");
      const head = aCommit(withItem("b", { sha }), { author: `Ada <ada@example.com> ${date}` });
      const request = aBuild(f, "r", base, { changes: [aChange(1, head)], mergeMethod: "REBASE" });
      const { commit } = await built(f, request);
      expect(f.repo.git("log", "-1", "--format=%an <%ae> %at", commit)).toBe("Ada <ada@example.com> 0");
    },
  );
});
