import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import type { ProtectionWanted } from "../../support/github/people/operator.ts";
import { asInstallation, type Client, twin } from "./client.ts";

let github: GitHubTwin;
let api: Client;
let name: string;
let first: string;
let next: string;
let count = 0;

beforeAll(async () => {
  github = await twin();
  api = await asInstallation(github);
});
afterAll(() => github.stop());
beforeEach(async () => {
  count += 1;
  name = `acme/rules${count}`;
  first = (await github.addRepository(name)).sha;
  next = await github.push(name, "next", { on: "main", files: { "n.txt": "1\n" } });
});

const protect = (wanted: ProtectionWanted): void => github.protect(name, "main", wanted);
const move = async (sha: string, body: object = {}): Promise<readonly unknown[]> => {
  const answer = await api("PATCH", `/repos/${name}/git/refs/heads/main`, { sha, ...body });
  return [answer.status, answer.body.message];
};
const tip = (): Promise<string> => github.git(name, "rev-parse", "main");

describe("a ref", () => {
  test("is made once, moved forward, with force anywhere, and deleted once", async () => {
    const ref = "refs/heads/mainline/pr-1/a";
    const make = async (body: object): Promise<number> => (await api("POST", `/repos/${name}/git/refs`, body)).status;
    expect(await make({ ref, sha: next })).toBe(201);
    expect(await make({ ref, sha: next })).toBe(422);
    expect(await make({ ref: "refs/pull/1/head", sha: next })).toBe(422);
    expect(await make({ ref: "refs/heads/x", sha: "0".repeat(40) })).toBe(422);
    const at = `/repos/${name}/git/refs/heads/mainline/pr-1/a`;
    expect(await api("PATCH", at, { sha: first })).toMatchObject({
      status: 422,
      body: { message: "Update is not a fast forward" },
    });
    expect((await api("PATCH", at, { sha: first, force: true })).status).toBe(200);
    expect((await api("DELETE", at)).status).toBe(204);
    expect(await api("DELETE", at)).toMatchObject({ status: 422, body: { message: "Reference does not exist" } });
    expect((await api("GET", `/repos/${name}/git/ref/heads/mainline/pr-1/a`)).status).toBe(404);
    expect(await move(next)).toEqual([200, undefined]);
    expect(await tip()).toBe(next);
  });
});

describe("a protected branch", () => {
  test("moves only to a commit whose required statuses passed", async () => {
    protect({ requiredStatuses: ["ci", "lint"] });
    expect(await move(next)).toEqual([422, "2 of 2 required status checks are expected."]);
    await github.setCheckRun(name, next, "ci", "success");
    expect(await move(next)).toEqual([422, 'Required status check "lint" is expected.']);
    await github.setStatus(name, next, "lint", "failure");
    expect(await move(next)).toEqual([422, 'Required status check "lint" is failing.']);
    await github.setStatus(name, next, "lint", "success");
    await github.setCheckRun(name, next, "ci", "failure");
    expect(await move(next)).toEqual([422, 'Required status check "ci" is failing.']);
    await github.setCheckRun(name, next, "ci", "neutral");
    expect(await move(next)).toEqual([200, undefined]);
  });

  test("takes a status only from the app that it names", async () => {
    protect({ requiredStatuses: [{ context: "ci", appId: 77 }] });
    await github.setCheckRun(name, next, "ci", "success");
    expect((await move(next))[0]).toBe(422);
    await github.setCheckRun(name, next, "ci", "success", { app: { id: 77, slug: "other-ci", name: "Other" } });
    expect((await move(next))[0]).toBe(200);
  });

  test("is neither moved back nor deleted, nor moved by whom it is not for", async () => {
    protect({});
    expect(await move(next)).toEqual([200, undefined]);
    expect(await move(first, { force: true })).toEqual([422, "Cannot force-push to this branch"]);
    expect((await api("DELETE", `/repos/${name}/git/refs/heads/main`)).status).toBe(422);
    protect({ onlyApps: ["another-app"] });
    const later = await github.push(name, "next", { files: { "l.txt": "1\n" } });
    expect(await move(later)).toEqual([422, "You're not authorized to push to this branch."]);
    protect({ onlyApps: [github.app.slug] });
    expect((await move(later))[0]).toBe(200);
  });

  test("that wants pull requests or linear history says so, unless the App may pass it by", async () => {
    protect({ requirePullRequest: true });
    expect(await move(next)).toEqual([422, "Changes must be made through a pull request."]);
    protect({ by: "ruleset", requirePullRequest: true });
    expect((await move(next))[1]).toMatch(/^Repository rule violations found\n\nChanges must be made through/u);
    protect({ requirePullRequest: true, bypass: [github.app.slug] });
    expect((await move(next))[0]).toBe(200);
    await github.push(name, "side", { on: first, files: { "s.txt": "1\n" } });
    const { sha } = (await api("POST", `/repos/${name}/merges`, { base: "side", head: next })).body;
    protect({ linearHistory: true });
    expect(await move(sha)).toEqual([422, "This branch must not contain merge commits."]);
    expect(await tip()).toBe(next);
  });

  test("merges a pull request only when reviews and statuses of its head allow it", async () => {
    const number = await github.openPullRequest(name, { head: "next", base: "main" });
    const merge = async (): Promise<readonly unknown[]> => {
      const answer = await api("PUT", `/repos/${name}/pulls/${number}/merge`, { merge_method: "squash" });
      return [answer.status, answer.body.message];
    };
    protect({ requiredStatuses: ["ci"], approvals: 1, strict: true });
    expect(await merge()).toEqual([405, "At least 1 approving review is required by reviewers with write access."]);
    await github.review(name, number, "grace", "CHANGES_REQUESTED");
    expect((await merge())[0]).toBe(405);
    await github.review(name, number, "grace", "APPROVED");
    expect(await merge()).toEqual([405, 'Required status check "ci" is expected.']);
    await github.setCheckRun(name, next, "ci", "success");
    const pushed = await github.git(name, "commit-tree", "-p", "main", "-m", "by hand", "main^{tree}");
    await github.git(name, "update-ref", "refs/heads/main", pushed);
    // It passed, but not on top of what the base is now.
    expect(await merge()).toEqual([405, 'Required status check "ci" is expected.']);
    protect({ requiredStatuses: ["ci"], approvals: 1 });
    expect((await merge())[0]).toBe(200);
  });

  test("is told where GitHub keeps it: branch protection in one place, rulesets in another", async () => {
    const at = `/repos/${name}/branches/main/protection/required_status_checks`;
    expect((await api("GET", at)).status).toBe(404);
    protect({ requiredStatuses: ["ci"], by: "ruleset" });
    expect((await api("GET", at)).status).toBe(404);
    const rules = (await api("GET", `/repos/${name}/rules/branches/main`)).body;
    const [required] = rules.filter((rule: { type: string }) => rule.type === "required_status_checks");
    expect(required.parameters.required_status_checks).toEqual([{ context: "ci" }]);
    protect({ requiredStatuses: ["ci"] });
    expect((await api("GET", at)).body).toMatchObject({ contexts: ["ci"], strict: false });
    expect((await api("GET", `/repos/${name}/rules/branches/main`)).body).toEqual([]);
  });
});
