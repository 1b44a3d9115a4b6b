import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OnGitHub, onGitHub, type Place } from "../support/github-service.ts";

/** One service and one GitHub for all: each test has a repository of its own. */
let on: OnGitHub;
beforeAll(async () => {
  on = await onGitHub({ limits: "none" });
});
afterAll(() => on.stop());

const files = async ({ name }: Place): Promise<readonly string[]> =>
  (await on.twin.git(name, "ls-tree", "-r", "--name-only", "main")).split("\n");

describe("several pull requests on GitHub", () => {
  test.each(["merge_commit", "squash"])("land in order, by %s, each on top of those ahead", async (mergeMethod) => {
    const place = await on.another();
    const queue = await place.queue({ mergeMethod });
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await place.change({ [`${name}.txt`]: `${name}\n` }));
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    expect(await files(place)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    expect((await queue.view()).stateReason ?? "").not.toContain("MISMATCH");
  });

  test("are tested as one batch, on one branch, and land together", async () => {
    const place = await on.another();
    const queue = await place.queue({ batch: true, batchingMinSize: 3, concurrency: 1 });
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await place.change({ [`${name}.txt`]: `${name}\n` }));
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    expect(on.twin.pulls(place.name).filter((pull) => pull.draft)).toHaveLength(1);
    expect(await files(place)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
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
      for (const number of [one, two]) expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
      expect(await files(place)).toEqual(["a.txt", "b.txt", "c.txt"]);
      const subjects = await on.twin.git(place.name, "log", "--first-parent", "--format=%s", "main");
      expect(subjects.split("\n")).toHaveLength(3);
    },
  );
});
