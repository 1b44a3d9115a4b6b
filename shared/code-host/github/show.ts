/**
 * Shows pages: at each of them one at a time, and of each what differs from what it shows. People can do without it: it
 * takes from the limits what others leave, gives up early, and is tried again by whoever asked, with what is true then.
 */
import type { Page, People } from "../people.ts";
import { HostUnavailable, NotNow } from "../port.ts";
import { type Clock, type EpochMs, epochMs, later, SECOND_MS, toRfc3339 } from "../../kernel/time.ts";
import type { RunId } from "../../kernel/ids.ts";
import { Answered } from "./client.ts";
import type { Place } from "./place.ts";
import { showCheck } from "./show-check.ts";
import { showAnswer, showComment } from "./show-comment.ts";
import { showLabels } from "./show-labels.ts";
import { digestOf, type Showing } from "./show-part.ts";
import type { PageHeld, PageOf, PageShown, Part, ShownStore } from "./show-port.ts";

/** For one call. Longer than GitHub takes when it is well. */
const CALL_MS_MAX = 5 * SECOND_MS;
/** For all of a page: well within what it is held for. */
const PAGE_MS_MAX = 30 * SECOND_MS;
/** A call that nobody waits for any more is over by then. */
const LATE_MS = 12 * SECOND_MS;
/** Once GitHub has not answered, nothing is shown for so long: each call would keep others waiting. */
const REST_MS = 12 * SECOND_MS;

export type Show = (
  place: Place,
  prNumber: number,
  branch: string,
  page: Parameters<People["show"]>[3],
) => Promise<readonly string[]>;

/** Whoever comes while a page is being shown need not wait: it is looked at once more. */
const ROUNDS_MAX = 5;

export function createShow(pages: ShownStore, clock: Clock): Show {
  let restsUntil: EpochMs = epochMs(0);
  return async (place, prNumber, branch, ask) => {
    if (clock() < restsUntil) throw new NotNow(`nothing is shown before ${toRfc3339(restsUntil)}`, restsUntil);
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
        if (error instanceof NotNow) restsUntil = error.until;
        else if (isUnwell) restsUntil = later(clock(), REST_MS);
        await held.free(isUnwell ? LATE_MS : 0);
        throw error;
      }
      if (!(await held.free())) return refused;
    }
    return refused;
  };
}

/** One part that GitHub refuses is in no other's way. */
async function showParts(place: Place, held: PageHeld, of: PageOf, page: Page, clock: Clock) {
  const soon = patience(later(clock(), PAGE_MS_MAX), clock);
  const refused: string[] = [];
  let shown = held.shown;
  const part = async (name: Part, digest: string, work: (showing: Showing) => Promise<Partial<PageShown>>) => {
    if (shown.refused[name] === digest) return;
    const change = await unlessRefused(() => work({ place, shown, soon }));
    if (typeof change === "string") refused.push(`${name}: ${change}`);
    const next = typeof change === "string" ? { refused: { ...shown.refused, [name]: digest } } : change;
    if (Object.values(next).every((one) => one === undefined)) return;
    shown = { ...shown, ...next };
    if (!(await held.keep(shown))) throw new NotNow("somebody else is at it by now", clock());
  };
  const { comment, answer, headSha, check, labels } = page;
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
  await part("labels", digestOf(labels), async (showing) => noted("labels", await showLabels(showing, of, labels)));
  return refused;
}

const noted = <Name extends Part>(name: Name, value: PageShown[Name] | undefined): Partial<PageShown> =>
  value === undefined ? {} : { [name]: value };

/** No right, locked, switched off, gone, or not as GitHub would have it. */
const REFUSALS = [403, 404, 410, 422];

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Answered)) throw error;
    if (!REFUSALS.includes(error.status)) throw new HostUnavailable(error.message, { cause: error });
    return error.message;
  }
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
