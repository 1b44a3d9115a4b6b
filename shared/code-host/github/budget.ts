/**
 * What GitHub lets an installation do, beside the requests of an hour that its own headers count: points within a minute,
 * and what creates content within a minute and within an hour. GitHub publishes the numbers and not how it counts; here
 * a window slides, as the part of the one before that is still in it, and what was spent in the present one. Pure.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */
import { type EpochMs, epochMs, HOUR_MS, MINUTE_MS } from "../../kernel/time.ts";
import type { BudgetState, Caps, Spent } from "./port.ts";

const POINTS_A_MINUTE = 900;
const CONTENT_A_MINUTE = 80;
const CONTENT_AN_HOUR = 500;
/** So much of it is there for calls that people can do without. */
const SPARE = 0.5;
/** Of an hour's requests, so many are kept for calls that the queue needs. */
const REQUESTS_KEPT = 0.2;

/** Of a write, by GitHub's own prices; a read takes one point. */
const WRITE_POINTS = 5;

const CREATES =
  /^POST .*(?:\/git\/refs|\/merges|\/pulls|\/issues\/[^/]+\/comments|\/check-runs|\/labels|\/reactions)$|^PUT .*\/pulls\/[^/]+\/merge$/u;

/** `url` may be a template or a path. */
export const costOf = (method: string, url: string): Spent => ({
  points: method === "GET" ? 1 : WRITE_POINTS,
  content: CREATES.test(`${method} ${url}`) ? 1 : 0,
});

type Window = { readonly before: number; readonly now: number };
type Limited = { readonly window: Window; readonly spanMs: number; readonly most: number; readonly wanted: number };

const begunAt = (now: EpochMs, spanMs: number): number => Math.floor(now / spanMs) * spanMs;
/** How much of the window before is over. */
const passed = (now: EpochMs, spanMs: number): number => (now - begunAt(now, spanMs)) / spanMs;

/** How much the present window may hold before a call; what is left of the one before takes its part. */
const room = ({ window, spanMs, most, wanted }: Limited, now: EpochMs): number =>
  Math.floor(most - wanted - window.before * (1 - passed(now, spanMs)));

/** The moment from which on there is room, if nobody else spends until then. */
function freeAt(limited: Limited, now: EpochMs): EpochMs {
  const { window, spanMs, most, wanted } = limited;
  if (window.now <= room(limited, now)) return now;
  const begun = begunAt(now, spanMs);
  const share = (before: number, left: number): number => (before === 0 ? 0 : 1 - left / before);
  const here = share(window.before, most - wanted - window.now);
  if (window.now + wanted <= most) return epochMs(Math.ceil(begun + here * spanMs));
  return epochMs(Math.ceil(begun + spanMs + Math.max(0, share(window.now, most - wanted)) * spanMs));
}

function limitsOn({ minute, hour }: BudgetState, wanted: Spent, part: number): readonly Limited[] {
  const contentOf = (window: { readonly before: Spent; readonly now: Spent }) => ({
    before: window.before.content,
    now: window.now.content,
  });
  const points = { before: minute.before.points, now: minute.now.points };
  const all = { window: points, spanMs: MINUTE_MS, most: POINTS_A_MINUTE * part, wanted: wanted.points };
  if (wanted.content === 0) return [all];
  const content = { wanted: wanted.content };
  return [
    all,
    { ...content, window: contentOf(minute), spanMs: MINUTE_MS, most: CONTENT_A_MINUTE * part },
    { ...content, window: contentOf(hour), spanMs: HOUR_MS, most: CONTENT_AN_HOUR * part },
  ];
}

/** When this may be asked: now, or a later time. */
export function allowedAt(state: BudgetState, wanted: Spent, isSpare: boolean, now: EpochMs): EpochMs {
  const free = limitsOn(state, wanted, isSpare ? SPARE : 1).map((one) => freeAt(one, now));
  const { requests } = state;
  const isShort = isSpare && requests !== null && requests.remaining < requests.limit * REQUESTS_KEPT;
  return epochMs(Math.max(...free, state.waitUntil, isShort ? requests.resetAt : 0));
}

/** What the table is to refuse by itself: others spend at the same time. */
export function capsOf(state: BudgetState, wanted: Spent, now: EpochMs): Caps {
  const [points, contentOfMinute, contentOfHour] = limitsOn(state, { ...wanted, content: 1 }, 1).map((one) =>
    room(one, now),
  );
  return { points: points ?? 0, contentOfMinute: contentOfMinute ?? 0, contentOfHour: contentOfHour ?? 0 };
}
