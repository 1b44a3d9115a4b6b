/**
 * What CI says of a commit: check runs and commit statuses, of each name the newest of either. Where there are both they
 * have to pass both, as for GitHub's own merge button: whoever may write may set a status of any name. Where the target
 * requires a status from a certain App, only what that App says counts; the rest is shown under another name.
 */
import type { CheckState, StatusCheck } from "../../queue/engine/types.ts";
import { oneLine } from "../git/names.ts";
import { type Place, unless } from "./place.ts";
import type { Source, Superseded } from "./port.ts";

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

/** `app`: by its number; null where nobody asks, or where it is none. */
type Said = Result & { readonly by: "CHECK" | "STATUS"; readonly app: number | null };

const PER_PAGE = 100;
const PAGES_MAX = 10;

/** In the order in which the names first came. */
export async function resultsOf(place: Place, commit: string, sources: readonly Source[]): Promise<readonly Result[]> {
  const runs = await checkRuns(place, commit);
  const all = [...runs, ...(await commitStatuses(place, commit, sources))];
  const byContext = new Map<string, Map<string, Said>>();
  for (const said of all) {
    const expected = appsFor(sources, said.context);
    const counts = expected.length === 0 || (said.app !== null && expected.includes(said.app));
    const one = counts ? said : { ...said, context: `${said.context} (not from the expected source)` };
    const from = counts && expected.length > 0 ? `${one.by} ${one.app}` : one.by;
    const newest = byContext.get(one.context) ?? new Map<string, Said>();
    const known = newest.get(from);
    if (known === undefined || isNewer(one, known)) newest.set(from, one);
    byContext.set(one.context, newest);
  }
  return [...byContext].map(([context, newest]) => {
    const found = [...newest.values()];
    const { by: _by, app: _app, ...worst } = found.reduce(worse);
    // Where several Apps have to say it, each has to.
    const isMissing = appsFor(sources, context).some((app) => !found.some((one) => one.app === app));
    return isMissing && worst.state === "SUCCESS" ? { ...worst, state: "PENDING" } : worst;
  });
}

const appsFor = (sources: readonly Source[], context: string): readonly number[] =>
  sources.flatMap((one) => (one.context === context ? [one.app] : []));

const SEVERITY: Readonly<Record<CheckState, number>> = { SUCCESS: 0, PENDING: 1, FAILURE: 2, ERROR: 2 };

const worse = (a: Said, b: Said): Said => (SEVERITY[b.state] > SEVERITY[a.state] ? b : a);

/** Two runs of one check may begin within a second: the later one has the greater number. */
const isNewer = (one: Result, known: Result): boolean =>
  one.run !== undefined && known.run !== undefined ? one.run.id > known.run.id : one.at > known.at;

async function checkRuns({ ask, at, appId }: Place, ref: string): Promise<readonly Said[]> {
  const all: Said[] = [];
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
        by: "CHECK",
        app: app?.id ?? null,
      });
    }
    if (data.check_runs.length < PER_PAGE) break;
  }
  return all.toSorted((a, b) => (a.run?.id ?? 0) - (b.run?.id ?? 0));
}

async function commitStatuses(place: Place, ref: string, sources: readonly Source[]): Promise<readonly Said[]> {
  const { ask, at } = place;
  const all: Said[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const asked = { ...at, ref, per_page: PER_PAGE, page };
    const { data } = await ask("GET /repos/{owner}/{repo}/commits/{ref}/status", asked);
    all.push(...data.statuses.map((one) => statusOf(one, null)));
    if (data.statuses.length < PER_PAGE) break;
  }
  // The summary does not say who set them, and has only the newest of a name.
  const isAsked = ({ context }: { readonly context: string }): boolean => appsFor(sources, context).length > 0;
  if (!all.some(isAsked)) return all;
  return [...all.filter((one) => !isAsked(one)), ...(await withApps(place, ref, isAsked))];
}

/** Each with the App that set it. GitHub lists the newest first. */
async function withApps(
  place: Place,
  ref: string,
  isAsked: (one: { readonly context: string }) => boolean,
): Promise<readonly Said[]> {
  const { ask, at } = place;
  const all: Said[] = [];
  const apps = new Map<string, number | null>();
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const asked = { ...at, ref, per_page: PER_PAGE, page };
    const { data } = await ask("GET /repos/{owner}/{repo}/commits/{ref}/statuses", asked);
    for (const one of data.filter(isAsked)) {
      const slug = one.creator?.type === "Bot" ? /^(.+)\[bot\]$/u.exec(one.creator.login)?.[1] : undefined;
      if (slug !== undefined && !apps.has(slug)) apps.set(slug, await appCalled(place, slug));
      all.push(statusOf(one, apps.get(slug ?? "") ?? null));
    }
    if (data.length < PER_PAGE) break;
  }
  return all;
}

/** Null for an App that is not ours to see. */
const appCalled = async ({ ask }: Place, app_slug: string): Promise<number | null> =>
  (await unless([403, 404], () => ask("GET /apps/{app_slug}", { app_slug })))?.data?.id ?? null;

type Status = {
  readonly context: string;
  readonly state: string;
  readonly target_url: string | null;
  readonly description: string | null;
  readonly updated_at: string;
};

const statusOf = ({ context, state, target_url, description, updated_at }: Status, app: number | null): Said => ({
  context,
  state: STATES[state] ?? "PENDING",
  url: target_url,
  description: description === null ? null : oneLine(description),
  at: updated_at,
  by: "STATUS",
  app,
});

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
