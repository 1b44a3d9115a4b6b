/** What was built once is not built again, and is the same as if it were. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildStack, type Memory } from "../../../shared/code-host/git/build.ts";
import { createGit, type Git } from "../../../shared/code-host/git/git.ts";
import { createRepositories } from "../../../shared/code-host/git/repository.ts";
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import type { Change } from "../../../shared/queue/engine/types.ts";
import { aChange, aGitHost, type Fixture } from "./fixture.ts";

let f: Fixture;
let base: CommitSha;
let changes: readonly Change[];
let counted: string[];
let git: Git;
beforeEach(async () => {
  f = await aGitHost();
  base = f.repo.commit("main", { files: { a: "a" } });
  changes = [1, 2, 3, 4].map((at) => aChange(at, f.repo.pullRequest(at, { on: base, files: { [`${at}`]: "x" } })));
  counted = [];
  const plain = createGit("/nonexistent");
  const { open } = await createRepositories(f.repositories, "git.local", f.work, (args, options) => {
    counted.push(args.find((arg) => /^[a-z]/u.test(arg) && !arg.includes("=") && !arg.includes(".")) ?? "");
    return plain(args, options);
  });
  git = (await open(f.repo.key)).objects;
});
afterEach(() => f.dispose());

const merges = (): number => counted.filter((name) => name === "merge-tree").length;

describe.each(["SQUASH", "MERGE_COMMIT", "REBASE"] as const)("by %s", (method) => {
  test("each change is merged once, however many runs contain it, and the commits are the same", async () => {
    const memory: Memory = new Map();
    const stacks = [1, 2, 3, 4].map((size) => changes.slice(0, size));
    const remembered = [];
    for (const stack of stacks) remembered.push(await buildStack(git, method, base, stack, memory));
    expect(merges()).toBe(4);
    const anew = [];
    for (const stack of stacks) anew.push(await buildStack(git, method, base, stack));
    expect(remembered).toEqual(anew);
  });

  test("runs that are built at the same time share their merges", async () => {
    const memory: Memory = new Map();
    const stacks = [1, 2, 3, 4].map((size) => changes.slice(0, size));
    const built = await Promise.all(stacks.map((stack) => buildStack(git, method, base, stack, memory)));
    expect(built.every((answer) => answer.ok)).toBe(true);
    expect(merges()).toBe(4);
  });

  test("another title, date or order is another commit", async () => {
    const memory: Memory = new Map();
    const commits = new Set<string>();
    const [first, second] = changes;
    if (first === undefined || second === undefined) throw new Error("there are four");
    const stacks = [
      [first, second],
      [second, first],
      [{ ...first, date: second.date }, second],
    ];
    for (const stack of stacks) {
      const answer = await buildStack(git, method, base, stack, memory);
      if (answer.ok) commits.add(answer.value.commit);
    }
    expect(commits.size).toBe(3);
  });

  test("what was tidied away meanwhile is built again", async () => {
    const memory: Memory = new Map();
    const before = await buildStack(git, method, base, changes, memory);
    f.repo.git("prune", "--expire=now");
    expect(await buildStack(git, method, base, changes, memory)).toEqual(before);
    expect(merges()).toBe(8);
    if (before.ok) expect(f.repo.git("cat-file", "-t", before.value.commit)).toBe("commit");
  });
});
