/** A workflow of a fork, which gets no token, says what its pull request's commit changes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";

const LOOKUP = "GET /repos/{owner}/{repo}/actions/runs/{run_id}";
const REPO = { host: "github.com", owner: "acme", name: "app" };
const FORK = "stranger";

let github: OnGitHub;
const start = async (): Promise<void> => {
  github = await onGitHub({ ci: async () => null, hears: false });
  await github.queue({ mode: "parallel" });
};

type Sent = {
  readonly run?: number | string | null;
  readonly token?: string;
  readonly body?: object | string;
  readonly key?: string;
};

/** As the action's curl sends it. */
async function sets(number: number, sha: string | undefined, { run = null, token, body, key }: Sent = {}) {
  const asked = {
    repo: REPO,
    targetBranch: "main",
    pr: { number, ...(sha === undefined ? {} : { sha }) },
    impactedTargets: ["//a"],
  };
  const answer = await fetch(`${github.service.server().url}/setImpactedTargets`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(run === null ? {} : { "x-forked-workflow-run-id": String(run) }),
      ...(token === undefined ? {} : { "x-api-token": token }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body: typeof body === "string" ? body : JSON.stringify({ ...asked, ...body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

const lookups = (): number => github.twin.counts.of(LOOKUP);
const log = (): string => readFileSync(join(github.service.server().data, "server.log"), "utf8");

/** A fork's pull request, and a run of its workflow. */
async function aFork(head: string) {
  const files = { [`${head}.txt`]: "f\n" };
  const number = await github.twin.openPullRequest(NAME, { head, base: "main", author: FORK, fork: true, files });
  const headSha = github.twin.pull(NAME, number).head.sha;
  const wanted = { headSha, headBranch: head, fork: FORK } as const;
  return { number, headSha, wanted, run: github.twin.addWorkflowRun(NAME, wanted) };
}

describe("a fork's workflow", () => {
  let fork: Awaited<ReturnType<typeof aFork>>;
  let made = 0;
  beforeAll(start);
  afterAll(() => github.stop());
  beforeEach(async () => {
    fork = await aFork(`fork-${(made += 1)}`);
  });

  test("whose run is in progress is taken at its word that there is a set, which counts as ALL", async () => {
    const { number, headSha, run } = fork;
    const done = await sets(number, headSha, { run });
    expect([done.status, done.body]).toEqual([200, { prNumber: number, prSha: headSha, impactedTargets: "ALL" }]);
    // A secret that a fork does not get is sent as nothing.
    expect(await sets(number, headSha, { run, token: "" })).toMatchObject({ status: 200 });
    const queue = github.service.client({ key: REPO });
    await queue.submit(number);
    expect((await queue.get(number)).readiness.hasImpactedTargets).toBe(true);
  });

  test("is taken at its word in a queue that trusts it, and as ALL in one that does not, of one and the same set", async () => {
    const { number, headSha, run } = fork;
    await github.twin.push(NAME, "trusting", { files: { "t.txt": "t\n" } });
    const trusting = { repo: REPO, targetBranch: "trusting" };
    const client = github.service.client({ key: REPO }, "trusting");
    await client.asks("/createQueue", { mode: "parallel", trustForkTargets: true });
    const done = await sets(number, headSha, { run, body: trusting });
    expect(done.body).toMatchObject({ impactedTargets: 1 });
    expect((await sets(number, headSha, { run })).body).toMatchObject({ impactedTargets: "ALL" });
    await client.update({ trustForkTargets: false });
    expect((await sets(number, headSha, { run, body: trusting })).body).toMatchObject({ impactedTargets: "ALL" });
  });

  test("does not replace what a token has sent", async () => {
    const { number, headSha, run } = fork;
    const token = github.service.server().adminToken;
    expect((await sets(number, headSha, { token })).body).toMatchObject({ impactedTargets: 1 });
    const body = { impactedTargets: ["//b", "//c"] };
    expect((await sets(number, headSha, { run, body })).body).toMatchObject({ impactedTargets: 1 });
    expect((await sets(number, headSha, { token, body })).body).toMatchObject({ impactedTargets: 2 });
  });

  test("that sends a token is judged by it alone, a bad one too", async () => {
    const { number, headSha, run } = fork;
    const before = lookups();
    const bad = await sets(number, headSha, { run, token: "mlq_wrong" });
    expect([bad.status, bad.body.error.message]).toEqual([401, expect.stringContaining("x-api-token is not valid")]);
    const reads = await github.service.token("create", "--org", "local", "--name", `r${number}`, "--scopes", "read");
    expect((await sets(number, headSha, { run, token: reads })).status).toBe(403);
    expect((await sets(number, headSha, { run: 1, token: github.service.server().adminToken })).status).toBe(200);
    expect(lookups()).toBe(before);
  });

  test("that is let in is told what is wrong with its body", async () => {
    const { number, headSha, run } = fork;
    const done = await sets(number, headSha, { run, body: { impactedTargets: [1] } });
    expect([done.status, done.body.error.code]).toEqual([400, "INVALID_REQUEST"]);
  });

  test("may send a key, which is its run's", async () => {
    const { number, headSha, run, wanted } = fork;
    await sets(number, headSha, { run, key: "k" });
    const again = await sets(number, headSha, { run, key: "k" });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    const other = await sets(number, headSha, { run: github.twin.addWorkflowRun(NAME, wanted), key: "k" });
    expect([other.status, other.headers.get("idempotency-replayed")]).toEqual([200, null]);
  });
});

describe("whoever is no such workflow", () => {
  beforeEach(start);
  afterEach(() => github.stop());

  test("is answered 401, in one and the same words, whatever is wrong; the log says what it is", async () => {
    const { number, headSha, run, wanted } = await aFork("fork");
    await github.twin.addRepository("acme/lib", { files: { "a.txt": "1\n" } });
    await github.twin.addRepository("foreign/app", { files: { "a.txt": "1\n" } });
    const own = await github.change({ "own.txt": "o\n" });
    const ownSha = github.twin.pull(NAME, own).head.sha;
    const completed = github.twin.addWorkflowRun(NAME, { ...wanted, status: "completed" });
    const ofBranch = github.twin.addWorkflowRun(NAME, { headSha: ownSha, headBranch: "change-1" });
    const ofTarget = github.twin.addWorkflowRun(NAME, { ...wanted, event: "pull_request_target" });
    const elsewhere = github.twin.addWorkflowRun("acme/lib", { headSha, headBranch: "main" });
    const repo = (owner: string, name: string) => ({ repo: { ...REPO, owner, name } });
    const cases: readonly (readonly [string, string | undefined, Sent, string])[] = [
      ["a run of another repository", headSha, { run: elsewhere }, "has no such run"],
      ["a run that is over", headSha, { run: completed }, "not in progress"],
      ["a run of a branch of the repository", ownSha, { run: ofBranch }, "not of a fork's pull request"],
      ["a run that has the repository's secrets", headSha, { run: ofTarget }, "not of a fork's pull request"],
      ["another commit", "a".repeat(40), { run }, "of another commit"],
      [
        "another pull request's number",
        headSha,
        { run, body: { pr: { number: own, sha: headSha } } },
        "has another head",
      ],
      ["no commit", undefined, { run }, "no whole commit"],
      ["an account that is not linked", headSha, { run, body: repo("foreign", "app") }, "is not linked"],
      ["a repository without a queue", headSha, { run, body: repo("acme", "lib") }, "no such queue"],
      ["a branch without a queue", headSha, { run, body: { targetBranch: "none" } }, "no such queue"],
      ["no JSON", headSha, { run, body: "{" }, ""],
      ["no run", headSha, { run: "" }, ""],
      ["words for a run", headSha, { run: "1/../2" }, ""],
      ["a number that is none", headSha, { run: "9".repeat(30) }, ""],
    ];
    const texts = new Set<string>();
    for (const [what, sha, sent, why] of cases) {
      const { status, body, headers } = await sets(number, sha, sent);
      const { requestId, ...rest } = body.error;
      expect([what, status, requestId]).toEqual([what, 401, headers.get("x-request-id")]);
      texts.add(JSON.stringify(rest));
      if (why !== "") await github.poll(() => log()).toContain(why);
    }
    expect(texts.size).toBe(1);
    expect([...texts][0]).toContain("x-forked-workflow-run-id");
    // Without the header it is the token that is missing.
    const bare = await sets(number, headSha);
    expect([bare.status, bare.body.error.message]).toEqual([401, expect.stringContaining("x-api-token")]);
    // Those that GitHub was asked about are all that cost a question.
    expect(lookups()).toBe(6);
    // Whoever is right is let in all the same.
    expect((await sets(number, headSha, { run })).status).toBe(200);
  });

  test("costs a few questions to GitHub, a hundred times over, one after the other or all at once", async () => {
    const { number, headSha, run } = await aFork("fork");
    for (let at = 0; at < 50; at += 1) expect((await sets(number, headSha, { run: 7 })).status).toBe(401);
    expect(lookups()).toBe(1);
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, at) => sets(number, headSha, { run: run + 1_000 + at })),
    );
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([401]));
    expect(lookups()).toBeLessThanOrEqual(10);
  });
});
