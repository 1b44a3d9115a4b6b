import { afterEach, describe, expect, test } from "vitest";
import { NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";

let github: OnGitHub | undefined;
afterEach(async () => {
  await github?.stop();
  github = undefined;
});

const ownBranch = async ({ twin }: OnGitHub, name: string): Promise<string | undefined> =>
  (await twin.branches(name)).find((branch) => branch.startsWith("mainline/"));

/** A pull request whose test waits for CI. */
async function tested(on: OnGitHub) {
  const queue = await on.queue();
  const number = await on.change({ "b.txt": "b\n" });
  await queue.submit(number);
  await on.poll(() => ownBranch(on, NAME)).toBeDefined();
  await on.poll(async () => (await queue.get(number)).state).toBe("TESTING");
  return { queue, number };
}

async function passesAt(on: OnGitHub, name: string): Promise<void> {
  const branch = (await ownBranch(on, name)) ?? "";
  await on.twin.setCheckRun(name, await on.twin.git(name, "rev-parse", branch), "unit", "success");
}

describe("a repository that is renamed while a pull request is tested", () => {
  test.each([
    ["whose webhooks are heard", true],
    ["whose webhooks are all lost", false],
  ])("%s goes on under its new name; a stranger's under the former name is left alone", async (_how, hears) => {
    const on = (github = await onGitHub({ hears, ci: async () => null }));
    const { queue, number } = await tested(on);
    await on.twin.rename(NAME, "better");
    await on.twin.addRepository(NAME, { files: { "theirs.txt": "1\n" } });
    const theirs = await on.twin.git(NAME, "for-each-ref");
    await passesAt(on, "acme/better");
    const state = async () => (await queue.get(number)).state;
    await on.poll(state).toBe("MERGED");
    expect(await on.twin.git("acme/better", "ls-tree", "--name-only", "main")).toBe("a.txt\nb.txt");
    await on.poll(() => ownBranch(on, "acme/better")).toBeUndefined();
    expect(await on.twin.git(NAME, "for-each-ref")).toBe(theirs);
  });
});

test("a repository that is handed over to an account that is not linked says so, and harms nobody", async () => {
  const on = (github = await onGitHub({ ci: async () => null }));
  const { queue, number } = await tested(on);
  const before = await on.twin.git(NAME, "rev-parse", "main");
  await passesAt(on, NAME);
  await on.poll(async () => (await queue.get(number)).state).toBe("MERGED");
  await on.twin.transfer(NAME, "globex");
  const next = await on.twin.openPullRequest("globex/app", { head: "next", base: "main", files: { "c.txt": "c\n" } });
  await queue.submit(next);
  const said = async () => (await queue.explain(next)).blockers.map((one) => one.kind);
  await on.poll(said).toContain("HOST_NOT_CONNECTED");
  expect(before).not.toBe("");
});
