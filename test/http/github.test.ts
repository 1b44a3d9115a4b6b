import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OnGitHub, onGitHub, type Place } from "../support/github-service.ts";

/**
 * One service and one GitHub for all: each test has a repository of its own, and most wait most of the time. Together
 * they create more than GitHub lets an App create in a minute.
 */
let on: OnGitHub;
beforeAll(async () => {
  on = await onGitHub({ limits: "none" });
});
afterAll(() => on.stop());

const files = async ({ name }: Place): Promise<readonly string[]> =>
  (await on.twin.git(name, "ls-tree", "-r", "--name-only", "main")).split("\n");
const ownBranches = async ({ name }: Place): Promise<readonly string[]> =>
  (await on.twin.branches(name)).filter((branch) => branch.startsWith("mainline/"));

const untilTidy = (place: Place) =>
  on.service.until(
    () => ownBranches(place),
    (left) => left.length === 0,
    { what: "no testing branch" },
  );

describe("a pull request on GitHub", () => {
  test.each(["merge_commit", "squash", "rebase"])(
    "that passes on its testing branch is merged, by %s, and nothing is left behind",
    async (mergeMethod) => {
      const place = await on.another();
      const queue = await place.queue({ mergeMethod });
      const number = await place.change({ "b.txt": "b\n" });
      await queue.submit(number);
      expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
      expect(await files(place)).toEqual(["a.txt", "b.txt"]);
      expect(on.twin.pull(place.name, number).merged).not.toBeNull();
      const others = on.twin.pulls(place.name).filter((pull) => pull.number !== number);
      expect(others).toMatchObject([{ draft: true }]);
      const draft = others[0]?.number ?? 0;
      await untilTidy(place);
      const isClosed = (state: string): boolean => state === "closed";
      await on.service.until(() => on.twin.pull(place.name, draft).state, isClosed, { what: "the draft closed" });
    },
  );

  test("whose check fails, and fails again when it is repeated, is FAILED, and the target does not move", async () => {
    const place = await on.another(async () => "failure");
    const queue = await place.queue({ createPrsForTestingBranches: false });
    const number = await place.change({ "b.txt": "b\n" });
    const before = await on.twin.git(place.name, "rev-parse", "main");
    const repeated = repeats(place, "failure");
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "FAILED" });
    expect(repeated()).toBe(1);
    expect(await on.twin.git(place.name, "rev-parse", "main")).toBe(before);
    expect(on.twin.pulls(place.name)).toHaveLength(1);
    await untilTidy(place);
  });

  test("that fails by chance and passes when its check is repeated is merged", async () => {
    const place = await on.another(async () => "failure");
    const queue = await place.queue();
    const number = await place.change({ "b.txt": "b\n" });
    repeats(place, "success");
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
  });
});

/** The CI runs a check again when it is asked to, with this result. Answers how often it was. */
function repeats({ name }: Place, result: "success" | "failure"): () => number {
  let asked = 0;
  on.twin.onRerun(({ repository, sha, names }) => {
    if (repository !== name) return;
    asked += 1;
    for (const check of names) void on.twin.setCheckRun(name, sha, check, result, { again: true }).catch(() => {});
  });
  return () => asked;
}

describe("names that mean something elsewhere", () => {
  test("are only names: in titles, in branches, in the draft that shows them", async () => {
    const place = await on.another();
    const queue = await place.queue();
    const head = 'x$(touch${IFS}pwned);"`id`';
    const title = "`rm -rf /` $(id) [x](javascript:alert(1)) <img src=x onerror=alert(1)> \u202e @everyone";
    const wanted = { head, base: "main", title, files: { "b.txt": "b\n" } };
    const number = await on.twin.openPullRequest(place.name, wanted);
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    const [draft] = on.twin.pulls(place.name).filter((pull) => pull.number !== number);
    expect(`${draft?.title} ${draft?.body}`).not.toContain("rm -rf");
  });
});

describe("a GitHub", () => {
  test("that tells nothing at all is looked at by the sweep", async () => {
    on.twin.faults.clear();
    on.twin.faults.lose(10_000);
    const place = await on.another();
    const queue = await place.queue();
    const number = await place.change({ "b.txt": "b\n" });
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
  });
});
