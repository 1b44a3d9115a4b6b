import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { link, NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";
import type { QueueClient } from "../support/service.ts";

let on: OnGitHub;
let queue: QueueClient;
beforeAll(async () => {
  on = await onGitHub({ hears: false, ci: async () => null });
  queue = await on.queue();
});
afterAll(() => on.stop());

const logged = (): string => readFileSync(join(on.service.server().data, "server.log"), "utf8");

type Sent = { readonly event?: string; readonly delivery?: string; readonly secret?: string; readonly body: string };
const send = async ({ event = "push", delivery = randomUUID(), secret = on.twin.app.webhookSecret, body }: Sent) => {
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-github-event": event, "x-github-delivery": delivery };
  const signed = { ...headers, "x-hub-signature-256": signature };
  const answer = await fetch(on.webhooks, { method: "POST", headers: signed, body });
  const said: unknown = await answer.json();
  return { status: answer.status, said };
};

const pushed = async (owner = "acme", installation?: number): Promise<string> =>
  JSON.stringify({
    ref: "refs/heads/main",
    repository: { id: 1, name: "app", owner: { login: owner } },
    installation: { id: installation ?? (await on.twin.installation("acme")) },
  });

describe("a webhook", () => {
  test("that is signed is taken once, whoever sends it again", async () => {
    const delivery = randomUUID();
    const body = await pushed();
    expect(await send({ delivery, body })).toEqual({ status: 200, said: { delivery: "TAKEN" } });
    expect(await send({ delivery, body })).toEqual({ status: 200, said: { delivery: "SEEN" } });
  });

  test("is refused with another secret, with none, and with a signature of other bytes", async () => {
    const body = await pushed();
    expect(await send({ body, secret: "guessed" })).toMatchObject({ status: 401 });
    for (const signature of ["", "sha256=", "sha256=00", "sha1=abc", "🦊"]) {
      const headers: Record<string, string> = { "content-type": "application/json", "x-github-event": "push" };
      if (/^[\u0020-\u007e]*$/u.test(signature)) headers["x-hub-signature-256"] = signature;
      const { status } = await fetch(on.webhooks, { method: "POST", headers, body });
      expect(status).toBe(401);
    }
    const good = createHmac("sha256", on.twin.app.webhookSecret).update(body).digest("hex");
    const headers = { "x-hub-signature-256": `sha256=${good}`, "x-github-delivery": randomUUID() };
    const answer = await fetch(on.webhooks, { method: "POST", headers, body: `${body} ` });
    expect(answer.status).toBe(401);
    expect(logged()).not.toContain(on.twin.app.webhookSecret);
  });

  test("is checked before it is parsed", async () => {
    expect(await send({ body: "{not json", secret: "guessed" })).toMatchObject({ status: 401 });
    expect(await send({ body: "{not json" })).toMatchObject({ status: 400 });
    expect(await send({ body: await pushed(), delivery: "../../x y" })).toMatchObject({ status: 400 });
  });

  test("of an installation that is linked to nobody, or that names another's repository, is dropped", async () => {
    const other = await on.twin.installation("rival");
    for (const body of [await pushed("rival", other), await pushed("acme", other), await pushed("rival")])
      expect(await send({ body })).toEqual({ status: 200, said: { delivery: "IGNORED" } });
  });

  test("of any other shape than GitHub's means nothing", async () => {
    const installation = { id: await on.twin.installation("acme") };
    const repository = { id: 1, name: "app", owner: { login: "acme" } };
    for (const payload of [{}, [], null, { installation }, { installation, repository }, { installation, ref: 1 }])
      for (const event of ["push", "pull_request", "check_run", "status", "", "__proto__"])
        expect(await send({ event, body: JSON.stringify(payload) })).toMatchObject({ status: 200 });
  });
});

describe("what a webhook says", () => {
  test("is only a hint: what is so nowhere but in it changes nothing", async () => {
    const number = await on.change({ "hint.txt": "1\n" });
    await queue.submit(number);
    await queue.reaches(number, "TESTING");
    const [branch] = (await on.twin.branches(NAME)).filter((name) => name.startsWith("mainline/"));
    const about = {
      installation: { id: await on.twin.installation("acme") },
      repository: { id: 1, name: "app", owner: { login: "acme" } },
    };
    const pull_request = { number, merged: true, state: "closed", head: { ref: "change-1" } };
    const closed = JSON.stringify({ ...about, action: "closed", pull_request });
    expect(await send({ event: "pull_request", body: closed })).toMatchObject({ said: { delivery: "TAKEN" } });
    const check_run = { name: "unit", conclusion: "success", pull_requests: [], check_suite: { head_branch: branch } };
    const passed = JSON.stringify({ ...about, action: "completed", check_run });
    expect(await send({ event: "check_run", body: passed })).toMatchObject({ said: { delivery: "TAKEN" } });
    // The service takes in what was said, and looks for itself.
    for (let looks = 0; looks < 3; looks += 1) await on.service.server().passes(60_000);
    await on.service.server().settled();
    expect(await queue.get(number)).toMatchObject({ state: "TESTING" });
    await queue.cancel(number);
  });
});

describe("an installation", () => {
  test("of one organization is linked to no other, and serves no other", async () => {
    const { data } = on.service.server();
    const installation = await on.twin.installation("acme");
    const again = await link(data, "rival", installation);
    expect(again).toMatchObject({ code: 1, said: expect.stringContaining("linked already") });
    const token = await on.service.token("create", "--org", "rival", "--scopes", "read,submit,admin");
    const theirs = on.service.client(
      { key: { host: "github.com", owner: "acme", name: "app" } },
      "main",
      on.service.as(token),
    );
    await theirs.asks("/createQueue", { mode: "single", concurrency: 1 });
    const number = await on.change({ "theirs.txt": "1\n" });
    await theirs.submit(number);
    expect(await theirs.explain(number)).toMatchObject({
      state: "NOT_READY",
      summary: expect.stringContaining("not linked to organization rival"),
    });
  });

  test("is not linked by a redirect that did not begin here, or began for another organization", async () => {
    const { data } = on.service.server();
    const installation = await on.twin.installation("victim");
    for (const forge of [
      () => "",
      (state: string) => state.replace("rival.", "local."),
      (state: string) => `${state}x`,
      (state: string) => state.replace(/\.\d+\./u, ".9999999999999."),
    ])
      expect(await link(data, "rival", installation, forge)).toMatchObject({ page: 400 });
  });
});

describe("an App that lost its rights", () => {
  test("moves nothing, and the explanation says so without its secrets", async () => {
    const number = await on.change({ "rights.txt": "1\n" });
    const before = await on.twin.git(NAME, "rev-parse", "main");
    on.twin.setPermissions("acme", {
      metadata: "read",
      contents: "read",
      pull_requests: "read",
      checks: "read",
      statuses: "read",
    });
    await queue.submit(number);
    await on.poll(async () => JSON.stringify(await queue.explain(number))).toContain("GitHub answered 403");
    expect(await on.twin.git(NAME, "rev-parse", "main")).toBe(before);
    expect(logged()).not.toMatch(/ghs_|PRIVATE KEY/u);
  });

  test("and one that is suspended, too", async () => {
    on.twin.suspend("acme");
    const number = await on.twin.openPullRequest(NAME, { head: "late", base: "main", files: { "late.txt": "1\n" } });
    await queue.submit(number);
    await on.poll(async () => JSON.stringify(await queue.explain(number))).toContain("GitHub answered 403");
  });
});
