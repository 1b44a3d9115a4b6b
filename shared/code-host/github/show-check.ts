/** One check run of a queue on a pull request's head. */
import type { CheckShown } from "../people.ts";
import type { CheckRunShown, PageOf } from "./show-port.ts";
import { digestOf, type Showing } from "./show-part.ts";
import { unless } from "./place.ts";

const ENDS = { SUCCESS: "success", FAILURE: "failure", NEUTRAL: "neutral" } as const;

const statusOf = (state: CheckShown["state"]) =>
  state === "QUEUED"
    ? ({ status: "queued" } as const)
    : state === "IN_PROGRESS"
      ? ({ status: "in_progress" } as const)
      : ({ status: "completed", conclusion: ENDS[state] } as const);

/** Bounds of GitHub's. */
const TITLE_MAX = 250;
const SUMMARY_MAX = 60_000;

const fieldsOf = ({ name, state, title, summary, url }: CheckShown) => ({
  name,
  ...statusOf(state),
  output: { title: title.slice(0, TITLE_MAX), summary: summary.slice(0, SUMMARY_MAX) },
  ...(url === null ? {} : { details_url: url }),
});

const externalId = ({ branch }: PageOf): string => `mainline:${branch}`;

/** What is shown now; undefined where there is nothing to do. */
export async function showCheck(
  showing: Showing,
  page: PageOf,
  headSha: string,
  check: CheckShown,
): Promise<CheckRunShown | undefined> {
  const { check: known } = showing.shown;
  const digest = digestOf([headSha, check]);
  if (known?.digest === digest) return undefined;
  const open = check.state === "QUEUED" || check.state === "IN_PROGRESS";
  if (known !== null && known.headSha !== headSha && known.open) await leave(showing, known.id, check.name);
  // One that has ended is not opened again: the submission that comes after it has its own.
  const own = known?.headSha === headSha && (known.open || !open) ? known.id : undefined;
  const id = own ?? (await find(showing, page, headSha, check, open));
  if (id !== undefined && (await update(showing, id, check))) return { id, headSha, digest, open };
  return { id: await create(showing, page, headSha, check), headSha, digest, open };
}

/** A first attempt may have made it and died before it could say so. */
async function find(
  { place: { at, appId, spare }, soon }: Showing,
  of: PageOf,
  ref: string,
  { name }: CheckShown,
  open: boolean,
) {
  const asked = { ...at, ref, check_name: name, app_id: appId, filter: "latest", per_page: 100 } as const;
  const { data } = await soon(() => spare("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", asked));
  const found = data.check_runs
    .filter((one) => one.app?.id === appId && one.external_id === externalId(of))
    .toSorted((a, b) => Number(b.id) - Number(a.id))[0];
  return found === undefined || (open && found.status === "completed") ? undefined : Number(found.id);
}

async function update(
  { place: { at, spare }, soon }: Showing,
  check_run_id: number,
  check: CheckShown,
): Promise<boolean> {
  const asked = { ...at, check_run_id, ...fieldsOf(check) };
  const done = await unless([404], () =>
    soon(() => spare("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", asked)),
  );
  return done !== undefined;
}

async function create({ place: { at, spare }, soon }: Showing, of: PageOf, head_sha: string, check: CheckShown) {
  const asked = { ...at, head_sha, external_id: externalId(of), ...fieldsOf(check) };
  const { data } = await soon(() => spare("POST /repos/{owner}/{repo}/check-runs", asked));
  return Number(data.id);
}

/** A head that was pushed over is nobody's any more; an open check would stay open on it for ever. */
async function leave({ place: { at, spare }, soon }: Showing, check_run_id: number, name: string): Promise<void> {
  const output = { title: "Pushed over", summary: "The pull request has another head by now." };
  const asked = { ...at, check_run_id, name, status: "completed", conclusion: "neutral", output } as const;
  await unless([404], () => soon(() => spare("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", asked)));
}
