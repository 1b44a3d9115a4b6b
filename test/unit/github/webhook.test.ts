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
      "pull_request",
      "pull_request_review",
      "push",
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

  test("of a removed App say so, and no others do", () => {
    expect(hintsOf("installation").filter((hint) => hint?.uninstalled === true)).toHaveLength(
      (all.find((one) => one.name === "installation")?.examples ?? []).filter((one) => one["action"] === "deleted")
        .length,
    );
  });
});

const base = { installation: INSTALLATION, repository: { name: "app", owner: { login: "acme" } } };

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
