/**
 * What CI says of a commit: check runs and commit statuses, of each name the newest of either. Where there are both they
 * have to pass both, as for GitHub's own merge button: whoever may write may set a status of any name.
 */
import type { CheckState, StatusCheck } from "../../queue/engine/types.ts";
import { oneLine } from "../git/names.ts";
import type { Place } from "./place.ts";
import type { Superseded } from "./port.ts";

export type Result = StatusCheck & {
  readonly at: string;
  /** Absent for a commit status. */
  readonly run?: {
    readonly id: number;
    readonly app: string;
    readonly suite: number | null;
    readonly completedAt: string | null;
  };
};

const PER_PAGE = 100;
const PAGES_MAX = 10;

/** In the order in which the names first came. */
export async function resultsOf(place: Place, commit: string): Promise<readonly Result[]> {
  const found = newestOf(await checkRuns(place, commit));
  for (const [context, status] of newestOf(await commitStatuses(place, commit))) {
    const check = found.get(context);
    if (check === undefined || SEVERITY[status.state] > SEVERITY[check.state]) found.set(context, status);
  }
  return [...found.values()];
}

const SEVERITY: Readonly<Record<CheckState, number>> = { SUCCESS: 0, PENDING: 1, FAILURE: 2, ERROR: 2 };

function newestOf(all: readonly Result[]): Map<string, Result> {
  const newest = new Map<string, Result>();
  for (const one of all) {
    const known = newest.get(one.context);
    if (known === undefined || isNewer(one, known)) newest.set(one.context, one);
  }
  return newest;
}

/** Two runs of one check may begin within a second: the later one has the greater number. */
const isNewer = (one: Result, known: Result): boolean =>
  one.run !== undefined && known.run !== undefined ? one.run.id > known.run.id : one.at > known.at;

async function checkRuns({ ask, at, appId }: Place, ref: string): Promise<readonly Result[]> {
  const all: Result[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const asked = { ...at, ref, filter: "latest", per_page: PER_PAGE, page } as const;
    const { data } = await ask("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", asked);
    for (const { app, name, id, status, conclusion, html_url, output, ...run } of data.check_runs) {
      // What this service says of a pull request is no evidence about it.
      if (app?.id === appId) continue;
      all.push({
        context: name,
        state: stateOf(status, conclusion),
        url: html_url,
        description: output.title === null ? null : oneLine(output.title),
        at: run.started_at ?? "",
        run: {
          id: Number(id),
          app: app?.slug ?? "",
          suite: run.check_suite === null ? null : run.check_suite.id,
          completedAt: run.completed_at,
        },
      });
    }
    if (data.check_runs.length < PER_PAGE) break;
  }
  return all.toSorted((a, b) => (a.run?.id ?? 0) - (b.run?.id ?? 0));
}

async function commitStatuses({ ask, at }: Place, ref: string): Promise<readonly Result[]> {
  const all: Result[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const asked = { ...at, ref, per_page: PER_PAGE, page };
    const { data } = await ask("GET /repos/{owner}/{repo}/commits/{ref}/status", asked);
    for (const { context, state, target_url: url, description, updated_at } of data.statuses)
      all.push({
        context,
        state: STATES[state] ?? "PENDING",
        url,
        description: description === null ? null : oneLine(description),
        at: updated_at,
      });
    if (data.statuses.length < PER_PAGE) break;
  }
  return all;
}

const STATES: Readonly<Record<string, CheckState>> = { success: "SUCCESS", failure: "FAILURE", error: "ERROR" };
/** As GitHub's own merge button reads them. */
const CONCLUSIONS: Readonly<Record<string, CheckState>> = {
  success: "SUCCESS",
  skipped: "SUCCESS",
  neutral: "SUCCESS",
  failure: "FAILURE",
  timed_out: "FAILURE",
  action_required: "FAILURE",
  startup_failure: "FAILURE",
  cancelled: "ERROR",
  stale: "ERROR",
};

function stateOf(status: string, conclusion: string | null): CheckState {
  if (status !== "completed" || conclusion === null) return "PENDING";
  return CONCLUSIONS[conclusion] ?? "FAILURE";
}

/** The old result of a check that was asked to run again says nothing any more. */
export function withoutSuperseded(results: readonly Result[], superseded: readonly Superseded[]): readonly Result[] {
  return results.map((one) => {
    const old = superseded.find((asked) => asked.context === one.context);
    const isOld = old !== undefined && one.run?.id === old.id && one.run.completedAt === old.completedAt;
    return isOld ? { ...one, state: "PENDING" } : one;
  });
}

export const shownOf = ({ context, state, url, description }: Result): StatusCheck => ({
  context,
  state,
  url,
  description,
});
