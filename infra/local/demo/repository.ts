/** The sample repository, bare, as a team's git server has it, and its authors' clone, from which they push. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { git, type Person } from "./run.ts";
import { BASE, PR, PULL_REQUESTS, RESOLUTION, type SamplePullRequest } from "./sample.ts";

export const REPO = { host: "git.local", owner: "demo", name: "bakery" } as const;
export const BRANCH = "main";

export type DemoRepository = {
  readonly bare: string;
  /** The commit that the target branch points to now. */
  readonly tip: () => Promise<string>;
  /** The author of the conflicting pull request rebases it, settles the conflict, and pushes it. */
  readonly rebase: () => Promise<void>;
};

const headRef = (number: number): string => `refs/pull/${number}/head`;

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
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
async function rebase(clone: string): Promise<void> {
  const number = PR.conflicting.behind;
  const author = PULL_REQUESTS.find((one) => one.number === number)?.author;
  await git(clone, ["fetch", "--quiet", "origin", BRANCH]);
  await git(clone, ["switch", "--quiet", `pr-${number}`]);
  const stopped = await git(clone, ["rebase", `origin/${BRANCH}`], author).then(
    () => false,
    () => true,
  );
  if (!stopped) throw new Error(`#${number} was to conflict with ${BRANCH}, and does not`);
  await write(clone, RESOLUTION);
  await git(clone, ["add", "--all"]);
  await git(clone, ["rebase", "--continue"], author);
  await git(clone, ["push", "--quiet", "--force", "origin", `HEAD:${headRef(number)}`]);
}

export async function makeRepository(repositories: string, clone: string): Promise<DemoRepository> {
  const bare = join(repositories, REPO.owner, `${REPO.name}.git`);
  await mkdir(clone, { recursive: true });
  await mkdir(dirname(bare), { recursive: true });
  await git(clone, ["init", "--quiet", `--initial-branch=${BRANCH}`]);
  await write(clone, BASE);
  await commit(clone, "A bakery's till");
  await git(clone, ["clone", "--quiet", "--bare", clone, bare]);
  await git(clone, ["remote", "add", "origin", bare]);
  for (const one of PULL_REQUESTS) await open(clone, one);
  const refs = PULL_REQUESTS.map(({ number }) => `pr-${number}:${headRef(number)}`);
  await git(clone, ["push", "--quiet", "origin", ...refs]);
  return {
    bare,
    tip: () => git(bare, ["rev-parse", `refs/heads/${BRANCH}`]),
    rebase: () => rebase(clone),
  };
}
