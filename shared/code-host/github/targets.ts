/** Impacted targets of a commit: the config file at the target's tip says which paths belong to which. */
import type { CommitSha } from "../../kernel/ids.ts";
import { targetsOf } from "../git/targets.ts";
import { HostUnavailable } from "../port.ts";
import { branchSha, changedPaths, type Place, readCommit } from "./place.ts";
import { readConfig } from "./tip.ts";

export async function targetsOfPaths(
  place: Place,
  head: CommitSha,
  branch: string,
): Promise<"ALL" | readonly string[]> {
  const tip = await branchSha(place, branch);
  if (tip === undefined) throw new HostUnavailable(`there is no branch ${branch} to compare with`);
  if ((await readCommit(place, head)) === undefined)
    throw new HostUnavailable(`commit ${head} is not in the repository`);
  const read = await readConfig(place, tip);
  if (read.kind !== "READ" || read.config.targets === undefined) return "ALL";
  const paths = await changedPaths(place, tip, head);
  return paths === undefined ? "ALL" : targetsOf(paths, read.config.targets);
}
