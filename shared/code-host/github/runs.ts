/** Runs: built once, read, repeated and closed. What was built is remembered; branches outlive nothing. */
import type { RunId } from "../../kernel/ids.ts";
import { type BuildRequest, HostUnavailable, type RunStatuses } from "../port.ts";
import { OWN_BRANCHES } from "../git/names.ts";
import { type BuildAnswer, buildOnTip, buildStack, removeBranch } from "./build.ts";
import { draftPullRequest } from "./draft.ts";
import { type Place, unless } from "./place.ts";
import type { GitHubRun } from "./port.ts";
import { expectedSources } from "./required.ts";
import { type Result, resultsOf, shownOf, withoutSuperseded } from "./results.ts";

export async function openRun(place: Place, request: BuildRequest): Promise<BuildAnswer> {
  const { run, branch, required, targetBranch } = request;
  const known = await place.memory.run(run);
  if (known !== undefined) return { ok: true, value: { commit: known.commit, tree: known.tree } };
  if (await place.memory.isBuried(run)) {
    await removeBranch(place, branch);
    throw new HostUnavailable(`run ${run} was closed before it was built`);
  }
  try {
    const sources = required.length === 0 ? [] : await expectedSources(place, targetBranch);
    const answer = await build(place, request);
    if (!answer.ok) {
      await removeBranch(place, branch);
      return answer;
    }
    const pullRequest = await draftPullRequest(place, request);
    const made = { run, repo: place.key, branch, ...answer.value, required, sources, pullRequest };
    await place.memory.putRun({ ...made, repeats: 0, superseded: [], closed: false });
    return answer;
  } finally {
    // Whoever closed it while it was being built found nothing of it, and left word.
    if (await place.memory.isBuried(run)) await closeRun(place, run, branch);
  }
}

function build(place: Place, { run, branch, base, changes, opensDraft }: BuildRequest): Promise<BuildAnswer> {
  const mark = `Mainline-Run: ${run}`;
  if (changes.length === 0 && opensDraft === true) return buildOnTip(place, { branch, base, mark });
  return buildStack(place, { branch, base, changes, mark });
}

const gone = (broken: string): RunStatuses => ({ statuses: [], complete: false, repeats: 0, broken });

export async function readRun(place: Place, run: RunId): Promise<RunStatuses> {
  const known = await place.memory.run(run);
  if (known === undefined) return gone("GitHub was never asked to build this run");
  if (known.closed) return gone("the run was closed");
  const all = withoutSuperseded(await resultsOf(place, known.commit, known.sources), known.superseded);
  // What is required stands first, in its own order: a check that runs again does not change its place.
  const results = all.toSorted((a, b) => rank(known, a) - rank(known, b));
  return { statuses: results.map(shownOf), complete: isComplete(known, results), repeats: known.repeats, broken: null };
}

const rank = ({ required }: GitHubRun, { context }: Result): number =>
  required.includes(context) ? required.indexOf(context) : required.length;

/**
 * GitHub never says that nothing more will come: a workflow may yet begin, and a suite without runs stays as it is. So
 * what is required and has not come is awaited.
 */
const isComplete = ({ required }: GitHubRun, results: readonly Result[]): boolean =>
  results.length > 0 &&
  results.every((one) => one.state !== "PENDING") &&
  required.every((context) => results.some((one) => one.context === context));

/** Marked first: nobody starts again what was closed. GitHub closes the draft pull request of a branch that is gone. */
export async function closeRun(place: Place, run: RunId, branch: string): Promise<void> {
  const known = await findClosing(place, run);
  if (known !== undefined && !known.closed) await place.memory.putRun({ ...known, closed: true });
  const isGone = !`refs/heads/${branch}`.startsWith(OWN_BRANCHES) || (await removeBranch(place, branch));
  if (known !== undefined && !known.closed) await cancelWorkflows(place, known.commit);
  if (!isGone) throw new HostUnavailable(`GitHub does not let ${branch} be removed: a rule of the repository keeps it`);
}

/** Of two that meet, the one who writes last reads what the other wrote: nothing is left behind. */
async function findClosing(place: Place, run: RunId): Promise<GitHubRun | undefined> {
  const known = await place.memory.run(run);
  if (known !== undefined) return known;
  await place.memory.bury(run);
  return place.memory.run(run);
}

const STILL = new Set(["queued", "in_progress", "waiting", "requested", "pending"]);

/** They cost their owner minutes. One that ends at this moment cannot be cancelled, and need not. */
async function cancelWorkflows({ ask, at }: Place, head_sha: string): Promise<void> {
  const asked = { ...at, head_sha, per_page: 100 };
  const found = await unless([403, 404], () => ask("GET /repos/{owner}/{repo}/actions/runs", asked));
  for (const { id, status } of found?.data.workflow_runs ?? [])
    if (STILL.has(status ?? ""))
      await unless([403, 404, 409], () =>
        ask("POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel", { ...at, run_id: Number(id) }),
      );
}
