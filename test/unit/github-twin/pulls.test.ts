import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asInstallation, type Body, type Client, twin } from "./client.ts";

let github: GitHubTwin;
let api: Client;
const REPO = "acme/app";

beforeAll(async () => {
  github = await twin({ mergeabilityDelayMs: 30 });
  await github.addRepository(REPO, { files: { "a.txt": "1\n" } });
  api = await asInstallation(github);
});
afterAll(() => github.stop());

const get = async (number: number): Promise<Body> => (await api("GET", `/repos/${REPO}/pulls/${number}`)).body;
const open = (head: string, more: object = {}): Promise<number> =>
  github.openPullRequest(REPO, { head, base: "main", files: { [`${head}.txt`]: `${head}\n` }, ...more });

/** Asks until somebody knows. */
async function known(number: number): Promise<Body> {
  for (;;) {
    const pull = await get(number);
    if (pull.mergeable !== null) return pull;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("mergeability", () => {
  test("is unknown at first, and computed because somebody asked", async () => {
    const number = await open("asked");
    expect(await get(number)).toMatchObject({ mergeable: null, mergeable_state: "unknown", merge_commit_sha: null });
    const pull = await known(number);
    expect(pull).toMatchObject({ mergeable: true, mergeable_state: "clean", rebaseable: true });
    expect(await github.git(REPO, "rev-parse", `refs/pull/${number}/merge`)).toBe(pull.merge_commit_sha);
  });

  test("is unknown again when the head or the base moves", async () => {
    const number = await open("moving");
    await known(number);
    await github.push(REPO, "moving", { files: { "more.txt": "1\n" } });
    expect((await get(number)).mergeable).toBeNull();
    await known(number);
    await github.push(REPO, "main", { files: { "base.txt": "1\n" } });
    expect((await get(number)).mergeable).toBeNull();
  });

  test("tells conflicts, drafts, and what a protected base lacks", async () => {
    const conflict = await github.openPullRequest(REPO, { head: "c", base: "main", files: { "a.txt": "2\n" } });
    await github.push(REPO, "main", { files: { "a.txt": "3\n" } });
    expect(await known(conflict)).toMatchObject({ mergeable: false, mergeable_state: "dirty", rebaseable: false });
    expect((await known(await open("draft", { draft: true }))).mergeable_state).toBe("draft");
    const number = await open("guarded");
    const { sha } = github.pull(REPO, number).head;
    await github.setStatus(REPO, sha, "lint", "pending");
    expect((await known(number)).mergeable_state).toBe("unstable");
    github.protect(REPO, "main", { requiredStatuses: ["ci"], approvals: 1, strict: true });
    expect((await known(number)).mergeable_state).toBe("blocked");
    await github.setCheckRun(REPO, sha, "ci", "skipped");
    await github.review(REPO, number, "grace", "APPROVED");
    expect((await known(number)).mergeable_state).toBe("unstable");
    await github.push(REPO, "main", { files: { "later.txt": "1\n" } });
    expect((await known(number)).mergeable_state).toBe("behind");
    github.unprotect(REPO, "main");
  });
});

describe("pull requests follow their branches", () => {
  test("a push with plain git is noticed, and moves refs/pull/<n>/head", async () => {
    const number = await open("plain");
    const sha = await github.git(REPO, "commit-tree", "-p", "plain", "-m", "by hand", "plain^{tree}");
    await github.git(REPO, "update-ref", "refs/heads/plain", sha);
    expect((await get(number)).head.sha).toBe(sha);
    expect(await github.git(REPO, "rev-parse", `refs/pull/${number}/head`)).toBe(sha);
  });

  test("the base's commit is where it was when the pull request last changed", async () => {
    const before = await github.git(REPO, "rev-parse", "main");
    const number = await open("stale");
    const tip = await github.push(REPO, "main", { files: { "tip.txt": "1\n" } });
    expect((await get(number)).base.sha).toBe(before);
    await github.push(REPO, "stale", { files: { "stale.txt": "2\n" } });
    expect((await get(number)).base.sha).toBe(tip);
  });

  test("a head that reaches the base by a push is merged, by the commit that brought it", async () => {
    const number = await open("brought");
    await api("POST", `/repos/${REPO}/git/refs`, {
      ref: "refs/heads/mainline/x",
      sha: await github.git(REPO, "rev-parse", "main"),
    });
    const merge = await api("POST", `/repos/${REPO}/merges`, { base: "mainline/x", head: "brought" });
    await api("PATCH", `/repos/${REPO}/git/refs/heads/main`, { sha: merge.body.sha });
    expect(await get(number)).toMatchObject({ merged: true, state: "closed", merge_commit_sha: merge.body.sha });
    expect((await api("GET", `/repos/${REPO}/pulls/${number}/merge`)).status).toBe(204);
  });

  test("a branch that is deleted closes its pull request, whichever side it is", async () => {
    const head = await open("gone");
    await github.deleteBranch(REPO, "gone");
    expect(await get(head)).toMatchObject({ state: "closed", merged: false });
    await github.push(REPO, "release", { on: "main", files: { "r.txt": "1\n" } });
    const base = await open("onto", { base: "release" });
    await github.deleteBranch(REPO, "release");
    expect(await get(base)).toMatchObject({ state: "closed", merged: false });
  });

  test("a fork's branch feeds one, and its commits are in the repository", async () => {
    const number = await open("theirs", { fork: true, author: "mallory" });
    const pull = await get(number);
    expect([pull.head.label, pull.head.repo.full_name, pull.base.repo.full_name]).toEqual([
      "mallory:theirs",
      "mallory/app",
      REPO,
    ]);
    const sha = await github.push("mallory/app", "theirs", { files: { "theirs.txt": "2\n" } });
    expect((await get(number)).head.sha).toBe(sha);
    expect(await github.git(REPO, "rev-parse", `refs/pull/${number}/head`)).toBe(sha);
    expect((await known(number)).mergeable).toBe(true);
  });
});

describe("pull requests are opened and listed", () => {
  test("once for a branch, and only where there is something to merge", async () => {
    const body = { head: "twice", base: "main", title: "Twice" };
    await open("twice");
    const again = await api("POST", `/repos/${REPO}/pulls`, body);
    expect([again.status, again.body.errors[0].message]).toEqual([
      422,
      "A pull request already exists for acme:twice.",
    ]);
    await github.push(REPO, "empty", { on: "main", files: {} });
    await github.git(REPO, "update-ref", "refs/heads/same", "main");
    const same = await api("POST", `/repos/${REPO}/pulls`, { ...body, head: "same" });
    expect([same.status, same.body.errors[0].message]).toEqual([422, "No commits between main and same"]);
    expect((await api("POST", `/repos/${REPO}/pulls`, { ...body, base: "nowhere" })).status).toBe(422);
  });

  test("in pages, with links to the others", async () => {
    const first = await api("GET", `/repos/${REPO}/pulls?state=all&per_page=4`);
    expect(first.body).toHaveLength(4);
    const links = first.headers.get("link") ?? "";
    const next = /<([^>]+)>; rel="next"/u.exec(links)?.[1] ?? "";
    expect(links).toContain('rel="last"');
    const second = await api("GET", next);
    expect(second.headers.get("link")).toContain('rel="prev"');
    const numbers = [...first.body, ...second.body].map((one: { number: number }) => one.number);
    expect(new Set(numbers).size).toBe(8);
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  });

  test("with their commits and the paths they change since they left the base", async () => {
    await github.push(REPO, "wide", {
      on: "main",
      files: { "old name.txt": "one\ntwo\nthree\nfour\n", "z.txt": "1\n" },
    });
    const number = await open("wide", { files: { "new.txt": "1\n2\n", "z.txt": null } });
    const files = await api("GET", `/repos/${REPO}/pulls/${number}/files`);
    const paths = files.body.map((one: Body) => [one.filename, one.status, one.additions]);
    expect(paths).toEqual([
      ["new.txt", "added", 2],
      ["old name.txt", "added", 4],
    ]);
    expect((await api("GET", `/repos/${REPO}/pulls/${number}/commits`)).body).toHaveLength(2);
    expect(await get(number)).toMatchObject({ commits: 2, changed_files: 2, additions: 6, deletions: 0 });
  });

  test("an answer that is known already is not sent again", async () => {
    const path = `/repos/${REPO}/pulls?state=closed`;
    const etag = (await api("GET", path)).headers.get("etag") ?? "";
    const again = await api("GET", path, undefined, { "if-none-match": etag });
    expect([again.status, again.body]).toEqual([304, ""]);
  });
});
