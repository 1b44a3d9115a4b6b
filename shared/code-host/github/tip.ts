/** The target branch: where it is, what it requires, and which heads have come into it. */
import { type CommitSha, commitSha, treeSha } from "../../kernel/ids.ts";
import type { Tip } from "../../queue/engine/types.ts";
import { CONFIG_FILE, type ConfigRead, parseConfigFile } from "../git/config-file.ts";
import { isBranchName } from "../git/names.ts";
import { commitsBetween, type Place, requireRepository, unless } from "./place.ts";
import { type Branch, readBranch, requiredBy } from "./required.ts";

export async function readTip(
  place: Place,
  branch: string,
  since: CommitSha | null,
  heads: readonly CommitSha[],
): Promise<{ readonly tip: Tip; readonly reached: readonly CommitSha[] } | "MISSING"> {
  const found = isBranchName(branch) ? await readBranch(place, branch) : undefined;
  if (found === undefined) {
    await requireRepository(place);
    return "MISSING";
  }
  const { commit } = found;
  const sha = commitSha(commit.sha);
  return {
    tip: await tipOf(place, branch, { sha, tree: treeSha(commit.commit.tree.sha) }, found),
    reached: await reachedBy(place, sha, since, heads),
  };
}

/** The tip as it is at a commit that need not be where the branch is now. */
export async function tipAt(place: Place, branch: string, at: Pick<Tip, "sha" | "tree">): Promise<Tip> {
  return tipOf(place, branch, at, await readBranch(place, branch));
}

async function tipOf(
  place: Place,
  branch: string,
  at: Pick<Tip, "sha" | "tree">,
  found: Branch | undefined,
): Promise<Tip> {
  const read = await readConfig(place, at.sha);
  if (read.kind === "PROBLEM") return { ...at, required: null, configProblem: read.what };
  const config = read.kind === "READ" ? read.config : undefined;
  const targets = config?.targets === undefined ? {} : { targetsFromPaths: true };
  const own = config?.requiredStatuses ?? [];
  if (own.length > 0)
    return { ...at, required: { source: "CONFIG_FILE", statuses: own }, configProblem: null, ...targets };
  const statuses = [...new Set((await requiredBy(place, branch, found)).map((one) => one.context))];
  const required = statuses.length === 0 ? null : ({ source: "BRANCH_PROTECTION", statuses } as const);
  return { ...at, required, configProblem: null, ...targets };
}

export async function readConfig({ ask, at }: Place, commit: CommitSha): Promise<ConfigRead> {
  const found = await unless([404], () =>
    ask("GET /repos/{owner}/{repo}/contents/{path}", { ...at, path: CONFIG_FILE, ref: commit }),
  );
  if (found === undefined) return { kind: "NONE" };
  const { data } = found;
  // A folder is a list; a file above a megabyte comes without its content.
  if (Array.isArray(data) || data.type !== "file") return { kind: "PROBLEM", what: `${CONFIG_FILE} is not a file` };
  if (!("content" in data) || data.encoding !== "base64")
    return { kind: "PROBLEM", what: `${CONFIG_FILE} is too large` };
  return parseConfigFile(Buffer.from(data.content, "base64"));
}

/** Heads among the commits that the branch gained. Nothing is claimed when its earlier place is unknown or gone. */
async function reachedBy(
  place: Place,
  sha: CommitSha,
  since: CommitSha | null,
  heads: readonly CommitSha[],
): Promise<readonly CommitSha[]> {
  if (since === null || since === sha || heads.length === 0) return [];
  const gained = new Set(await commitsBetween(place, since, sha));
  return heads.filter((head) => gained.has(head));
}
