/** A sample repository, bare, as a team's git server has it, and its authors' clone, from which they push. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { git, type Person } from "./run.ts";
import type { Files, Sample, SamplePullRequest } from "./scene.ts";

export const BRANCH = "main";

export type Repo = { readonly host: string; readonly owner: string; readonly name: string };
export const repoOf = ({ name }: Sample, host: string): Repo => ({ host, owner: "demo", name });

export type DemoRepository = {
  readonly bare: string;
  /** Where a pull request's author pushes it. */
  readonly headRef: (number: number) => string;
  /** The commit that the target branch points to now. */
  readonly tip: () => Promise<string>;
  /** The commits that the target branch has been at, oldest first. */
  readonly commits: () => Promise<readonly string[]>;
  /** The commit that a pull request's branch points to now. */
  readonly head: (number: number) => Promise<string>;
  /** Where the target branch was moved to, oldest first, as git itself wrote it down. */
  readonly movements: () => Promise<readonly string[]>;
  /** The subjects of what such a range put onto its beginning, one by one, oldest first. */
  readonly subjects: (range: string) => Promise<readonly string[]>;
  /** The author of a pull request rebases it, which stops in a conflict, settles that with these files, and pushes it. */
  readonly rebase: (one: SamplePullRequest, resolution: Files) => Promise<void>;
};

const headRef = (number: number): string => `refs/pull/${number}/head`;

async function write(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

async function commit(clone: string, message: string, person?: Person): Promise<void> {
  await git(clone, ["add", "--all"]);
  await git(clone, ["commit", "--quiet", "--message", message], person);
}

async function open(clone: string, { number, title, author, files }: SamplePullRequest): Promise<void> {
  await git(clone, ["switch", "--quiet", "--create", `pr-${number}`, BRANCH]);
  await write(clone, files);
  await commit(clone, title, author);
}

/** The conflict is real: the rebase has to stop there, or the sample is not what it says. */
async function rebase(
  clone: string,
  ref: string,
  { number, author }: SamplePullRequest,
  resolution: Files,
): Promise<void> {
  await git(clone, ["fetch", "--quiet", "origin", BRANCH]);
  await git(clone, ["switch", "--quiet", `pr-${number}`]);
  const stopped = await git(clone, ["rebase", `origin/${BRANCH}`], author).then(
    () => false,
    () => true,
  );
  if (!stopped) throw new Error(`#${number} was to conflict with ${BRANCH}, and does not`);
  await write(clone, resolution);
  await git(clone, ["add", "--all"]);
  await git(clone, ["rebase", "--continue"], author);
  await git(clone, ["push", "--quiet", "--force", "origin", `HEAD:${ref}`]);
}

const lines = (text: string): readonly string[] => (text === "" ? [] : text.split("\n"));

export async function makeRepository(repositories: string, authors: string, sample: Sample): Promise<DemoRepository> {
  const { owner, name } = repoOf(sample, "");
  const bare = join(repositories, owner, `${name}.git`);
  const clone = join(authors, name);
  await mkdir(clone, { recursive: true });
  await mkdir(dirname(bare), { recursive: true });
  await git(clone, ["init", "--quiet", `--initial-branch=${BRANCH}`]);
  await write(clone, sample.base);
  await commit(clone, sample.subject);
  await git(clone, ["clone", "--quiet", "--bare", clone, bare]);
  await git(clone, ["remote", "add", "origin", bare]);
  return push(bare, clone, sample, headRef);
}

/** The pull requests are made in a clone, and pushed to where the host wants them. */
export async function push(
  bare: string,
  clone: string,
  sample: Sample,
  refOf: (number: number) => string,
): Promise<DemoRepository> {
  await git(bare, ["config", "core.logAllRefUpdates", "always"]);
  for (const one of sample.pullRequests) await open(clone, one);
  const refs = sample.pullRequests.map(({ number }) => `pr-${number}:${refOf(number)}`);
  await git(clone, ["push", "--quiet", "origin", ...refs]);
  return {
    bare,
    headRef: refOf,
    tip: () => git(bare, ["rev-parse", `refs/heads/${BRANCH}`]),
    commits: async () => lines(await git(bare, ["rev-list", "--first-parent", "--reverse", BRANCH])),
    head: (number) => git(bare, ["rev-parse", headRef(number)]),
    movements: async () => lines(await git(bare, ["reflog", "show", "--format=%H", BRANCH])).toReversed(),
    subjects: async (range) => lines(await git(bare, ["log", "--first-parent", "--reverse", "--format=%s", range])),
    rebase: (one, resolution) => rebase(clone, refOf(one.number), one, resolution),
  };
}
