/**
 * Shows pages: at each of them one at a time, and of each what differs from what it shows. People can do without it: it
 * takes from the limits what others leave, gives up early, and is tried again by whoever asked, with what is true then.
 */
import type { Page, People } from "../people.ts";
import { HostUnavailable, NotNow } from "../port.ts";
import { type Clock, type EpochMs, epochMs, HOUR_MS, later, SECOND_MS, toRfc3339 } from "../../kernel/time.ts";
import type { RunId } from "../../kernel/ids.ts";
import { Answered } from "./client.ts";
import type { Place } from "./place.ts";
import { showCheck } from "./show-check.ts";
import { showAnswer, showComment } from "./show-comment.ts";
import { digestOfLabels, showLabels } from "./show-labels.ts";
import { digestOf, type Showing } from "./show-part.ts";
import type { PageHeld, PageOf, PageShown, Part, ShownStore } from "./show-port.ts";

/** For one call. Longer than GitHub takes when it is well. */
const CALL_MS_MAX = 5 * SECOND_MS;
/** For all of a page: well within what it is held for. */
const PAGE_MS_MAX = 30 * SECOND_MS;
/** A call that nobody waits for any more is over by then. */
const LATE_MS = 12 * SECOND_MS;
/** Once GitHub has not answered, nothing of that account is shown for so long: each call would keep others waiting. */
const REST_MS = 12 * SECOND_MS;
/** The right may have been given since, or the conversation unlocked. */
const REFUSED_MS = HOUR_MS;

export type Show = (
  place: Place,
  prNumber: number,
  branch: string,
  page: Parameters<People["show"]>[3],
) => Promise<readonly string[]>;

/** Whoever comes while a page is being shown need not wait: it is looked at once more. */
const ROUNDS_MAX = 5;

export function createShow(pages: ShownStore, clock: Clock): Show {
  /** By account: limits are of its installation alone. */
  const rests = new Map<string, EpochMs>();
  return async (place, prNumber, branch, ask) => {
    const account = place.at.owner.toLowerCase();
    const restsUntil = rests.get(account) ?? epochMs(0);
    if (clock() < restsUntil) throw new NotNow(`nothing is shown before ${toRfc3339(restsUntil)}`, restsUntil, true);
    const of: PageOf = { repo: place.key, prNumber, branch };
    const refused: string[] = [];
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const held = await pages.hold(of);
      if (held === undefined && round > 0) return refused;
      if (held === undefined) throw new HostUnavailable("somebody else is at it");
      try {
        const page = await ask();
        if (page !== null) refused.push(...(await showParts(place, held, of, page, clock)));
      } catch (error) {
        const isUnwell = error instanceof HostUnavailable && !(error instanceof NotNow);
        if (isUnwell) rests.set(account, later(clock(), REST_MS));
        else if (error instanceof NotNow && error.isForAll) rests.set(account, error.until);
        await held.free(isUnwell ? LATE_MS : 0);
        throw error;
      }
      if (!(await held.free())) return refused;
    }
    return refused;
  };
}

/** One part that GitHub refuses is in no other's way, and no more is one that has to wait: the others are shown first. */
async function showParts(place: Place, held: PageHeld, of: PageOf, page: Page, clock: Clock) {
  const soon = patience(later(clock(), PAGE_MS_MAX), clock);
  const refused: string[] = [];
  const putOff: NotNow[] = [];
  let shown = held.shown;
  const part = async (name: Part, digest: string, work: (showing: Showing) => Promise<Partial<PageShown>>) => {
    if (isRefused(shown, name, digest, clock())) return;
    const done = await attempt(() => work({ place, shown, soon }));
    if ("refusal" in done) refused.push(`${name}: ${done.refusal}`);
    if ("putOff" in done) putOff.push(done.putOff);
    const next = changeBy(done, shown, name, digest, clock());
    if (Object.keys(next).length === 0) return;
    shown = { ...shown, ...next };
    if (!(await held.keep(shown))) throw new NotNow("somebody else is at it by now", clock());
  };
  const { comment, answer, headSha, check } = page;
  if (comment !== null)
    await part("comment", digestOf(comment), async (showing) =>
      noted("comment", await showComment(showing, of, comment)),
    );
  if (answer !== undefined)
    await part("answer", answer.key, async (showing) => noted("answer", await showAnswer(showing, of, answer)));
  if (check !== null && headSha !== null)
    await part("check", digestOf([headSha, check]), async (showing) =>
      noted("check", await showCheck(showing, of, headSha, check)),
    );
  await part("labels", digestOfLabels(page), async (showing) => noted("labels", await showLabels(showing, of, page)));
  const [first] = putOff.toSorted((a, b) => a.until - b.until);
  if (first !== undefined) throw first;
  return refused;
}

const noted = <Name extends Part>(name: Name, value: PageShown[Name] | undefined): Partial<PageShown> =>
  value === undefined ? {} : { [name]: value };

/** No right, locked, switched off, gone, or not as GitHub would have it. */
const REFUSALS = [403, 404, 410, 422];

type Attempted = { readonly change: Partial<PageShown> } | { readonly refusal: string } | { readonly putOff: NotNow };

async function attempt(work: () => Promise<Partial<PageShown>>): Promise<Attempted> {
  try {
    return { change: await work() };
  } catch (error) {
    if (error instanceof NotNow && !error.isForAll) return { putOff: error };
    if (!(error instanceof Answered)) throw error;
    if (!REFUSALS.includes(error.status)) throw new HostUnavailable(error.message, { cause: error });
    return { refusal: error.message };
  }
}

const isRefused = ({ refused, refusedAt }: PageShown, name: Part, digest: string, now: EpochMs): boolean =>
  refused[name] === digest && now < later(refusedAt?.[name] ?? epochMs(0), REFUSED_MS);

/** Empty where there is nothing to note. */
function changeBy(done: Attempted, shown: PageShown, name: Part, digest: string, now: EpochMs): Partial<PageShown> {
  const { refused, refusedAt } = shown;
  if ("change" in done) {
    if (Object.keys(done.change).length === 0 || refused[name] === undefined) return done.change;
    const ended = { refused: { ...refused, [name]: undefined }, refusedAt: { ...refusedAt, [name]: undefined } };
    return { ...done.change, ...ended };
  }
  // Of several labels some may have been changed.
  const unsure = name === "labels" && shown.labels !== null ? { labels: null } : {};
  if ("putOff" in done) return unsure;
  return { ...unsure, refused: { ...refused, [name]: digest }, refusedAt: { ...refusedAt, [name]: now } };
}

function patience(until: EpochMs, clock: Clock): Showing["soon"] {
  return async (call) => {
    if (clock() >= until) throw new HostUnavailable("GitHub takes long");
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new HostUnavailable("GitHub takes long")), CALL_MS_MAX);
    try {
      return await Promise.race([call(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** A draft pull request, else the commit, whose page tells its checks also when its branch is gone. */
export async function runAt({ key, at, memory }: Place, run: RunId): Promise<string | null> {
  const known = await memory.run(run);
  if (known === undefined) return null;
  const what = known.pullRequest === null ? `commit/${known.commit}` : `pull/${known.pullRequest}`;
  return `https://${key.host}/${at.owner}/${at.repo}/${what}`;
}
