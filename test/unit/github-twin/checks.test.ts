import { afterAll, beforeAll, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asInstallation, type Body, type Client, twin } from "./client.ts";

let github: GitHubTwin;
let api: Client;
let sha: string;
const REPO = "acme/app";

beforeAll(async () => {
  github = await twin();
  await github.addRepository(REPO);
  sha = await github.push(REPO, "mainline/pr-1/x", { on: "main", files: { "x.txt": "1\n" } });
  api = await asInstallation(github);
});
afterAll(() => github.stop());

const runs = async (query = ""): Promise<Body[]> =>
  (await api("GET", `/repos/${REPO}/commits/${sha}/check-runs${query}`)).body.check_runs;

test("a check that is run again has the same name and a new id, and only the newest shows", async () => {
  const first = await github.setCheckRun(REPO, sha, "ci", "failure");
  const second = await github.setCheckRun(REPO, sha, "ci", "in_progress");
  expect(second).not.toBe(first);
  expect((await runs()).map((run) => [run.id, run.status, run.conclusion])).toEqual([[second, "in_progress", null]]);
  expect((await runs("?filter=all")).map((run) => run.id)).toEqual([first, second]);
  await github.setCheckRun(REPO, sha, "ci", "success");
  expect((await runs("?check_name=ci")).map((run) => [run.id, run.conclusion])).toEqual([[second, "success"]]);
});

test("a suite without runs stays queued, one with runs is as far as they are", async () => {
  const { body } = await api("GET", `/repos/${REPO}/commits/${sha}/check-suites`);
  const bySlug = Object.fromEntries(body.check_suites.map((suite: Body) => [suite.app.slug, suite]));
  expect(bySlug[github.app.slug]).toMatchObject({ status: "queued", conclusion: null, latest_check_runs_count: 0 });
  expect(bySlug["github-actions"]).toMatchObject({ status: "completed", conclusion: "success" });
});

test("the App changes its own runs, and no other's", async () => {
  const other = await github.setCheckRun(REPO, sha, "theirs", "in_progress");
  const refused = await api("PATCH", `/repos/${REPO}/check-runs/${other}`, { conclusion: "success" });
  expect(refused.status).toBe(403);
  const own = await api("POST", `/repos/${REPO}/check-runs`, {
    name: "Mainline (main)",
    head_sha: sha,
    status: "in_progress",
    output: { title: "Testing", summary: "**first** in line" },
  });
  expect([own.status, own.body.app.slug, own.body.output.summary]).toEqual([201, github.app.slug, "**first** in line"]);
  await api("PATCH", `/repos/${REPO}/check-runs/${own.body.id}`, { status: "completed", conclusion: "success" });
  const seen = github.checkRuns(REPO, sha).find((run) => run.id === own.body.id);
  expect([seen?.conclusion, seen?.summary]).toEqual(["success", "**first** in line"]);
  const unfinished = { name: "x", head_sha: sha, status: "completed" };
  expect((await api("POST", `/repos/${REPO}/check-runs`, unfinished)).status).toBe(422);
});

test("statuses are combined from the newest of each context", async () => {
  const combined = async (): Promise<Body> => (await api("GET", `/repos/${REPO}/commits/${sha}/status`)).body;
  expect(await combined()).toMatchObject({ state: "pending", total_count: 0 });
  await github.setStatus(REPO, sha, "lint", "failure");
  expect((await combined()).state).toBe("failure");
  await github.setStatus(REPO, sha, "lint", "success");
  await api("POST", `/repos/${REPO}/statuses/${sha}`, { state: "pending", context: "deploy" });
  expect(await combined()).toMatchObject({ state: "pending", total_count: 2 });
  const listed = (await api("GET", `/repos/${REPO}/commits/${sha}/statuses`)).body;
  expect(listed.map((one: Body) => [one.context, one.state])).toEqual([
    ["deploy", "pending"],
    ["lint", "success"],
    ["lint", "failure"],
  ]);
});

test("a test plays CI: it hears of testing branches and reports on them", async () => {
  const heard: string[] = [];
  github.onTestingBranch(({ repository, branch, sha }) => {
    heard.push(branch);
    void github.setCheckRun(repository, sha, "ci", "success");
  });
  const at = await github.push(REPO, "mainline/pr-2/y", { on: "main", files: { "y.txt": "1\n" } });
  await github.push(REPO, "feature", { on: "main", files: { "f.txt": "1\n" } });
  await expect.poll(() => github.checkRuns(REPO, at).map((run) => run.conclusion)).toEqual(["success"]);
  expect(heard).toEqual(["mainline/pr-2/y"]);
});

test("checks of GitHub Actions are jobs that run again by their run, and others' do not", async () => {
  const strict = await twin();
  await strict.addRepository(REPO);
  const head = await strict.push(REPO, "mainline/pr-3/z", { on: "main", files: { "z.txt": "1\n" } });
  const call = await asInstallation(strict);
  const again: (readonly string[])[] = [];
  strict.onRerun(({ names, sha: of, repository }) => {
    again.push(names);
    for (const name of names) void strict.setCheckRun(repository, of, name, "success");
  });
  const slow = await strict.setCheckRun(REPO, head, "slow", "in_progress");
  const failed = await strict.setCheckRun(REPO, head, "ci", "failure");
  await strict.setCheckRun(REPO, head, "lint", "success");
  const listed = (await call("GET", `/repos/${REPO}/actions/runs?head_sha=${head}`)).body;
  const [workflow] = listed.workflow_runs;
  expect([listed.total_count, workflow.status]).toEqual([1, "in_progress"]);
  const { details_url } = (await call("GET", `/repos/${REPO}/check-runs/${failed}`)).body;
  expect(details_url).toContain(`/actions/runs/${workflow.id}/job/`);

  const rerun = `/repos/${REPO}/actions/runs/${workflow.id}/rerun-failed-jobs`;
  expect(await call("POST", rerun)).toMatchObject({
    status: 403,
    body: { message: "This workflow is already running" },
  });
  expect((await call("POST", `/repos/${REPO}/actions/runs/${workflow.id}/cancel`)).status).toBe(202);
  expect((await call("GET", `/repos/${REPO}/check-runs/${slow}`)).body.conclusion).toBe("cancelled");
  expect((await call("POST", `/repos/${REPO}/actions/runs/${workflow.id}/cancel`)).status).toBe(409);
  expect((await call("POST", rerun)).status).toBe(201);
  await expect.poll(() => strict.checkRuns(REPO, head).map((run) => run.conclusion)).toEqual(Array(3).fill("success"));
  expect(again).toEqual([["slow", "ci"]]);
  expect((await call("POST", `/repos/${REPO}/check-runs/${failed}/rerequest`)).status).toBe(403);
  await strict.stop();
});

test("whose workflow run is cancelled is told to stop", async () => {
  const stopped: string[] = [];
  github.onCancel(({ repository, sha: of }) => stopped.push(`${repository} ${of}`));
  const head = await github.push(REPO, "mainline/pr-4/a", { on: "main", files: { "a.txt": "1\n" } });
  await github.setCheckRun(REPO, head, "slow", "in_progress");
  const [run] = (await api("GET", `/repos/${REPO}/actions/runs?head_sha=${head}`)).body.workflow_runs;
  expect((await api("POST", `/repos/${REPO}/actions/runs/${run.id}/cancel`)).status).toBe(202);
  await expect.poll(() => stopped).toEqual([`${REPO} ${head}`]);
});
