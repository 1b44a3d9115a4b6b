/** Impacted targets of a commit: the config file at the target's tip says which paths belong to which. */
import { setImmediate as breath } from "node:timers/promises";
import { globOf, partsOf } from "../../kernel/glob.ts";
import type { CommitSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { CONFIG_FILE, type ConfigFile, readConfigFile } from "./config-file.ts";
import { type Git, gitTrouble } from "./git.ts";
import { areCommits } from "./objects.ts";
import type { Repository } from "./repository.ts";
import { targetSha } from "./tip.ts";

const MOST_PATHS = 20_000;
const MOST_PATH_BYTES = 4 * 1024 * 1024;

export async function targetsOfPaths(
  repo: Repository,
  head: CommitSha,
  branch: string,
): Promise<"ALL" | readonly string[]> {
  const tip = await targetSha(repo, branch);
  if (tip === undefined) throw new HostUnavailable(`there is no branch ${branch} to compare with`);
  const [isHere] = await areCommits(repo.objects, [head]);
  if (isHere !== true) throw new HostUnavailable(`commit ${head} is not in the repository`);
  const read = await readConfigFile(repo.objects, tip);
  if (read.kind !== "READ" || read.config.targets === undefined) return "ALL";
  const paths = await changedPaths(repo.objects, tip, head);
  return paths === undefined ? "ALL" : targetsOf(paths, read.config.targets);
}

/**
 * Paths that the commit changes since it left the branch, of a rename both; undefined where they are too many, or where
 * it left the branch in no place or in several.
 */
async function changedPaths(git: Git, tip: CommitSha, head: CommitSha): Promise<readonly string[] | undefined> {
  const bases = await git(["merge-base", "--all", "--end-of-options", tip, head]);
  const [base, ...others] = bases.out.toString("utf8").split("\n").filter(Boolean);
  if (base === undefined || others.length > 0) return undefined;
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", base, head];
  const answer = await git(args, { capBytes: MOST_PATH_BYTES });
  if (answer.truncated) return undefined;
  if (answer.code !== 0) throw new HostUnavailable(gitTrouble(args, answer));
  const paths = answer.out.toString("utf8").split("\0").filter(Boolean);
  return paths.length > MOST_PATHS ? undefined : paths;
}

/** As an upload would say it. */
const ALL = /^(?:IMPACTS_)?ALL$/iu;
/** A large change against a large mapping takes seconds: others get their turn in between. */
const TURN_MS = 10;
const GLOBS_AT_ONCE = 16;

/** Whoever changes what belongs to what changes all. */
export async function targetsOf(
  paths: readonly string[],
  mapping: NonNullable<ConfigFile["targets"]>,
): Promise<"ALL" | readonly string[]> {
  const globs = [...mapping].flatMap(([target, patterns]) => patterns.map((one) => ({ target, glob: globOf(one) })));
  const found = new Set<string>();
  let turnEnds = performance.now() + TURN_MS;
  for (const path of paths) {
    const parts = partsOf(path);
    let belongs = false;
    for (const [at, { target, glob }] of globs.entries()) {
      if (at % GLOBS_AT_ONCE === 0 && performance.now() > turnEnds) {
        await breath();
        turnEnds = performance.now() + TURN_MS;
      }
      // Once the path has its place, only a target that is new is worth a look.
      if ((belongs && found.has(target)) || !glob(parts)) continue;
      belongs = true;
      found.add(target);
    }
    if (!belongs || path === CONFIG_FILE) return "ALL";
  }
  return [...found].some((target) => ALL.test(target)) ? "ALL" : [...found];
}
