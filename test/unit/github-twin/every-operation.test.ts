import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPERATIONS } from "../../support/github/shapes/used.ts";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asApp, asInstallation, type Client, twin } from "./client.ts";

let github: GitHubTwin;
let app: Client;
let api: Client;
let sha: string;

beforeAll(async () => {
  github = await twin();
  ({ sha } = await github.addRepository("acme/app", { files: { "a.txt": "1\n", "docs/b.md": "2\n" } }));
  app = asApp(github);
  api = await asInstallation(github);
});
afterAll(() => github.stop());

describe("each operation is answered in the shape that GitHub publishes", () => {
  const told = async (answers: readonly (readonly [Client, string, string, object?])[]): Promise<void> => {
    for (const [client, method, path, body] of answers) {
      const answer = await client(method, path, body);
      const refusal = answer.status < 300 ? [] : [`${method} ${path}`, answer.status, answer.body];
      expect(refusal).toEqual([]);
    }
    expect(github.lies).toEqual([]);
  };

  test("the App and its installation", async () => {
    const id = await github.installation("acme");
    const delivery = github.deliveries[0]?.id ?? 0;
    const code = github.confirmManifest({ name: "x" });
    await told([
      [app, "GET", "/app"],
      [app, "GET", "/app/installations"],
      [app, "GET", `/app/installations/${id}`],
      [app, "POST", `/app/installations/${id}/access_tokens`, { repositories: ["app"] }],
      [app, "GET", "/app/hook/deliveries"],
      [app, "GET", `/app/hook/deliveries/${delivery}`],
      [app, "POST", `/app/hook/deliveries/${delivery}/attempts`],
      [app, "POST", `/app-manifests/${code}/conversions`],
      [app, "GET", "/repos/acme/app/installation"],
      [api, "GET", `/apps/${github.app.slug}`],
      [api, "GET", "/installation/repositories"],
      [api, "GET", "/rate_limit"],
    ]);
  });

  test("repositories, branches, rules, contents", async () => {
    await github.push("acme/app", "ruled", { on: sha, files: { "r.txt": "1\n" } });
    await github.push("acme/app", "kept", { on: sha, files: { "k.txt": "1\n" } });
    github.protect("acme/app", "kept", { requiredStatuses: ["ci", { context: "deep", appId: 15_368 }], approvals: 1 });
    github.protect("acme/app", "ruled", { by: "ruleset", requiredStatuses: ["ci"], approvals: 1, linearHistory: true });
    github.setRole("acme/app", "grace", "maintain");
    const run = github.addWorkflowRun("acme/app", { headSha: sha, headBranch: "main" });
    await told([
      [api, "GET", "/repos/acme/app"],
      [api, "GET", "/repos/acme/app/branches"],
      [api, "GET", "/repos/acme/app/branches/main"],
      [api, "GET", "/repos/acme/app/branches/kept/protection"],
      [api, "GET", "/repos/acme/app/branches/kept/protection/required_status_checks"],
      [api, "GET", "/repos/acme/app/rules/branches/ruled"],
      [api, "GET", "/repos/acme/app/rules/branches/main"],
      [api, "GET", "/repos/acme/app/collaborators/grace/permission"],
      [api, "GET", `/repos/acme/app/actions/runs?head_sha=${sha}`],
      [api, "GET", `/repos/acme/app/actions/runs/${run}`],
      [api, "POST", `/repos/acme/app/actions/runs/${run}/cancel`],
      [api, "POST", `/repos/acme/app/actions/runs/${run}/rerun-failed-jobs`],
      [api, "GET", "/repos/acme/app/contents/a.txt"],
      [api, "GET", "/repos/acme/app/contents/docs?ref=main"],
      [api, "GET", "/repos/acme/app/commits?sha=main"],
      [api, "GET", "/repos/acme/app/commits/main"],
      [api, "GET", "/repos/acme/app/compare/main...kept"],
    ]);
  });

  test("git's objects and refs", async () => {
    const blob = (await api("POST", "/repos/acme/app/git/blobs", { content: "x" })).body.sha;
    const tree = (
      await api("POST", "/repos/acme/app/git/trees", {
        base_tree: sha,
        tree: [{ path: "x.txt", mode: "100644", type: "blob", sha: blob }],
      })
    ).body.sha;
    const made = await api("POST", "/repos/acme/app/git/commits", { message: "x", tree, parents: [sha] });
    await told([
      [api, "GET", `/repos/acme/app/git/blobs/${blob}`],
      [api, "GET", `/repos/acme/app/git/trees/${tree}?recursive=1`],
      [api, "GET", `/repos/acme/app/git/commits/${made.body.sha}`],
      [api, "POST", "/repos/acme/app/git/refs", { ref: "refs/heads/made/up", sha }],
      [api, "GET", "/repos/acme/app/git/ref/heads/made/up"],
      [api, "GET", "/repos/acme/app/git/matching-refs/heads/made/"],
      [api, "PATCH", "/repos/acme/app/git/refs/heads/made/up", { sha: made.body.sha }],
      [api, "DELETE", "/repos/acme/app/git/refs/heads/made/up"],
    ]);
  });

  test("pull requests, their comments, labels and merges", async () => {
    const number = await github.openPullRequest("acme/app", { head: "one", base: "main", files: { "one.txt": "1\n" } });
    const at = `/repos/acme/app/pulls/${number}`;
    const head = github.pull("acme/app", number).head.sha;
    await github.review("acme/app", number, "grace", "APPROVED");
    await github.push("acme/app", "two", { on: sha, files: { "two.txt": "1\n" } });
    const comment = (await api("POST", `/repos/acme/app/issues/${number}/comments`, { body: "hello" })).body.id;
    await told([
      [api, "POST", "/repos/acme/app/pulls", { head: "two", base: "main", title: "Two", draft: true }],
      [api, "GET", "/repos/acme/app/pulls?state=all"],
      [api, "GET", at],
      [api, "PATCH", at, { title: "Another" }],
      [api, "GET", `${at}/commits`],
      [api, "GET", `${at}/files`],
      [api, "GET", `${at}/reviews`],
      [api, "GET", `/repos/acme/app/commits/${head}/pulls`],
      [api, "GET", `/repos/acme/app/issues/${number}/comments`],
      [api, "GET", `/repos/acme/app/issues/comments/${comment}`],
      [api, "PATCH", `/repos/acme/app/issues/comments/${comment}`, { body: "again" }],
      [api, "POST", `/repos/acme/app/issues/comments/${comment}/reactions`, { content: "eyes" }],
      [api, "GET", "/repos/acme/app/issues/comments?sort=updated&direction=asc&since=2020-01-01T00:00:00Z"],
      [api, "DELETE", `/repos/acme/app/issues/comments/${comment}`],
      [api, "POST", "/repos/acme/app/labels", { name: "queue: testing", color: "00ff00" }],
      [api, "GET", "/repos/acme/app/labels"],
      [api, "GET", "/repos/acme/app/labels/queue: testing"],
      [api, "POST", `/repos/acme/app/issues/${number}/labels`, { labels: ["queue: testing"] }],
      [api, "GET", `/repos/acme/app/issues/${number}/labels`],
      [api, "GET", "/repos/acme/app/issues?labels=queue%3A%20testing&state=open"],
      [api, "DELETE", `/repos/acme/app/issues/${number}/labels/queue%3A%20testing`],
      [api, "GET", `/repos/acme/app/issues/${number}/events`],
      [api, "PUT", `${at}/merge`, { sha: head }],
      [api, "GET", `${at}/merge`],
      [api, "POST", "/repos/acme/app/merges", { base: "two", head: "main" }],
    ]);
  });

  test("checks and statuses", async () => {
    const run = (await api("POST", "/repos/acme/app/check-runs", { name: "Mainline (main)", head_sha: sha })).body;
    await told([
      [api, "GET", `/repos/acme/app/check-runs/${run.id}`],
      [api, "PATCH", `/repos/acme/app/check-runs/${run.id}`, { conclusion: "success", status: "completed" }],
      [api, "POST", `/repos/acme/app/check-runs/${run.id}/rerequest`],
      [api, "GET", `/repos/acme/app/commits/${sha}/check-runs`],
      [api, "GET", `/repos/acme/app/commits/${sha}/check-suites`],
      [api, "GET", `/repos/acme/app/check-suites/${run.check_suite.id}`],
      [api, "GET", `/repos/acme/app/check-suites/${run.check_suite.id}/check-runs`],
      [api, "POST", `/repos/acme/app/check-suites/${run.check_suite.id}/rerequest`],
      [api, "POST", `/repos/acme/app/statuses/${sha}`, { state: "success", context: "lint" }],
      [api, "GET", `/repos/acme/app/commits/${sha}/status`],
      [api, "GET", `/repos/acme/app/commits/${sha}/statuses`],
    ]);
  });

  test("none was left out", () => {
    expect(OPERATIONS.filter((operation) => github.counts.of(operation) === 0)).toEqual([]);
  });
});
