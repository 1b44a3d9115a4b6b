/** Has checks of a run run again, once for each number, also where somebody died while asking. */
import type { RunId } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { type Place, unless } from "./place.ts";
import type { GitHubRun, Repeating, Superseded } from "./port.ts";
import { type Result, resultsOf } from "./results.ts";

type CheckRun = Result & Required<Pick<Result, "run">>;

export async function repeatRun(place: Place, run: RunId, repeat: number, contexts: readonly string[]): Promise<void> {
  const known = await place.memory.run(run);
  if (known === undefined || known.closed || known.repeats >= repeat) return;
  const runs = await checkRunsOf(place, known, contexts);
  const before = known.repeating?.repeat === repeat ? known.repeating : undefined;
  const repeating = before ?? (await begun(place, repeat, runs));
  // Noted before anything is asked: a second try finds out what the first one did.
  if (before === undefined) await place.memory.putRun({ ...known, repeating });
  for (const which of new Set(runs.map(asked)))
    if (before === undefined || !(await wasAsked(place, which, runs, before)))
      await runAgain(place, which).catch(async (error: unknown) => {
        // An answer that was lost need not be asked for again.
        if (!(error instanceof HostUnavailable) || !(await wasAsked(place, which, runs, repeating))) throw error;
      });
  const others = known.superseded.filter((one) => !contexts.includes(one.context));
  const superseded = [...others, ...repeating.superseded];
  const { repeating: _done, ...noted } = known;
  await place.memory.putRun({ ...noted, repeats: repeat, superseded });
}

async function checkRunsOf(place: Place, { commit, sources }: GitHubRun, contexts: readonly string[]) {
  const results = (await resultsOf(place, commit, sources)).filter((one) => contexts.includes(one.context));
  const runs = results.flatMap(({ run, ...result }): CheckRun[] => (run === undefined ? [] : [{ ...result, run }]));
  const missing = contexts.find((context) => !runs.some((one) => one.context === context));
  // A commit status is somebody's word: GitHub cannot ask for it again. The run is built anew then.
  if (missing !== undefined)
    throw new HostUnavailable(`GitHub cannot repeat ${missing}, which is no check run: all is tested anew`);
  return runs;
}

/** GitHub's own workflows run their failed jobs again together; a job alone cannot while another of them runs. */
type Asked = `workflow-run ${string}` | `check-run ${number}`;

function asked({ run, url }: CheckRun): Asked {
  const workflow = run.app === "github-actions" ? /\/actions\/runs\/(\d+)(?:\/|$)/u.exec(url ?? "")?.[1] : undefined;
  return workflow === undefined ? `check-run ${run.id}` : `workflow-run ${workflow}`;
}

const workflowOf = (which: Asked): number | undefined => {
  const id = /^workflow-run (\d+)$/u.exec(which)?.[1];
  return id === undefined ? undefined : Number(id);
};

const supersededBy = ({ context, run }: CheckRun): Superseded => ({
  context,
  id: run.id,
  completedAt: run.completedAt,
});

async function begun(place: Place, repeat: number, runs: readonly CheckRun[]): Promise<Repeating> {
  const attempts: Record<string, number> = {};
  for (const which of new Set(runs.map(asked))) {
    const id = workflowOf(which);
    if (id !== undefined) attempts[id] = (await readWorkflow(place, id))?.attempt ?? 0;
  }
  return { repeat, superseded: runs.map(supersededBy), attempts };
}

/** A workflow run counts its attempts; of any other check there is another result, or none yet. */
async function wasAsked(
  place: Place,
  which: Asked,
  runs: readonly CheckRun[],
  { superseded, attempts }: Repeating,
): Promise<boolean> {
  const id = workflowOf(which);
  if (id !== undefined) return ((await readWorkflow(place, id))?.attempt ?? 0) > (attempts[id] ?? 0);
  const of = runs.find((one) => asked(one) === which);
  return !superseded.some((one) => one.id === of?.run.id && one.completedAt === of.run.completedAt);
}

async function readWorkflow({ ask, at }: Place, run_id: number): Promise<{ readonly attempt: number } | undefined> {
  const found = await unless([404], () => ask("GET /repos/{owner}/{repo}/actions/runs/{run_id}", { ...at, run_id }));
  return found === undefined ? undefined : { attempt: found.data.run_attempt ?? 1 };
}

async function runAgain({ ask, at }: Place, which: Asked): Promise<void> {
  const run_id = workflowOf(which);
  if (run_id === undefined)
    await ask("POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest", {
      ...at,
      check_run_id: Number(which.slice("check-run ".length)),
    });
  else await ask("POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs", { ...at, run_id });
}
