/** The target branch: where it is, what it requires, and which heads have come into it. */
import type { CommitSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import type { Tip } from "../../queue/engine/types.ts";
import { type ConfigRead, readConfigFile } from "./config-file.ts";
import { isBranchName } from "./names.ts";
import { commitsBetween, readCommit } from "./objects.ts";
import { readRef } from "./refs.ts";
import type { Repository } from "./repository.ts";

export async function readTip(
  repo: Repository,
  branch: string,
  since: CommitSha | null,
  heads: readonly CommitSha[],
): Promise<{ readonly tip: Tip; readonly reached: readonly CommitSha[] } | "MISSING"> {
  const sha = await targetSha(repo, branch);
  if (sha === undefined) return "MISSING";
  return { tip: await tipAt(repo, sha), reached: await reachedBy(repo, sha, since, heads) };
}

export async function targetSha(repo: Repository, branch: string): Promise<CommitSha | undefined> {
  return isBranchName(branch) ? readRef(repo, `refs/heads/${branch}`) : undefined;
}

/** The tip as it is at this commit, which need not be where the branch is now. */
export async function tipAt(repo: Repository, sha: CommitSha): Promise<Tip> {
  const commit = await readCommit(repo.objects, sha);
  if (commit === undefined) throw new HostUnavailable(`commit ${sha} of the target branch cannot be read`);
  return { sha, tree: commit.tree, ...saidBy(await readConfigFile(repo.objects, sha)) };
}

function saidBy(read: ConfigRead): Omit<Tip, "sha" | "tree"> {
  if (read.kind === "NONE") return { required: null, configProblem: null };
  if (read.kind === "PROBLEM") return { required: null, configProblem: read.what };
  const statuses = read.config.requiredStatuses ?? [...read.config.checks.keys()];
  return {
    required: statuses.length === 0 ? null : { source: "CONFIG_FILE", statuses },
    configProblem: null,
    ...(read.config.targets === undefined ? {} : { targetsFromPaths: true }),
  };
}

/** Heads among the commits that the branch gained. Nothing is claimed when its earlier place is unknown or gone. */
async function reachedBy(
  repo: Repository,
  sha: CommitSha,
  since: CommitSha | null,
  heads: readonly CommitSha[],
): Promise<readonly CommitSha[]> {
  if (since === null || since === sha || heads.length === 0) return [];
  const gained = new Set(await commitsBetween(repo.objects, since, sha));
  return heads.filter((head) => gained.has(head));
}
