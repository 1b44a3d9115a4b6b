/**
 * What plain git cannot say about a pull request: `npm run pr -- open|close|draft|ready|retarget <n> [<branch>]`.
 * The rest of a pull request is its ref: `git push origin HEAD:refs/pull/<n>/head`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createGit } from "../../shared/code-host/git/git.ts";
import { headRef, isBranchName } from "../../shared/code-host/git/names.ts";
import { forgetMerged, type Pull, readPull, writePull } from "../../shared/code-host/git/pulls.ts";
import { readRef } from "../../shared/code-host/git/refs.ts";
import { createRepositories, type Repository } from "../../shared/code-host/git/repository.ts";
import { HostUnavailable } from "../../shared/code-host/port.ts";
import { repoKey } from "../../shared/kernel/ids.ts";

const USAGE = `Usage: npm run pr -- <command> <number> [options]

  open <n>                reopens a pull request that was closed
  close <n>               closes it: it leaves the queue
  draft <n>               makes it a draft: it is not admitted
  ready <n>               ends that
  retarget <n> <branch>   changes the branch it is to be merged into

  --repo <owner>/<name>   which repository; not needed when there is only one
  --repositories <folder> where they are (.data/repositories)

A pull request is made, and pushed to, with git: git push origin HEAD:refs/pull/<n>/head`;

const COMMANDS = ["open", "close", "draft", "ready", "retarget"] as const;
type Command = (typeof COMMANDS)[number];

/** Something the caller can put right; said without a stack. */
class Mistake extends Error {}

type Say = (line: string) => void;

/** Answers the exit status. */
export async function main(argv: readonly string[], say: Say, complain: Say): Promise<number> {
  try {
    const asked = parse(argv);
    if (asked === "help") say(USAGE);
    else say(await withRepository(asked.folder, asked.repo, (repo) => perform(repo, asked)));
    return 0;
  } catch (error) {
    if (!(error instanceof Mistake || error instanceof HostUnavailable)) throw error;
    complain(error.message);
    return 1;
  }
}

type Asked = {
  readonly command: Command;
  readonly prNumber: number;
  readonly branch: string | undefined;
  readonly repo: string | undefined;
  readonly folder: string;
};

function parse(argv: readonly string[]): Asked | "help" {
  const { values, positionals } = options(argv);
  if (values.help === true || positionals.length === 0) return "help";
  const [word, digits, branch, ...rest] = positionals;
  const command = COMMANDS.find((each) => each === word);
  if (command === undefined) throw new Mistake(`There is no command "${word}".\n\n${USAGE}`);
  if (digits === undefined || !/^[1-9]\d{0,9}$/u.test(digits))
    throw new Mistake(`${command} needs the number of a pull request, for example: npm run pr -- ${command} 7`);
  if ((command === "retarget") !== (branch !== undefined) || rest.length > 0)
    throw new Mistake(command === "retarget" ? "retarget needs one branch." : `${command} takes a number only.`);
  if (branch !== undefined && !isBranchName(branch)) throw new Mistake(`"${branch}" is not a branch name.`);
  return { command, prNumber: Number(digits), branch, repo: values.repo, folder: values.repositories };
}

function options(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        repo: { type: "string" },
        repositories: { type: "string", default: ".data/repositories" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new Mistake(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

async function withRepository<T>(
  folder: string,
  name: string | undefined,
  use: (repo: Repository) => Promise<T>,
): Promise<T> {
  const work = await mkdtemp(join(tmpdir(), "mainline-pr-"));
  try {
    const repositories = await createRepositories(folder, "git.local", work, createGit(work));
    const there = await repositories.list().catch(() => {
      throw new Mistake(`The folder ${folder} cannot be read. Say where the repositories are: --repositories <folder>`);
    });
    const [only] = there;
    if (name === undefined && (there.length !== 1 || only === undefined))
      throw new Mistake(`${folder} holds ${there.length} repositories. Say which one: --repo <owner>/<name>`);
    const [owner = "", repo = "", more] = (name ?? `${only?.owner}/${only?.name}`).split("/");
    if (more !== undefined || repo === "") throw new Mistake(`"${name}" is not <owner>/<name>.`);
    return await use(await repositories.open(repoKey({ host: "git.local", owner, name: repo })));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function perform(repo: Repository, { command, prNumber, branch }: Asked): Promise<string> {
  if ((await readRef(repo, headRef(prNumber))) === undefined)
    throw new Mistake(
      `There is no pull request ${prNumber} in ${repo.key.owner}/${repo.key.name}. ` +
        `Make it with: git push origin HEAD:${headRef(prNumber)}`,
    );
  const before = await readPull(repo.dir, prNumber);
  const after = changed(before, command, branch);
  await writePull(repo.dir, prNumber, after);
  // One that landed counts as merged as long as its head is the same; opening it is saying that it is not.
  if (command === "open") await forgetMerged(repo.dir, prNumber);
  const into = after.base === null ? "the default branch" : after.base;
  return `#${prNumber} is ${after.state}${after.draft ? ", a draft" : ""}, into ${into}.`;
}

function changed(pull: Pull, command: Command, branch: string | undefined): Pull {
  switch (command) {
    case "open":
      return { ...pull, state: "open" };
    case "close":
      return { ...pull, state: "closed" };
    case "draft":
      return { ...pull, draft: true };
    case "ready":
      return { ...pull, draft: false };
    case "retarget":
      return { ...pull, base: branch ?? pull.base };
  }
}

if (import.meta.main)
  process.exitCode = await main(
    process.argv.slice(2),
    (line) => console.log(line),
    (line) => console.error(line),
  );
