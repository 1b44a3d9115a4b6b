import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";
import type { QueueClient } from "../support/service.ts";

let on: OnGitHub;
let queue: QueueClient;
let changes = 0;
const change = (): Promise<number> => on.change({ [`${(changes += 1)}.txt`]: "1\n" });
const QUIET = { statusCheckEnabled: false, createPrsForTestingBranches: false };
const ROLES = ["none", "read", "triage", "write", "maintain", "admin"] as const;

beforeAll(async () => {
  on = await onGitHub({ ci: async () => null, limits: "none" });
  queue = await on.queue({ ...QUIET, labelCommandsEnabled: true });
  for (const role of ROLES) on.twin.setRole(NAME, role, role);
});
afterAll(() => on.stop());
afterEach(() => on.twin.faults.clear());

const says = (number: number, body: string, by = "write"): Promise<number> => on.twin.comment(NAME, number, by, body);
const state = async (number: number, of = queue): Promise<string | undefined> => {
  const { body } = await of.asks("/getSubmittedPullRequest", { pr: { number } });
  return typeof body === "object" && body !== null && "state" in body ? String(body.state) : undefined;
};
const own = (number: number): readonly string[] =>
  on.twin.comments(NAME, number).flatMap((one) => (one.viaApp ? [one.body] : []));
const reactions = (number: number): readonly string[] =>
  on.twin.comments(NAME, number).flatMap((one) => one.reactions.map(({ content }) => content));
const logged = (): string => readFileSync(join(on.service.server().data, "server.log"), "utf8");
const isIn = (number: number) => on.poll(() => state(number)).toMatch(/TESTING|PENDING|NOT_READY/u);

type Sent = { readonly payload: object; readonly delivery?: string; readonly event?: string; readonly secret?: string };
async function send({ payload, delivery = randomUUID(), event = "issue_comment", secret }: Sent) {
  const body = JSON.stringify(payload);
  const signature = createHmac("sha256", secret ?? on.twin.app.webhookSecret)
    .update(body)
    .digest("hex");
  const headers = { "content-type": "application/json", "x-github-event": event, "x-github-delivery": delivery };
  const signed = { ...headers, "x-hub-signature-256": `sha256=${signature}` };
  const answer = await fetch(on.webhooks, { method: "POST", headers: signed, body });
  const said: unknown = await answer.json();
  return { status: answer.status, said };
}

const TAKEN = { status: 200, said: { delivery: "TAKEN" } };
const SEEN = { status: 200, said: { delivery: "SEEN" } };
const IGNORED = { status: 200, said: { delivery: "IGNORED" } };

async function told(number: number, id: number, body = "/merge", more: object = {}) {
  return {
    action: "created",
    installation: { id: await on.twin.installation("acme") },
    repository: { id: 1, name: "app", owner: { login: "acme" } },
    issue: { number, pull_request: {} },
    comment: { id, body },
    ...more,
  };
}

describe("a comment", () => {
  test("by somebody who may write submits, restarts and cancels, and is signed with their name", async () => {
    const number = await change();
    await says(number, "/merge --priority=high --no-batch\r\nthanks!");
    await on.poll(() => state(number)).toBe("TESTING");
    expect(await queue.get(number)).toMatchObject({ priorityName: "high", noBatch: true });
    await says(number, "/restart");
    await on.poll(async () => JSON.stringify(await queue.timeline(number))).toContain("restarted by github:write");
    await says(number, "/cancel");
    await on.poll(() => state(number)).toBe("CANCELLED");
    expect((await queue.get(number)).conclusion?.message).toContain("github:write");
    await queue.update({ state: "PAUSED" });
  });

  test.each(ROLES)("by %s goes as far as their right", async (role) => {
    const writes = ["write", "maintain", "admin"].includes(role);
    const number = await change();
    await says(number, "/merge", role);
    if (writes) return isIn(number);
    await on.poll(() => reactions(number)).toEqual(["confused"]);
    expect(await state(number)).toBeUndefined();
    expect(own(number)).toEqual([]);
    expect(logged()).toMatch(new RegExp(`not acted on.*"by":"${role}"`, "u"));
  });

  test("that is urgent needs the right to maintain; whoever lacks it is told so in the queue's comment", async () => {
    const number = await change();
    await says(number, "/merge --priority=urgent");
    await on.poll(() => own(number).join()).toContain("needs the right to maintain");
    expect(await state(number)).toBeUndefined();
    await says(number, "/merge --priority=urgent", "maintain");
    await isIn(number);
    expect(await queue.get(number)).toMatchObject({ priorityValue: 0 });
    await on.poll(() => own(number).join()).not.toContain("needs the right to maintain");
  });

  test("with what nobody knows names all of it, harmlessly", async () => {
    const number = await change();
    await says(number, "/merge --fast @everybody <img/src=x> `--`");
    await on.poll(() => own(number).join()).toContain("cannot be done with");
    const [said = ""] = own(number);
    expect(said).not.toMatch(/@everybody|(?<!\\)<img/u);
    expect(await state(number)).toBeUndefined();
  });

  test("that asks why is answered in a comment of its own, to whoever may write", async () => {
    const number = await change();
    await says(number, "/why", "write");
    await on.poll(() => own(number).join()).toContain("has not been submitted");
    await queue.submit(number);
    await on.poll(() => own(number).length).toBe(2);
  });

  test("of a megabyte, or of odd letters, neither fails nor moves anything", async () => {
    const number = await change();
    for (const body of [
      `/merge ${"x ".repeat(500_000)}`,
      "x".repeat(1_000_000),
      "／merge",
      "\u202E/merge",
      "\u0000/merge",
    ])
      expect((await send({ payload: await told(number, 1_000 + body.length, body) })).status).toBe(200);
    await says(number, `/merge ${"\u{1F600}".repeat(30_000)}`);
    await on.poll(() => own(number).join()).toContain("cannot be done with");
    expect(await state(number)).toBeUndefined();
  });
});

describe("a webhook about a comment", () => {
  test("that comes twice, or late, or again under another name, does it once", async () => {
    const number = await change();
    on.twin.faults.double(1);
    const id = await says(number, "/merge");
    await isIn(number);
    await says(number, "/cancel");
    await on.poll(() => state(number)).toBe("CANCELLED");
    const payload = await told(number, id);
    expect(await send({ payload })).toEqual(SEEN);
    for (const delivery of on.twin.deliveries.filter((one) => one.event === "issue_comment").slice(-2))
      await on.twin.redeliver(delivery.id);
    const other = await change();
    await says(other, "/merge");
    await isIn(other);
    expect(await state(number)).toBe("CANCELLED");
  });

  test("that overtakes an earlier one changes nothing about which was said last", async () => {
    const number = await change();
    on.twin.faults.reorder(1);
    await says(number, "/merge");
    await says(number, "/cancel");
    const other = await change();
    await says(other, "/merge");
    await isIn(other);
    await on.poll(() => logged()).toContain(`"prNumber":${number}`);
    await on.poll(async () => String(await state(number))).not.toMatch(/TESTING|PENDING|NOT_READY/u);
  });

  test("that is forged, or speaks of others, leaves nothing", async () => {
    const number = await change();
    const payload = await told(number, 77);
    expect(await send({ payload, secret: "guessed" })).toMatchObject({ status: 401 });
    const rival = { id: await on.twin.installation("rival") };
    expect(await send({ payload: { ...payload, installation: rival } })).toEqual(IGNORED);
    const elsewhere = { id: 2, name: "app", owner: { login: "rival" } };
    expect(await send({ payload: { ...payload, repository: elsewhere } })).toEqual(IGNORED);
    expect(await send({ payload: { ...payload, issue: { number } } })).toEqual(IGNORED);
    expect(await send({ payload: await told(number, 78, "looks good") })).toEqual(IGNORED);
    // Signed, and of a comment that GitHub does not know, or that says something else.
    expect(await send({ payload: await told(number, 79) })).toEqual(TAKEN);
    const id = await says(number, "nothing", "admin");
    expect(await send({ payload: await told(number, id) })).toEqual(TAKEN);
    await on.poll(() => logged()).toMatch(/"comment":79.*not there any more/u);
    await on.poll(() => logged()).toContain("it is no command");
    expect(await state(number)).toBeUndefined();
  });
});

describe("the label", () => {
  test("submits, and taken off it cancels", async () => {
    const number = await change();
    await on.twin.label(NAME, number, "merge-queue", "write");
    await isIn(number);
    await on.twin.unlabel(NAME, number, "merge-queue", "maintain");
    await on.poll(() => state(number)).toBe("CANCELLED");
    expect((await queue.get(number)).conclusion?.message).toContain("github:maintain");
  });

  test("is taken off when the submission has ended, and submits again when it is put on again", async () => {
    const number = await change();
    await on.twin.label(NAME, number, "merge-queue", "write");
    await isIn(number);
    await queue.cancel(number);
    await on.poll(() => on.twin.labels(NAME, number)).toEqual([]);
    await on.twin.label(NAME, number, "merge-queue", "write");
    await isIn(number);
  });

  test("put on by somebody who may not write moves nothing", async () => {
    const number = await change();
    await on.twin.label(NAME, number, "merge-queue", "triage");
    await on.poll(() => logged()).toMatch(/not acted on.*"by":"triage"/u);
    expect(await state(number)).toBeUndefined();
  });
});

describe("two queues", () => {
  test("hear what is for their own branch", async () => {
    await on.twin.push(NAME, "release", { on: "main", files: { "r.txt": "1\n" } });
    // Its test waits for CI, which says nothing.
    on.twin.protect(NAME, "release", { requiredStatuses: ["unit"], by: "ruleset", bypass: [on.twin.app.slug] });
    const release = on.service.client({ key: { host: "github.com", owner: "acme", name: "app" } }, "release");
    await release.asks("/createQueue", { ...QUIET, mode: "single" });
    const number = await on.twin.openPullRequest(NAME, { head: "fix", base: "release", files: { "f.txt": "1\n" } });
    await says(number, "/merge");
    await on.poll(() => state(number, release)).toMatch(/TESTING|PENDING|NOT_READY/u);
    expect(await state(number)).toBeUndefined();
  });
});

test("where commands are off, nothing is left and GitHub is asked nothing", async () => {
  const number = await change();
  await queue.update({ commandsEnabled: false, labelCommandsEnabled: false });
  const other = on.service.client({ key: { host: "github.com", owner: "acme", name: "app" } }, "release");
  await other.update({ commandsEnabled: false });
  on.twin.counts.reset();
  expect(await send({ payload: await told(number, await says(number, "/merge")) })).toEqual(IGNORED);
  expect(on.twin.counts.of("GET /repos/{owner}/{repo}/issues/comments/{comment_id}")).toBe(0);
});
