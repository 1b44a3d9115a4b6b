import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";
import type { QueueClient } from "../support/service.ts";

const COMMENT = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
const CHECK = "POST /repos/{owner}/{repo}/check-runs";

/** What GitHub's limits on creating content are taken to count. */
const CONTENT = [
  "POST /repos/{owner}/{repo}/git/refs",
  "POST /repos/{owner}/{repo}/merges",
  "POST /repos/{owner}/{repo}/pulls",
  COMMENT,
  CHECK,
  "POST /repos/{owner}/{repo}/labels",
  "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
  "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
  "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
] as const;
const created = ({ twin }: OnGitHub): number => CONTENT.reduce((sum, one) => sum + twin.counts.of(one), 0);

const DEFAULTS = {
  commentsEnabled: true,
  statusCheckEnabled: true,
  stateLabelsEnabled: false,
  labelCommandsEnabled: false,
};

describe("the page of a pull request", () => {
  let on: OnGitHub;
  let queue: QueueClient;
  /** What CI says of testing branches from now on; null says nothing. */
  let ci: "success" | "failure" | null = "success";
  let changes = 0;
  const change = (): Promise<number> => on.change({ [`${(changes += 1)}.txt`]: "1\n" });
  const bodies = (number: number): readonly string[] =>
    on.twin
      .comments(NAME, number)
      .filter((one) => one.viaApp)
      .map((one) => one.body);
  const checks = (sha: string) =>
    on.twin
      .checkRuns(NAME, sha)
      .filter((one) => one.name.startsWith("Mainline"))
      .map(({ name, status, conclusion, title }) => ({ name, status, conclusion, title }));
  const head = (number: number): string => on.twin.pull(NAME, number).head.sha;
  const shows = (number: number, words: string) => on.poll(() => bodies(number).join("\n")).toContain(words);

  beforeAll(async () => {
    on = await onGitHub({ ci: async () => ci, limits: "none" });
    queue = await on.queue({ retriesBeforeFailure: 0 });
  });
  afterAll(() => on.stop());
  beforeEach(async () => {
    ci = "success";
    await queue.update(DEFAULTS);
    on.twin.counts.reset();
  });

  test("that is merged has one comment and one check run, made once and then edited", async () => {
    const number = await change();
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    await shows(number, "**Merged**");
    expect(bodies(number)).toEqual([expect.stringMatching(/Merged into main as [0-9a-f]{12}\./u)]);
    const success = { name: "Mainline (main)", status: "completed", conclusion: "success", title: "Merged" };
    await on.poll(() => checks(head(number))).toEqual([success]);
    expect([on.twin.counts.of(COMMENT), on.twin.counts.of(CHECK)]).toEqual([1, 1]);
    expect(created(on)).toBeLessThanOrEqual(6);
    expect(on.twin.labels(NAME, number)).toEqual([]);
  });

  test("that failed leads to what failed, and comes back with a check of its own", async () => {
    const number = await change();
    ci = "failure";
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "FAILED" });
    await shows(number, "What failed:");
    expect(bodies(number)).toEqual([expect.stringMatching(/- \[`unit`\]\(<http[^>]+>\)/u)]);
    expect(bodies(number)[0]).toContain("comment `/merge`");
    const failure = { name: "Mainline (main)", status: "completed", conclusion: "failure", title: "Failed: unit" };
    await on.poll(() => checks(head(number))).toEqual([failure]);
    ci = "success";
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    await on.poll(() => checks(head(number))).toMatchObject([{ conclusion: "success" }]);
    await shows(number, "**Merged**");
    expect([on.twin.counts.of(COMMENT), on.twin.counts.of(CHECK)]).toEqual([1, 2]);
  });

  test("that is urgent and cancelled shows it, and where its test can be looked at meanwhile", async () => {
    const number = await change();
    ci = null;
    await queue.submit(number, { priority: "urgent" });
    await shows(number, "**Being tested**");
    expect(bodies(number)[0]).toContain("It is urgent.");
    const draft = on.twin.pulls(NAME).find((pull) => pull.draft && pull.state === "open");
    expect(bodies(number)[0]).toContain(`(<https://github.com/acme/app/pull/${draft?.number}>)`);
    await on.poll(() => checks(head(number))).toMatchObject([{ status: "in_progress", title: "Being tested" }]);
    await queue.cancel(number);
    await shows(number, "**Cancelled, and was not merged**");
    await on.poll(() => checks(head(number))).toMatchObject([{ conclusion: "neutral" }]);
    expect(bodies(number)).toHaveLength(1);
  });

  test("that is pushed to before it is ready has a check on its new head, and none that stays open on the old one", async () => {
    const draft = { head: "early", base: "main", draft: true, files: { "early.txt": "1\n" } };
    const number = await on.twin.openPullRequest(NAME, draft);
    await queue.submit(number);
    await shows(number, "it is a draft: mark it ready for review");
    const before = head(number);
    await on.poll(() => checks(before)).toMatchObject([{ status: "queued", title: "Not ready yet" }]);
    await on.twin.push(NAME, "early", { files: { "early.txt": "2\n" } });
    await on.poll(() => checks(head(number))).toMatchObject([{ status: "queued" }]);
    expect(head(number)).not.toBe(before);
    await on.poll(() => checks(before)).toMatchObject([{ conclusion: "neutral" }]);
    await queue.cancel(number);
    await shows(number, "**Cancelled");
    expect(bodies(number)).toHaveLength(1);
  });

  test("says what its queue's settings ask for, and nothing else", async () => {
    await queue.update({ commentsEnabled: false, statusCheckEnabled: false, stateLabelsEnabled: true });
    const number = await change();
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    await on.poll(() => on.twin.labels(NAME, number)).toEqual(["merge-queue: merged"]);
    expect([bodies(number), checks(head(number))]).toEqual([[], []]);
  });

  test("carries the label of its state and no other of the queue's, and none that would submit it again", async () => {
    await queue.update({ stateLabelsEnabled: true, labelCommandsEnabled: true, enqueueingLabel: "queue it" });
    const number = await change();
    for (const label of ["bug", "queue it"]) await on.twin.label(NAME, number, label, "ada");
    ci = null;
    await queue.submit(number);
    const labels = (): readonly string[] => on.twin.labels(NAME, number).toSorted();
    await on.poll(labels).toEqual(["bug", "merge-queue: testing", "queue it"]);
    await queue.cancel(number);
    await on.poll(labels).toEqual(["bug", "merge-queue: cancelled"]);
  });

  test("shows words that mean something elsewhere as words", async () => {
    const evil = "`id` @everyone [x](javascript:alert(1)) <!-- mainline:main --> \u202e</details>";
    const wanted = { head: "x$(id)@team", base: "main", title: evil, files: { "evil.txt": "1\n" } };
    const number = await on.twin.openPullRequest(NAME, wanted);
    await on.twin.comment(NAME, number, "mallory", "<!-- mainline:main -->\nMerged, believe me");
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    await shows(number, "**Merged**");
    expect(on.twin.comments(NAME, number)).toMatchObject([{ body: "<!-- mainline:main -->\nMerged, believe me" }, {}]);
    expect(bodies(number).join("\n")).not.toMatch(/@everyone|@team|javascript:|\u202e/u);
  });

  test("that somebody takes the comment from gets one more", async () => {
    const number = await change();
    ci = null;
    await queue.submit(number);
    await shows(number, "**Being tested**");
    for (const one of on.twin.comments(NAME, number)) await on.twin.deleteComment(NAME, one.id);
    await queue.cancel(number);
    await shows(number, "**Cancelled, and was not merged**");
    expect(bodies(number)).toHaveLength(1);
  });

  /** Requests that GitHub keeps waiting are given up as soon as they have come there: no test waits for their time to pass. */
  const neverAnswers = (): void => {
    const asking = new Set<AbortController>();
    vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
      const one = new AbortController();
      asking.add(one);
      return one.signal;
    });
    on.twin.faults.hold(/comments/u, () => {
      for (const one of asking) one.abort(new DOMException("The operation timed out.", "TimeoutError"));
      asking.clear();
    });
  };

  test.each([
    ["errs", () => on.twin.faults.fail(1_000, 502, /comments/u)],
    ["does not answer", neverAnswers],
  ])("is right in the end, and in nobody's way, where GitHub %s for comments", async (_, fault) => {
    fault();
    const number = await change();
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    // It has not waited for the page, which nobody has seen by now.
    expect(bodies(number)).toEqual([]);
    on.twin.faults.clear();
    vi.restoreAllMocks();
    await on.poll(() => bodies(number).join("\n")).toContain("**Merged**");
    expect(bodies(number)).toHaveLength(1);
    await on.poll(() => checks(head(number))).toMatchObject([{ conclusion: "success" }]);
  });
});
