import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asInstallation, type Body, type Client, twin } from "./client.ts";

const REPO = "acme/app";
let github: GitHubTwin;
let api: Client;
let clock = Math.floor(Date.now() / 1000) * 1000;
const later = (): void => void (clock += 60_000);

beforeAll(async () => {
  github = await twin({ now: () => clock });
  await github.addRepository(REPO);
  api = await asInstallation(github);
});
afterAll(() => github.stop());

const opened = (head: string): Promise<number> =>
  github.openPullRequest(REPO, { head, base: "main", files: { [`${head}.txt`]: "1\n" } });
const told = async (path: string): Promise<Body> => (await api("GET", `/repos/${REPO}${path}`)).body;

describe("comments of a whole repository", () => {
  test("are told in the order of their last change, from an instant on", async () => {
    const [one, two] = [await opened("one"), await opened("two")];
    const first = await github.comment(REPO, one, "ada", "/merge");
    later();
    const second = await github.comment(REPO, two, "ben", "/why");
    later();
    await github.editComment(REPO, first, "/merge --no-batch");
    const at = new Date(clock).toISOString();
    const order = async (query: string): Promise<readonly number[]> =>
      (await told(`/issues/comments${query}`)).map((comment: Body) => comment.id);
    expect(await order("")).toEqual([first, second]);
    expect(await order("?sort=updated&direction=asc")).toEqual([second, first]);
    expect(await order(`?sort=updated&direction=asc&since=${at}`)).toEqual([first]);
    const [shown] = await told("/issues/comments");
    expect(shown).toMatchObject({ body: "/merge --no-batch", user: { login: "ada" } });
    expect(shown.issue_url).toMatch(new RegExp(`/issues/${one}$`, "u"));
  });

  test("carry reactions, of which a second of the same kind by the same account is the first", async () => {
    const number = await opened("reacted");
    const comment = await github.comment(REPO, number, "ada", "/merge");
    const at = `/repos/${REPO}/issues/comments/${comment}`;
    const left = await api("POST", `${at}/reactions`, { content: "rocket" });
    expect(left).toMatchObject({ status: 201, body: { content: "rocket" } });
    expect(await api("POST", `${at}/reactions`, { content: "rocket" })).toMatchObject({
      status: 200,
      body: { id: left.body.id },
    });
    expect((await api("POST", `${at}/reactions`, { content: "fox" })).status).toBe(422);
    expect((await told(`/issues/comments/${comment}`)).reactions).toMatchObject({ total_count: 1, rocket: 1, eyes: 0 });
  });
});

describe("labels of a pull request", () => {
  test("say who put them on and took them off, and when, however they are written", async () => {
    const number = await opened("labelled");
    await api("POST", `/repos/${REPO}/labels`, { name: "Merge it" });
    later();
    const at = new Date(clock).toISOString().replace(".000Z", "Z");
    await github.label(REPO, number, "merge it", "ada");
    await github.unlabel(REPO, number, "merge it", "ben");
    await github.label(REPO, number, "merge it", "ben");
    const events = await told(`/issues/${number}/events`);
    const labelled = { event: "labeled", label: { name: "Merge it" }, created_at: at };
    expect(events).toMatchObject([
      { ...labelled, actor: { login: "ada" } },
      { ...labelled, event: "unlabeled", actor: { login: "ben" } },
      { ...labelled, actor: { login: "ben" } },
    ]);
    expect(new Set(events.map((one: Body) => one.id)).size).toBe(3);
    const last = github.deliveries.at(-1);
    expect(last).toMatchObject({ event: "pull_request", action: "labeled", payload: { label: { name: "Merge it" } } });
  });

  test("find the open pull requests that carry all of them", async () => {
    const [both, one, closed] = [await opened("both"), await opened("single"), await opened("over")];
    for (const number of [both, one, closed]) await github.label(REPO, number, "go");
    for (const number of [both, closed]) await github.label(REPO, number, "now");
    await github.closePullRequest(REPO, closed);
    const numbers = async (query: string): Promise<readonly number[]> =>
      (await told(`/issues?${query}`)).map((shown: Body) => shown.number);
    expect(await numbers("labels=go&state=open")).toEqual([one, both]);
    expect(await numbers("labels=GO,now")).toEqual([both]);
    expect(await numbers("labels=now&state=all")).toEqual([closed, both]);
    expect((await told("/issues?labels=go,now"))[0].pull_request.url).toMatch(new RegExp(`/pulls/${both}$`, "u"));
  });
});

describe("a repository that was renamed", () => {
  test("is reached by its id, whose address its old name redirects to", async () => {
    const { id } = await github.addRepository("acme/old");
    await github.rename("acme/old", "new");
    const { status, headers } = await api("GET", "/repos/acme/old");
    expect([status, headers.get("location")]).toEqual([301, `${github.url}/repositories/${id}`]);
    expect((await api("GET", `/repositories/${id}`)).body).toMatchObject({ id, full_name: "acme/new" });
    expect((await api("GET", `/repositories/${id}/issues`)).body).toEqual([]);
  });
});

describe("the right of somebody on a repository", () => {
  test.each(["admin", "maintain", "write", "triage", "read", "none"] as const)("is told as %s", async (role) => {
    github.setRole(REPO, "grace", role);
    expect(await told("/collaborators/grace/permission")).toMatchObject({ role_name: role, user: { login: "grace" } });
  });
});
