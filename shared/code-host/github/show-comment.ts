/** One comment of a pull request and queue, edited in place for as long as there is one; and answers, which stay. */
import type { CommentShown, PageOf } from "./show-port.ts";
import { digestOf, type Showing } from "./show-part.ts";
import type { Page } from "../people.ts";
import { unless } from "./place.ts";

const PER_PAGE = 100;
const PAGES_MAX = 10;

/** It names the queue and is not seen. What could end it is encoded. */
export const markerOf = (branch: string): string => `<!-- mainline:${encodeURIComponent(branch.toWellFormed())} -->`;

/** What is shown now; undefined where there is nothing to do. */
export async function showComment(
  showing: Showing,
  page: PageOf,
  text: string,
): Promise<CommentShown | "UNWANTED" | undefined> {
  const { comment: known } = showing.shown;
  const body = `${markerOf(page.branch)}\n${text}`;
  const digest = digestOf(text);
  if (known === "UNWANTED" || known?.digest === digest) return undefined;
  const id = known?.id ?? (await findComment(showing, page, markerOf(page.branch)));
  if (id !== undefined && (await edit(showing, id, body))) return { id, digest, again: known?.again ?? false };
  // Whoever deletes it a second time does not want it.
  if (known?.again === true) return "UNWANTED";
  return { id: await create(showing, page, body), digest, again: id !== undefined };
}

/** Its key, once it has been given; undefined where there is nothing to do. */
export async function showAnswer(
  showing: Showing,
  page: PageOf,
  { key, text }: NonNullable<Page["answer"]>,
): Promise<string | undefined> {
  if (showing.shown.answer === key) return undefined;
  const marker = `<!-- mainline-answer:${encodeURIComponent(key)} -->`;
  if ((await findComment(showing, page, marker)) === undefined) await create(showing, page, `${marker}\n${text}`);
  return key;
}

/** A first attempt may have made it and died before it could say so. Somebody else's is never touched. */
async function findComment({ place: { at, appId, spare }, soon }: Showing, { prNumber }: PageOf, marker: string) {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const asked = { ...at, issue_number: prNumber, per_page: PER_PAGE, page };
    const { data } = await soon(() => spare("GET /repos/{owner}/{repo}/issues/{issue_number}/comments", asked));
    const found = data.find(
      (one) =>
        one.performed_via_github_app?.id === appId && one.user?.type === "Bot" && one.body?.startsWith(marker) === true,
    );
    if (found !== undefined) return Number(found.id);
    if (data.length < PER_PAGE) return undefined;
  }
  return undefined;
}

/** False where it is not there any more. */
async function edit({ place: { at, spare }, soon }: Showing, comment_id: number, body: string): Promise<boolean> {
  const asked = { ...at, comment_id, body };
  const done = await unless([404], () =>
    soon(() => spare("PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", asked)),
  );
  return done !== undefined;
}

async function create({ place: { at, spare }, soon }: Showing, { prNumber }: PageOf, body: string): Promise<number> {
  const asked = { ...at, issue_number: prNumber, body };
  const { data } = await soon(() => spare("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", asked));
  return Number(data.id);
}
