import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asApp, asInstallation, twin } from "./client.ts";
import { aReceiver, type Receiver } from "./receiver.ts";

let github: GitHubTwin;
let receiver: Receiver;
const REPO = "acme/app";
const SECRET = "It's a Secret to Everybody";

beforeEach(async () => {
  github = await twin();
  receiver = await aReceiver();
  await github.addRepository(REPO);
  await github.settled();
  github.webhooksTo(receiver.url, SECRET);
});
afterEach(async () => {
  receiver.stop();
  await github.stop();
});

const names = async (): Promise<readonly string[]> => {
  await github.settled();
  return receiver.hooks.map((hook) => hook.name);
};
const open = (head = "feature"): Promise<number> =>
  github.openPullRequest(REPO, { head, base: "main", files: { [`${head}.txt`]: "1\n" } });

describe("a webhook", () => {
  test("is signed over its bytes, and names event, delivery and installation", async () => {
    await open();
    await github.settled();
    for (const { headers, raw, payload } of receiver.hooks) {
      const signature = `sha256=${createHmac("sha256", SECRET).update(raw).digest("hex")}`;
      expect(headers["x-hub-signature-256"]).toBe(signature);
      expect(headers["x-github-delivery"]).toMatch(/^[0-9a-f-]{36}$/u);
      expect(payload.installation.id).toBe(await github.installation("acme"));
      expect(payload.repository.full_name).toBe(REPO);
    }
    expect(new Set(receiver.hooks.map((hook) => hook.headers["x-github-delivery"])).size).toBe(receiver.hooks.length);
  });

  test("tells what people and their CI did, in order", async () => {
    const number = await open();
    const { sha } = github.pull(REPO, number).head;
    await github.comment(REPO, number, "ada", "/merge");
    await github.label(REPO, number, "queue");
    await github.review(REPO, number, "grace", "APPROVED");
    await github.setCheckRun(REPO, sha, "ci", "success");
    await github.setStatus(REPO, sha, "lint", "success");
    await github.editPullRequest(REPO, number, { body: "merge-commit-title: x", draft: true });
    await github.push(REPO, "feature", { files: { "more.txt": "1\n" } });
    await github.closePullRequest(REPO, number);
    expect(await names()).toEqual([
      "push",
      "check_suite.requested",
      "pull_request.opened",
      "issue_comment.created",
      "pull_request.labeled",
      "pull_request_review.submitted",
      "check_run.created",
      "check_run.completed",
      "check_suite.completed",
      "status",
      "pull_request.edited",
      "pull_request.converted_to_draft",
      "push",
      "check_suite.requested",
      "pull_request.synchronize",
      "pull_request.closed",
    ]);
  });

  test("is not sent for what is not installed, or is suspended", async () => {
    await github.addRepository("rival/app", { installation: null });
    await github.openPullRequest("rival/app", { head: "x", base: "main", files: { "x.txt": "1\n" } });
    github.uninstall(REPO);
    await open();
    await github.install(REPO);
    github.suspend("acme");
    await open("other");
    expect(await names()).toEqual([
      "installation_repositories.removed",
      "installation_repositories.added",
      "installation.suspend",
    ]);
  });

  test("of a renamed or transferred repository keeps its id", async () => {
    const api = await asInstallation(github);
    const { id } = (await api("GET", `/repos/${REPO}`)).body;
    await github.rename(REPO, "application");
    await github.transfer("acme/application", "umbrella");
    await github.settled();
    expect(
      receiver.hooks.map((hook) => [hook.name, hook.payload.repository.id, hook.payload.repository.full_name]),
    ).toEqual([
      ["repository.renamed", id, "acme/application"],
      ["repository.transferred", id, "umbrella/application"],
    ]);
    expect((await api("GET", `/repositories/${id}`)).status).toBe(404);
  });
});

describe("webhooks can be in disorder", () => {
  test("lost, and brought again with the same delivery's name", async () => {
    github.faults.lose(3);
    await open();
    expect(await names()).toEqual([]);
    const lost = github.deliveries.filter((one) => one.status === "LOST");
    expect(lost.map((one) => one.event)).toEqual(["push", "check_suite", "pull_request"]);
    await github.redeliver(lost[2]?.id ?? 0);
    expect(receiver.hooks.map((hook) => hook.headers["x-github-delivery"])).toEqual([lost[2]?.guid]);
    expect(receiver.hooks[0]?.payload.action).toBe("opened");
    const listed = (await asApp(github)("GET", "/app/hook/deliveries?per_page=1")).body;
    expect(listed).toMatchObject([{ guid: lost[2]?.guid, redelivery: true, status: "OK", status_code: 202 }]);
  });

  test("doubled, with the same name", async () => {
    github.faults.double(1);
    await open();
    expect(await names()).toEqual(["push", "push", "check_suite.requested", "pull_request.opened"]);
    expect(receiver.hooks[0]?.headers["x-github-delivery"]).toBe(receiver.hooks[1]?.headers["x-github-delivery"]);
  });

  test("in another order, and late", async () => {
    github.faults.reorder(1);
    await open();
    expect(await names()).toEqual(["check_suite.requested", "push", "pull_request.opened"]);
    github.faults.delayWebhooks(100);
    const began = performance.now();
    await github.comment(REPO, 1, "ada", "/why");
    expect((await names()).at(-1)).toBe("issue_comment.created");
    expect(performance.now() - began).toBeGreaterThan(90);
  });

  test("refused by whoever gets them, which the delivery tells", async () => {
    receiver.status = 500;
    await github.comment(REPO, await open(), "ada", "/merge");
    await github.settled();
    expect(github.deliveries.at(-1)).toMatchObject({ event: "issue_comment", statusCode: 500 });
  });
});
