import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OnGitHub, onGitHub, type Place } from "../support/github-service.ts";
import type { QueueClient } from "../support/service.ts";

/**
 * One service and one GitHub for all: each test has a repository of its own, and most wait most of the time. Together
 * they create more than GitHub lets an App create in a minute.
 */
let on: OnGitHub;
beforeAll(async () => {
  on = await onGitHub({ limits: "none" });
});
afterAll(() => on.stop());

const end = (queue: QueueClient, number: number) => queue.ends(number);

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
      expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
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
    expect(await end(queue, number)).toMatchObject({ state: "FAILED" });
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
    expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
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

describe("several pull requests on GitHub", () => {
  test.each(["merge_commit", "squash"])("land in order, by %s, each on top of those ahead", async (mergeMethod) => {
    const place = await on.another();
    const queue = await place.queue({ mergeMethod });
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await place.change({ [`${name}.txt`]: `${name}\n` }));
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
    expect(await files(place)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    expect((await queue.view()).stateReason ?? "").not.toContain("MISMATCH");
  });

  test("are tested as one batch, on one branch, and land together", async () => {
    const place = await on.another();
    const queue = await place.queue({ batch: true, batchingMinSize: 3, concurrency: 1 });
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await place.change({ [`${name}.txt`]: `${name}\n` }));
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
    expect(on.twin.pulls(place.name).filter((pull) => pull.draft)).toHaveLength(1);
    expect(await files(place)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
  });
});

describe("names that mean something elsewhere", () => {
  test("are only names: in titles, in branches, in the draft that shows them", async () => {
    const place = await on.another();
    const queue = await place.queue();
    const head = 'x$(touch${IFS}pwned);"`id`';
    const title = "`rm -rf /` $(id) [x](javascript:alert(1)) <img src=x onerror=alert(1)> \u202e @everyone";
    const wanted = { head, base: "main", title, files: { "b.txt": "b\n" } };
    const number = await on.twin.openPullRequest(place.name, wanted);
    await queue.submit(number);
    expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
    const [draft] = on.twin.pulls(place.name).filter((pull) => pull.number !== number);
    expect(`${draft?.title} ${draft?.body}`).not.toContain("rm -rf");
  });
});

describe("a GitHub that misbehaves", () => {
  test.each(["merge_commit", "squash"])(
    "costs time, and nothing else: lost answers, errors, limits; by %s",
    async (mergeMethod) => {
      const place = await on.another();
      const queue = await place.queue({ mergeMethod });
      const one = await place.change({ "b.txt": "b\n" });
      const two = await place.change({ "c.txt": "c\n" });
      await on.twin.settled();
      const { faults } = on.twin;
      const at = `/repos/${place.name}`;
      faults.loseAnswers(1, new RegExp(`^POST ${at}/merges$`, "u"));
      faults.loseAnswers(1, new RegExp(`^(?:PATCH ${at}/.*heads(?:/|%2F)main|PUT ${at}/.*/merge)$`, "u"));
      faults.fail(1, 502, new RegExp(`^POST ${at}/.*refs$`, "u"));
      faults.fail(1, 500, new RegExp(`^POST ${at}/pulls$`, "u"));
      faults.rateLimit({ kind: "SECONDARY", seconds: 1, match: new RegExp(`${at}/.*check-runs$`, "u") });
      faults.lose(3);
      faults.double(3);
      faults.reorder(2);
      await queue.submit(one);
      await queue.submit(two);
      for (const number of [one, two]) expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
      expect(await files(place)).toEqual(["a.txt", "b.txt", "c.txt"]);
      const subjects = await on.twin.git(place.name, "log", "--first-parent", "--format=%s", "main");
      expect(subjects.split("\n")).toHaveLength(3);
    },
  );
});

describe("a GitHub", () => {
  test("that tells nothing at all is looked at by the sweep", async () => {
    on.twin.faults.clear();
    on.twin.faults.lose(10_000);
    const place = await on.another();
    const queue = await place.queue();
    const number = await place.change({ "b.txt": "b\n" });
    await queue.submit(number);
    expect(await end(queue, number)).toMatchObject({ state: "MERGED" });
  });
});
