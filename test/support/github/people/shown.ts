/** What people would see. */
import { latestRuns } from "../content/checks.ts";
import { requireRepository } from "../content/pulls.ts";
import type { CheckRun, Comment, Pull, Status, World } from "../world.ts";

export type Shown = {
  readonly pull: (repository: string, number: number) => Readonly<Pull>;
  readonly pulls: (repository: string) => readonly Readonly<Pull>[];
  /** Numbers of those that are open, drafts included. */
  readonly openPulls: (repository: string) => readonly number[];
  readonly comments: (repository: string, number: number) => readonly Readonly<Comment>[];
  readonly labels: (repository: string, number: number) => readonly string[];
  /** The newest of each name and suite, oldest first. */
  readonly checkRuns: (repository: string, sha: string) => readonly Readonly<CheckRun>[];
  readonly statuses: (repository: string, sha: string) => readonly Readonly<Status>[];
  readonly branches: (repository: string) => Promise<readonly string[]>;
  /** Git in the bare repository of a repository. */
  readonly git: (repository: string, ...args: readonly string[]) => Promise<string>;
};

export function createShown(world: World): Shown {
  const pull = (name: string, number: number): Pull => {
    const found = requireRepository(world, name).pulls.get(number);
    if (found === undefined) throw new Error(`${name} has no pull request ${number}`);
    return found;
  };
  const git: Shown["git"] = (name, ...args) => requireRepository(world, name).git.must(args);
  return {
    pull,
    git,
    pulls: (name) => [...requireRepository(world, name).pulls.values()],
    openPulls: (name) =>
      [...requireRepository(world, name).pulls.values()].filter((one) => one.state === "open").map((one) => one.number),
    comments: (name, number) => requireRepository(world, name).comments.filter((one) => one.number === number),
    labels: (name, number) => [...pull(name, number).labels],
    checkRuns: (name, sha) =>
      latestRuns(requireRepository(world, name).checkRuns.filter((run) => run.suite.sha === sha)),
    statuses: (name, sha) => requireRepository(world, name).statuses.filter((one) => one.sha === sha),
    branches: async (name) =>
      (await git(name, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")).split("\n").filter(Boolean),
  };
}
