import { afterEach, describe, expect, test } from "vitest";
import { NAME, type OnGitHub, onGitHub, type Wishes } from "../support/github-service.ts";

let github: OnGitHub | undefined;
const start = async (wishes?: Wishes): Promise<OnGitHub> => (github = await onGitHub(wishes));
afterEach(async () => {
  await github?.stop();
  github = undefined;
});

const files = async ({ twin }: OnGitHub): Promise<readonly string[]> =>
  (await twin.git(NAME, "ls-tree", "-r", "--name-only", "main")).split("\n");
const ownBranches = async ({ twin }: OnGitHub): Promise<readonly string[]> =>
  (await twin.branches(NAME)).filter((branch) => branch.startsWith("mainline/"));

describe("a pull request on GitHub", () => {
  test.each(["merge_commit", "squash", "rebase"])(
    "that passes on its testing branch is merged, by %s, and nothing is left behind",
    async (mergeMethod) => {
      const on = await start();
      const queue = await on.queue({ mergeMethod });
      const number = await on.change({ "b.txt": "b\n" });
      await queue.submit(number);
      expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
      expect(await files(on)).toEqual(["a.txt", "b.txt"]);
      expect(on.twin.pull(NAME, number).merged).not.toBeNull();
      const others = on.twin.pulls(NAME).filter((pull) => pull.number !== number);
      expect(others).toMatchObject([{ draft: true }]);
      await expect.poll(() => ownBranches(on), { timeout: 20_000 }).toEqual([]);
      await expect.poll(() => on.twin.pull(NAME, others[0]?.number ?? 0).state, { timeout: 20_000 }).toBe("closed");
    },
  );

  test("whose check fails, and fails again when it is repeated, is FAILED, and the target does not move", async () => {
    const on = await start({ ci: async () => "failure" });
    const queue = await on.queue({ createPrsForTestingBranches: false });
    const number = await on.change({ "b.txt": "b\n" });
    const before = await on.twin.git(NAME, "rev-parse", "main");
    repeats(on, "failure");
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "FAILED" });
    expect(on.twin.counts.of(RERUN)).toBe(1);
    expect(await on.twin.git(NAME, "rev-parse", "main")).toBe(before);
    expect(on.twin.pulls(NAME)).toHaveLength(1);
    await expect.poll(() => ownBranches(on), { timeout: 20_000 }).toEqual([]);
  });

  test("that fails by chance and passes when its check is repeated is merged", async () => {
    const on = await start({ ci: async () => "failure" });
    const queue = await on.queue();
    const number = await on.change({ "b.txt": "b\n" });
    repeats(on, "success");
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
  });
});

const RERUN = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs";

/** The CI runs a check again when it is asked to, with this result. */
function repeats({ twin }: OnGitHub, result: "success" | "failure"): void {
  let seen = 0;
  const look = setInterval(() => {
    const again = twin.counts.of(RERUN);
    if (again <= seen) return;
    seen = again;
    void rerun().catch(() => {});
  }, 50);
  look.unref();
  const rerun = async (): Promise<void> => {
    const branch = (await twin.branches(NAME)).find((name) => name.startsWith("mainline/"));
    if (branch === undefined) return;
    await twin.setCheckRun(NAME, await twin.git(NAME, "rev-parse", branch), "unit", result, { again: true });
  };
}

describe("several pull requests on GitHub", () => {
  test.each(["merge_commit", "squash"])("land in order, by %s, each on top of those ahead", async (mergeMethod) => {
    const on = await start();
    const queue = await on.queue({ mergeMethod });
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await on.change({ [`${name}.txt`]: `${name}\n` }));
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    expect(await files(on)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    expect((await queue.view()).stateReason ?? "").not.toContain("MISMATCH");
  });

  test("are tested as one batch, on one branch, and land together", async () => {
    const on = await start();
    const queue = await on.queue({ batch: true, batchingMinSize: 3, concurrency: 1 });
    const numbers = [];
    for (const name of ["b", "c", "d"]) numbers.push(await on.change({ [`${name}.txt`]: `${name}\n` }));
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    expect(on.twin.pulls(NAME).filter((pull) => pull.draft)).toHaveLength(1);
    expect(await files(on)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
  });
});

describe("a GitHub that misbehaves", () => {
  test.each(["merge_commit", "squash"])(
    "costs time, and nothing else: lost answers, errors, limits; by %s",
    async (mergeMethod) => {
      const on = await start();
      const queue = await on.queue({ mergeMethod });
      const one = await on.change({ "b.txt": "b\n" });
      const two = await on.change({ "c.txt": "c\n" });
      const { faults } = on.twin;
      faults.loseAnswers(1, /^POST .*\/merges$/u);
      faults.loseAnswers(1, /^(?:PATCH .*heads(?:\/|%2F)main|PUT .*\/merge)$/u);
      faults.fail(1, 502, /^POST .*\/refs$/u);
      faults.fail(1, 500, /^POST .*\/pulls$/u);
      faults.rateLimit({ kind: "SECONDARY", seconds: 1, match: /check-runs$/u });
      faults.lose(3);
      faults.double(3);
      faults.reorder(2);
      await queue.submit(one);
      await queue.submit(two);
      for (const number of [one, two])
        await expect
          .poll(async () => (await queue.get(number)).state, { timeout: 110_000, interval: 500 })
          .toBe("MERGED");
      expect(await files(on)).toEqual(["a.txt", "b.txt", "c.txt"]);
      const subjects = await on.twin.git(NAME, "log", "--first-parent", "--format=%s", "main");
      expect(subjects.split("\n")).toHaveLength(3);
    },
    150_000,
  );

  test("that tells nothing at all is looked at by the sweep", async () => {
    const on = await start({ hears: false });
    const queue = await on.queue();
    const number = await on.change({ "b.txt": "b\n" });
    await queue.submit(number);
    await expect.poll(async () => (await queue.get(number)).state, { timeout: 55_000 }).toBe("MERGED");
  });
});

describe("names that mean something elsewhere", () => {
  test("are only names: in titles, in branches, in the draft that shows them", async () => {
    const on = await start();
    const queue = await on.queue();
    const head = 'x$(touch${IFS}pwned);"`id`';
    const title = "`rm -rf /` $(id) [x](javascript:alert(1)) <img src=x onerror=alert(1)> \u202e @everyone";
    const number = await on.twin.openPullRequest(NAME, { head, base: "main", title, files: { "b.txt": "b\n" } });
    await queue.submit(number);
    expect(await queue.ends(number)).toMatchObject({ state: "MERGED" });
    const [draft] = on.twin.pulls(NAME).filter((pull) => pull.number !== number);
    expect(`${draft?.title} ${draft?.body}`).not.toContain("rm -rf");
  });
});
