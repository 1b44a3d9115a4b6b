/** Labels that are the queue's to put on and take off. All others are people's, and stay. */
import type { Page } from "../people.ts";
import { unless } from "./place.ts";
import { digestOf, type Showing } from "./show-part.ts";
import type { PageOf } from "./show-port.ts";

const COLOUR = "bfd4f2";
const DESCRIPTION = "Set by Mainline's merge queue";

type Labelled = Pick<Page, "submission" | "labels">;

/** People may put labels on and take them off between two submissions that want the same ones. */
export const digestOfLabels = ({ submission, labels }: Labelled): string => digestOf([submission ?? null, labels]);

/** What is shown now; undefined where there is nothing to do. */
export async function showLabels(showing: Showing, of: PageOf, page: Labelled): Promise<string | undefined> {
  const { labels } = page;
  const digest = digestOfLabels(page);
  if (labels.of.length === 0 || showing.shown.labels === digest) return undefined;
  const carried = await labelsOn(showing, of);
  // What creates nothing comes first: it may be done where the rest is put off.
  for (const name of carried) if (has(labels.of, name) && !has(labels.on, name)) await remove(showing, of, name);
  for (const name of labels.on) if (!has(carried, name)) await add(showing, of, name);
  return digest;
}

/** GitHub tells no labels apart by case. */
const has = (names: readonly string[], name: string): boolean =>
  names.some((one) => one.toLowerCase() === name.toLowerCase());

async function labelsOn({ place: { at, spare }, soon }: Showing, { prNumber }: PageOf): Promise<readonly string[]> {
  const asked = { ...at, issue_number: prNumber, per_page: 100 };
  const { data } = await soon(() => spare("GET /repos/{owner}/{repo}/issues/{issue_number}/labels", asked));
  return data.map((one) => one.name);
}

async function add({ place: { at, spare }, soon }: Showing, { prNumber }: PageOf, name: string): Promise<void> {
  const known = await unless([404], () =>
    soon(() => spare("GET /repos/{owner}/{repo}/labels/{name}", { ...at, name })),
  );
  // Somebody may make it at the same moment.
  if (known === undefined)
    await unless([422], () =>
      soon(() => spare("POST /repos/{owner}/{repo}/labels", { ...at, name, color: COLOUR, description: DESCRIPTION })),
    );
  const asked = { ...at, issue_number: prNumber, labels: [name] };
  await soon(() => spare("POST /repos/{owner}/{repo}/issues/{issue_number}/labels", asked));
}

async function remove({ place: { at, spare }, soon }: Showing, { prNumber }: PageOf, name: string): Promise<void> {
  const asked = { ...at, issue_number: prNumber, name };
  await unless([404], () =>
    soon(() => spare("DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}", asked)),
  );
}
