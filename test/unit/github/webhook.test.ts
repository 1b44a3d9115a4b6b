import examples from "@octokit/webhooks-examples" with { type: "json" };
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Hint, hintOf } from "../../../shared/code-host/github/webhook.ts";

const INSTALLATION = { id: 4711 };
const all = z
  .array(z.object({ name: z.string(), examples: z.array(z.record(z.string(), z.unknown())) }))
  .parse(examples);

/** GitHub's own examples, as an App gets them. */
const hintsOf = (event: string): readonly (Hint | undefined)[] =>
  (all.find((one) => one.name === event)?.examples ?? []).map((payload) =>
    hintOf(event, { ...payload, installation: INSTALLATION }),
  );

describe("GitHub's examples of webhooks", () => {
  test("are all read without trouble, and most mean nothing to a queue", () => {
    expect(all.length).toBeGreaterThan(40);
    const meaning = all.filter(({ name }) => hintsOf(name).some((hint) => hint !== undefined)).map(({ name }) => name);
    expect(meaning.toSorted()).toEqual([
      "check_run",
      "check_suite",
      "installation",
      "installation_repositories",
      "pull_request",
      "pull_request_review",
      "push",
      "repository",
    ]);
  });

  test.each(["pull_request", "pull_request_review"])("%s name their pull request", (event) => {
    const hints = hintsOf(event);
    expect(hints.length).toBeGreaterThan(0);
    for (const hint of hints) expect(hint).toMatchObject({ prNumbers: [expect.any(Number)], branches: [] });
  });

  test("of a push name its branch, and a tag is none", () => {
    const named = hintsOf("push").filter((hint) => hint !== undefined);
    expect(named.length).toBeGreaterThan(0);
    for (const hint of named) expect(hint.branches[0]).not.toMatch(/^refs\//u);
  });

  test("of a check name no more pull requests than a message to the loop can hold", () => {
    const pull_requests = Array.from({ length: 300_000 }, (_, at) => ({ number: at + 1 }));
    const repository = { id: 1, name: "app", owner: { login: "acme" } };
    const check_suite = { head_branch: "feature", pull_requests };
    const hint = hintOf("check_suite", { action: "completed", installation: INSTALLATION, repository, check_suite });
    expect(hint?.prNumbers).toHaveLength(100);
  });

  test("of a removed App say so, and no others do", () => {
    expect(hintsOf("installation").filter((hint) => hint?.uninstalled === true)).toHaveLength(
      (all.find((one) => one.name === "installation")?.examples ?? []).filter((one) => one["action"] === "deleted")
        .length,
    );
  });
});

const base = { installation: INSTALLATION, repository: { id: 7, name: "app", owner: { login: "acme" } } };

describe("a testing branch", () => {
  const own = "mainline/pr-1/q-1";

  test("whose check has ended is worth a look, whoever reported it", () => {
    const suite = { head_branch: own, pull_requests: [{ number: 9 }] };
    const run = { pull_requests: [{ number: 9 }], check_suite: { head_branch: own } };
    for (const [event, payload] of [
      ["check_run", { action: "completed", check_run: run }],
      ["check_suite", { action: "completed", check_suite: suite }],
      ["status", { state: "failure", branches: [{ name: "main" }, { name: own }] }],
    ] as const)
      expect(hintOf(event, { ...base, ...payload })).toMatchObject({ tested: [own], prNumbers: [] });
  });

  test("of this service's own making is no news: neither its pushes nor its draft", () => {
    expect(hintOf("push", { ...base, ref: `refs/heads/${own}` })).toBeUndefined();
    const pull_request = { number: 9, head: { ref: own } };
    expect(hintOf("pull_request", { ...base, action: "opened", pull_request })).toBeUndefined();
  });

  test("whose check has only begun can wait", () => {
    const check_run = { pull_requests: [], check_suite: { head_branch: own } };
    expect(hintOf("check_run", { ...base, action: "created", check_run })).toBeUndefined();
    expect(hintOf("status", { ...base, state: "pending", branches: [{ name: own }] })).toBeUndefined();
  });
});

describe("a comment", () => {
  const comment = (more: object = {}, body = "/merge") => ({
    ...base,
    action: "created",
    issue: { number: 7, pull_request: {} },
    comment: { id: 40_000_000_009, body },
    ...more,
  });

  test("on a pull request is told with its beginning, and is news of nothing", () => {
    const hint = hintOf("issue_comment", comment({}, `/merge ${"x".repeat(1_000_000)}`));
    expect(hint).toMatchObject({ prNumbers: [], branches: [], tested: [], moved: false });
    expect(hint?.sayings).toMatchObject([{ kind: "COMMENT", prNumber: 7, id: 40_000_000_009 }]);
    expect(JSON.stringify(hint).length).toBeLessThan(1_000);
  });

  test.each([
    ["on an issue", { issue: { number: 7 } }],
    ["that was edited", { action: "edited" }],
    ["that was deleted", { action: "deleted" }],
    ["without a text", { comment: { id: 1 } }],
    ["without a number", { issue: { pull_request: {} } }],
    ["with another kind of id", { comment: { id: "1", body: "/merge" } }],
  ])("%s says nothing", (_, more) => {
    expect(hintOf("issue_comment", comment(more))).toBeUndefined();
  });
});

describe("a label", () => {
  const pull_request = { number: 7, head: { ref: "feature" } };

  test("that came or went is told, besides that the pull request changed", () => {
    for (const action of ["labeled", "unlabeled"])
      expect(hintOf("pull_request", { ...base, action, pull_request, label: { name: "go" } })).toMatchObject({
        prNumbers: [7],
        sayings: [{ kind: "LABEL", prNumber: 7, label: "go" }],
      });
    expect(hintOf("pull_request", { ...base, action: "edited", pull_request, label: { name: "go" } })?.sayings).toEqual(
      [],
    );
    expect(hintOf("pull_request", { ...base, action: "labeled", pull_request })?.sayings).toEqual([]);
  });
});

describe("a repository", () => {
  test("that moved, or that an installation got or lost, is looked at, few of many", () => {
    expect(hintOf("repository", { ...base, action: "renamed" })).toMatchObject({ moved: true, repo: { id: 7 } });
    const { installation } = base;
    const many = Array.from({ length: 3_000 }, (_, id) => ({ id, full_name: `acme/app-${id}` }));
    const changed = { installation, action: "added", repositories_added: many, repositories_removed: [] };
    const hint = hintOf("installation_repositories", changed);
    expect(hint).toMatchObject({ moved: true });
    expect(hint?.others.slice(0, 2)).toEqual([
      { id: 0, owner: "acme", name: "app-0" },
      { id: 1, owner: "acme", name: "app-1" },
    ]);
    expect(hint?.others.length).toBeLessThan(100);
    expect(hintOf("installation_repositories", { installation, action: "added" })?.others).toEqual([]);
  });
});
