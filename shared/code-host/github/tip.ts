/** The target branch: where it is, what it requires, and which heads have come into it. */
import { type CommitSha, commitSha, treeSha } from "../../kernel/ids.ts";
import type { Tip } from "../../queue/engine/types.ts";
import { CONFIG_FILE, type ConfigRead, parseConfigFile } from "../git/config-file.ts";
import { isBranchName } from "../git/names.ts";
import { Answered } from "./client.ts";
import { commitsBetween, type Place, requireRepository, unless } from "./place.ts";

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
    tip: await tipOf(place, branch, { sha, tree: treeSha(commit.commit.tree.sha) }, classicOf(found)),
    reached: await reachedBy(place, sha, since, heads),
  };
}

/** The tip as it is at a commit that need not be where the branch is now. */
export async function tipAt(place: Place, branch: string, at: Pick<Tip, "sha" | "tree">): Promise<Tip> {
  return tipOf(place, branch, at, classicOf(await readBranch(place, branch)));
}

type Branch = Awaited<ReturnType<typeof getBranch>>["data"];

const getBranch = ({ ask, at }: Place, branch: string) =>
  ask("GET /repos/{owner}/{repo}/branches/{branch}", { ...at, branch });

/** Whoever asks for a branch that was renamed, or for a `master` that is gone, is led to another one: that is not it. */
async function readBranch(place: Place, branch: string): Promise<Branch | undefined> {
  const found = await unless([404], () => getBranch(place, branch));
  return found?.data.name === branch ? found.data : undefined;
}

const classicOf = (branch: Branch | undefined): readonly string[] =>
  branch?.protection?.required_status_checks?.contexts ?? [];

async function tipOf(
  place: Place,
  branch: string,
  at: Pick<Tip, "sha" | "tree">,
  classic: readonly string[],
): Promise<Tip> {
  const read = await readConfig(place, at.sha);
  if (read.kind === "PROBLEM") return { ...at, required: null, configProblem: read.what };
  const config = read.kind === "READ" ? read.config : undefined;
  const targets = config?.targets === undefined ? {} : { targetsFromPaths: true };
  const own = config?.requiredStatuses ?? [];
  if (own.length > 0)
    return { ...at, required: { source: "CONFIG_FILE", statuses: own }, configProblem: null, ...targets };
  const statuses = [...new Set([...classic, ...(await ruled(place, branch))])];
  const required = statuses.length === 0 ? null : ({ source: "BRANCH_PROTECTION", statuses } as const);
  return { ...at, required, configProblem: null, ...targets };
}

const RULES_PER_PAGE = 100;

/** How GitHub refuses what the account's plan does not have: rulesets of private repositories are one such thing. */
const UPGRADE = /upgrade to github/iu;

const hasNoRulesets = (error: unknown): boolean =>
  error instanceof Answered && (error.status === 404 || (error.status === 403 && UPGRADE.test(error.said)));

/** What the rulesets that hold for the branch require. Any other refusal says nothing of them. */
async function ruled({ ask, at }: Place, branch: string): Promise<readonly string[]> {
  const asked = { ...at, branch, per_page: RULES_PER_PAGE };
  const found = await ask("GET /repos/{owner}/{repo}/rules/branches/{branch}", asked).catch((error: unknown) => {
    if (hasNoRulesets(error)) return undefined;
    throw error;
  });
  return (found?.data ?? []).flatMap((rule) =>
    rule.type === "required_status_checks"
      ? (rule.parameters?.required_status_checks ?? []).map((one) => one.context)
      : [],
  );
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
