import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asInstallation, type Client, twin } from "./client.ts";

let github: GitHubTwin;
let api: Client;

beforeAll(async () => {
  github = await twin({ mergeabilityDelayMs: 1 });
  api = await asInstallation(github);
});
afterAll(() => github.stop());

const LINES = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
let count = 0;

/** A repository with a pull request of two commits, made before the base moved on in the same file. */
async function aPullRequest(): Promise<{ name: string; path: string; number: number; tip: string; head: string }> {
  count += 1;
  const name = `acme/merge${count}`;
  const { path } = await github.addRepository(name, { files: { "a.txt": LINES } });
  await github.push(name, "feature", { on: "main", files: { "a.txt": `0\n${LINES}` }, message: "First" });
  const head = await github.push(name, "feature", { files: { "b.txt": "b\n" }, message: "Second\n\nWith reasons" });
  const number = await github.openPullRequest(name, { head: "feature", base: "main", title: "Feature" });
  const tip = await github.push(name, "main", { files: { "a.txt": `${LINES}10\n` }, message: "Meanwhile" });
  return { name, path, number, tip, head };
}

/** What plain git makes of the same merge, in a clone with a work tree. */
function byGit(path: string, ...commands: readonly (readonly string[])[]): string {
  const clone = mkdtempSync(join(tmpdir(), "mainline-clone-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  const env = { PATH: process.env["PATH"] ?? "", HOME: clone };
  const git = (args: readonly string[]): string => {
    const who = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
    const answer = spawnSync("git", [...who, "-C", clone, ...args], { env, encoding: "utf8" });
    if (answer.status !== 0) throw new Error(answer.stderr);
    return answer.stdout.trim();
  };
  git(["clone", "--quiet", path, "."]);
  for (const command of commands) git(command);
  return git(["rev-parse", "HEAD^{tree}"]);
}

describe("merging a pull request makes the tree that git makes", () => {
  test("as a merge commit", async () => {
    const { name, path, number, tip, head } = await aPullRequest();
    const expected = byGit(path, ["merge", "--quiet", "--no-ff", "--no-edit", "origin/feature"]);
    const merged = await api("PUT", `/repos/${name}/pulls/${number}/merge`, { sha: head });
    expect(merged).toMatchObject({ status: 200, body: { merged: true } });
    expect(await github.git(name, "log", "-1", "--format=%H %T %P %s", "main")).toBe(
      `${merged.body.sha} ${expected} ${tip} ${head} Merge pull request #${number} from acme/feature`,
    );
  });

  test("squashed, with the title and the messages that would be lost", async () => {
    const { name, path, number, tip, head } = await aPullRequest();
    const expected = byGit(path, ["merge", "--squash", "origin/feature"], ["commit", "--quiet", "-m", "x"]);
    await api("PUT", `/repos/${name}/pulls/${number}/merge`, { sha: head, merge_method: "squash" });
    expect(await github.git(name, "log", "-1", "--format=%T %P", "main")).toBe(`${expected} ${tip}`);
    const message = `Feature (#${number})\n\n* First\n\n* Second\n\nWith reasons`;
    expect(await github.git(name, "log", "-1", "--format=%B", "main")).toBe(message);
  });

  test("rebased, each commit anew", async () => {
    const { name, path, number, tip, head } = await aPullRequest();
    const expected = byGit(path, ["rebase", "--quiet", "origin/main", "origin/feature"]);
    await api("PUT", `/repos/${name}/pulls/${number}/merge`, { sha: head, merge_method: "rebase" });
    expect(await github.git(name, "rev-parse", "main^{tree}")).toBe(expected);
    expect(await github.git(name, "log", "--reverse", "--format=%s", `${tip}..main`)).toBe("First\nSecond");
    expect(await github.git(name, "merge-base", tip, "main")).toBe(tip);
  });

  test("with the words that are asked for", async () => {
    const { name, number, head } = await aPullRequest();
    const words = { commit_title: "Ours", commit_message: "Because", merge_method: "squash", sha: head };
    await api("PUT", `/repos/${name}/pulls/${number}/merge`, words);
    expect(await github.git(name, "log", "-1", "--format=%B", "main")).toBe("Ours\n\nBecause");
  });
});

describe("a merge is refused as GitHub refuses it", () => {
  const merge = async (name: string, number: number, body: object = {}): Promise<readonly unknown[]> => {
    const answer = await api("PUT", `/repos/${name}/pulls/${number}/merge`, body);
    return [answer.status, answer.body.message];
  };

  test("when the head is another, the pull request a draft, closed, or in conflict, or the method not allowed", async () => {
    const { name, number, tip } = await aPullRequest();
    const moved = "Head branch was modified. Review and try the merge again.";
    expect(await merge(name, number, { sha: tip })).toEqual([409, moved]);
    github.allowMethods(name, { squash: false });
    expect(await merge(name, number, { merge_method: "squash" })).toEqual([
      405,
      "Squash merges are not allowed on this repository.",
    ]);
    await github.editPullRequest(name, number, { draft: true });
    expect(await merge(name, number)).toEqual([405, "Pull Request is still a draft"]);
    await github.editPullRequest(name, number, { draft: false });
    await github.push(name, "main", { files: { "a.txt": "else\n" } });
    expect(await merge(name, number)).toEqual([405, "Pull Request is not mergeable"]);
    expect(await merge(name, number, { merge_method: "rebase" })).toEqual([405, "This branch can't be rebased"]);
    await github.closePullRequest(name, number);
    expect(await merge(name, number)).toEqual([405, "Pull Request is not mergeable"]);
    expect((await merge(name, 999))[0]).toBe(404);
  });

  test("and a merge method that there is not is no merge", async () => {
    const { name, number, tip } = await aPullRequest();
    expect((await merge(name, number, { merge_method: "octopus" }))[0]).toBe(422);
    expect(await github.git(name, "rev-parse", "main")).toBe(tip);
  });
});

describe("one branch is merged into another", () => {
  test("by a merge commit, not at all where it is contained, and not in conflict", async () => {
    const { name, number, tip, head } = await aPullRequest();
    const merges = `/repos/${name}/merges`;
    await api("POST", `/repos/${name}/git/refs`, { ref: "refs/heads/mainline/pr-1/x", sha: tip });
    const made = await api("POST", merges, { base: "mainline/pr-1/x", head, commit_message: "Test of 1" });
    expect(made.status).toBe(201);
    expect(made.body.parents.map((one: { sha: string }) => one.sha)).toEqual([tip, head]);
    expect(made.body.commit.message).toBe("Test of 1");
    expect((await api("POST", merges, { base: "mainline/pr-1/x", head })).status).toBe(204);
    await github.push(name, "other", { on: tip, files: { "a.txt": "else\n" } });
    expect((await api("POST", merges, { base: "mainline/pr-1/x", head: "other" })).status).toBe(409);
    expect((await api("POST", merges, { base: "nowhere", head })).status).toBe(404);
    expect((await api("POST", merges, { base: "main", head: "nowhere" })).status).toBe(404);
    expect(github.pull(name, number).state).toBe("open");
  });

  test("a workflow that the App brings needs the right to workflows", async () => {
    const { name } = await aPullRequest();
    const files = { ".github/workflows/ci.yml": "on: push\n" };
    const number = await github.openPullRequest(name, { head: "evil", base: "main", fork: "mallory", files });
    const { head } = github.pull(name, number);
    const tree = await github.git(name, "rev-parse", `${head.sha}^{tree}`);
    github.setPermissions("acme", { contents: "write", metadata: "read" });
    const made = await api("POST", `/repos/${name}/git/commits`, { message: "x", tree, parents: [] });
    const refused = await api("POST", `/repos/${name}/git/refs`, { ref: "refs/heads/x", sha: made.body.sha });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain("without `workflows` permission");
    expect((await api("POST", `/repos/${name}/git/refs`, { ref: "refs/heads/x", sha: head.sha })).status).toBe(201);
  });
});
