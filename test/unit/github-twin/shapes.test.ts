import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aboutAnswer } from "../../support/github/shapes/published.ts";
import { EVENTS } from "../../support/github/shapes/used.ts";
import { complaints, type Schema } from "../../support/github/shapes/validate.ts";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { type Body, twin } from "./client.ts";

const EXAMPLES = createRequire(import.meta.url).resolve("@octokit/webhooks-examples");
const webhooks: readonly { readonly name: string; readonly examples: readonly Body[] }[] = JSON.parse(
  readFileSync(EXAMPLES, "utf8"),
);

describe("a value is held against a published shape", () => {
  const about = (schema: Schema, value: unknown): readonly string[] =>
    complaints(schema, value, {
      tree: { type: "object", properties: { next: { $ref: "#/components/schemas/tree" } } },
    });
  const person: Schema = {
    type: "object",
    required: ["name", "born"],
    properties: { name: { type: "string" }, born: { type: "string", format: "date-time", nullable: true } },
  };

  test("what is missing, wrong, null or not published is a complaint", () => {
    expect(about(person, { name: "Ada", born: "1815-12-10T00:00:00Z" })).toEqual([]);
    expect(about(person, { name: "Ada", born: null })).toEqual([]);
    expect(about(person, { born: "yesterday", died: 1 })).toEqual([
      ".name is missing",
      ".born is no date and time: yesterday",
      ".died is not published",
    ]);
    expect(about(person, { name: null, born: 5 })).toEqual([".name is null", ".born is no string"]);
    expect(about({ type: "array", items: { type: "integer" } }, [1, 2.5])).toEqual(["[1] is no integer"]);
    expect(about({ type: "string", enum: ["open", "closed"] }, "ajar")).toHaveLength(1);
  });

  test("one alternative is enough, all parts of a whole are needed, and a shape may hold itself", () => {
    const either: Schema = { oneOf: [{ type: "string" }, person] };
    expect(about(either, "Ada")).toEqual([]);
    expect(about(either, 5)).toHaveLength(1);
    const both: Schema = {
      allOf: [person, { type: "object", required: ["id"], properties: { id: { type: "integer" } } }],
    };
    expect(about(both, { name: "Ada", born: null, id: 1 })).toEqual([]);
    expect(about(both, { name: "Ada", born: null })).toEqual([".id is missing"]);
    expect(about(both, { name: "Ada", born: null, id: 1, x: 1 })).toEqual([".x is not published"]);
    const tree: Schema = { $ref: "#/components/schemas/tree" };
    expect(about(tree, { next: { next: {} } })).toEqual([]);
    expect(about(tree, { next: { next: 5 } })).toEqual([".next.next is no object"]);
  });

  test("a success that GitHub does not publish is one as well", () => {
    expect(aboutAnswer("GET /app", 201, {})).toEqual(["GET /app does not answer 201"]);
    expect(aboutAnswer("GET /app", 200, { id: 1 }).length).toBeGreaterThan(5);
    expect(aboutAnswer("GET /app", 401, { message: "Bad credentials" })).toEqual([]);
  });
});

describe("what the twin sends has the fields of GitHub's own examples", () => {
  let github: GitHubTwin;
  const sent = new Map<string, Body>();
  const REPO = "acme/app";

  /** Each of these happens once, so that each webhook is sent. */
  beforeAll(async () => {
    github = await twin();
    await github.addRepository(REPO);
    const number = await github.openPullRequest(REPO, { head: "f", base: "main", files: { "f.txt": "1\n" } });
    const { sha } = github.pull(REPO, number).head;
    const comment = await github.comment(REPO, number, "ada", "/merge");
    await github.editComment(REPO, comment, "/why");
    await github.deleteComment(REPO, comment);
    await github.label(REPO, number, "queue");
    await github.unlabel(REPO, number, "queue");
    await github.review(REPO, number, "grace", "APPROVED");
    await github.review(REPO, number, "grace", "DISMISSED");
    const run = await github.setCheckRun(REPO, sha, "ci", "success");
    await github.rerequest(REPO, run);
    await github.setStatus(REPO, sha, "lint", "success");
    await github.editPullRequest(REPO, number, { title: "Another", draft: true });
    await github.editPullRequest(REPO, number, { draft: false });
    await github.push(REPO, "f", { files: { "g.txt": "1\n" } });
    await github.closePullRequest(REPO, number);
    await github.editPullRequest(REPO, number, { state: "open" });
    await github.rename(REPO, "application");
    await github.transfer("acme/application", "umbrella");
    await github.addRepository("acme/brief");
    github.deleteRepository("acme/brief");
    github.uninstall("umbrella/application");
    await github.addRepository("acme/last");
    github.uninstall("acme/last");
    github.suspend("acme");
    github.unsuspend("acme");
    github.deleteInstallation("acme");
    for (const { event, action, payload } of github.deliveries)
      sent.set(action === null ? event : `${event}.${action}`, payload);
  });
  afterAll(() => github.stop());

  test("each webhook that the twin speaks was sent", () => {
    expect(EVENTS.filter((event) => !sent.has(event))).toEqual([]);
  });

  /** Fields that all examples of an event have, nested ones with their path; of a list, those of its first item. */
  function paths(value: unknown, at = ""): readonly string[] {
    if (Array.isArray(value)) return value.length === 0 ? [] : paths(value[0], `${at}[]`);
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, one]) => [`${at}.${name}`, ...paths(one, `${at}.${name}`)]);
  }

  /** Of an object that is null here, or a list that is empty, nothing can be told. */
  const isTold = (payload: Body, path: string): boolean => {
    let at: unknown = payload;
    for (const part of path.slice(1).split(".")) {
      const name = part.replace("[]", "");
      if (typeof at !== "object" || at === null) return true;
      const held: unknown = new Map(Object.entries(at)).get(name);
      if (held === undefined) return false;
      at = part.endsWith("[]") && Array.isArray(held) ? held[0] : held;
    }
    return true;
  };

  /** What an App happens to ask for; a former owner who was a user; what GitHub sends and does not publish. */
  const LEFT_OUT = /\.permissions\.|^\.changes\.owner\.from\.user|\.(?:head|base)\.repo\.custom_properties$/u;

  const examples = (name: string): readonly Body[] => {
    const [event, action] = name.split(".");
    const all = webhooks.find((one) => one.name === event)?.examples ?? [];
    return all.filter((one) => action === undefined || one.action === action);
  };

  test.each(EVENTS.filter((name) => examples(name).length > 0))("%s", (name) => {
    const all = examples(name).map((one) => new Set(paths(one)));
    const common = [...(all[0] ?? [])].filter((path) => all.every((one) => one.has(path)));
    expect(common.length).toBeGreaterThan(10);
    expect(common.filter((path) => !LEFT_OUT.test(path) && !isTold(sent.get(name), path))).toEqual([]);
  });
});
