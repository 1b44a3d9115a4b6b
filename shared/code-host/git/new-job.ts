/** Turns a request to build a run into a commit on its branch and the list of checks to run on it. */
import type { CommitSha } from "../../kernel/ids.ts";
import { type BuildRequest, HostUnavailable } from "../port.ts";
import { type BuildAnswer, buildStack, type Memory } from "./build.ts";
import { CONFIG_FILE, type ConfigRead, readConfigFile } from "./config-file.ts";
import type { Check, Job } from "./job.ts";
import { isBranchName, isRunName, OWN_BRANCHES } from "./names.ts";
import type { Passing } from "./points.ts";
import { readRef, setRef } from "./refs.ts";
import type { Repository } from "./repository.ts";

export type JobAnswer = { readonly ok: true; readonly value: Job } | Extract<BuildAnswer, { ok: false }>;

/** Nothing is on record yet when it returns: doing it again gives the same commit on the same branch. */
export async function newJob(
  repo: Repository,
  request: BuildRequest,
  memory: Memory,
  passing: Passing,
): Promise<JobAnswer> {
  const ref = `refs/heads/${request.branch}`;
  if (!isRunName(request.run) || !isBranchName(request.branch) || !ref.startsWith(OWN_BRANCHES))
    throw new HostUnavailable(`run ${request.run} and branch ${request.branch} are not names that can be used here`);
  const stack = await buildStack(repo.objects, request.mergeMethod, request.base, request.changes, memory);
  if (!stack.ok) return stack;
  const config = await readConfigFile(repo.objects, stack.value.commit);
  // The branch keeps the commit from being collected while the run lives.
  await setTestingBranch(repo, ref, stack.value.commit);
  passing("host:branch-made");
  const { run, branch, base, changes, required } = request;
  return {
    ok: true,
    value: {
      run,
      branch,
      base,
      ...stack.value,
      repo: repo.key,
      prNumbers: changes.map((change) => change.prNumber),
      repeats: 0,
      checks: checksOf(config, required),
      broken: null,
      closedAt: null,
      branchGone: false,
    },
  };
}

/** git keeps no branch beside others below it: where one has our prefix for its name, none of ours can be made. */
async function setTestingBranch(repo: Repository, ref: string, commit: CommitSha): Promise<void> {
  try {
    await setRef(repo, ref, commit);
  } catch (error) {
    const above = OWN_BRANCHES.slice(0, -1);
    if ((await readRef(repo, above)) === undefined) throw error;
    const name = above.slice("refs/heads/".length);
    const what = `the repository has a branch "${name}", beside which git allows no testing branch below "${name}/"`;
    throw new HostUnavailable(`${what}: rename that branch`, { cause: error });
  }
}

/** A check for each one that the tested content defines, and a failure for each one required that it does not. */
export function checksOf(read: ConfigRead, required: readonly string[]): Check[] {
  const defined = read.kind === "READ" ? [...read.config.checks] : [];
  const reports = read.kind === "READ" ? read.config.reports : new Map<string, readonly string[]>();
  const names = new Set(defined.map(([context]) => context));
  const missing = [...new Set(required)].filter((context) => !names.has(context));
  const why = read.kind === "PROBLEM" ? read.what : `the tested content defines no such check in ${CONFIG_FILE}`;
  return [
    ...defined.map(([context, command]) => ({
      ...newCheck(context, command, "PENDING", null),
      reports: [...(reports.get(context) ?? [])],
    })),
    ...missing.map((context) => newCheck(context, null, "FAILURE", why)),
  ];
}

const newCheck = (
  context: string,
  command: string | null,
  state: Check["state"],
  description: string | null,
): Check => ({ context, command, attempt: 1, state, description, reports: [] });
