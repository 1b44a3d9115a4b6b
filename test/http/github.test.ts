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
});
