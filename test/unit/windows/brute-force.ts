/** What a cron expression means, by asking for every minute whether it fits. Slow, and too simple to be wrong. */
import type { EpochMs } from "../../../shared/kernel/time.ts";
import { epochMs, MINUTE_MS } from "../../../shared/kernel/time.ts";

/** What clocks and calendars on a wall show, in numbers. */
export type Wall = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** SUN = 1. */
  readonly weekday: number;
};

/** One field, as a question rather than as text. */
export type Asks = (wall: Wall) => boolean;

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

export function wallClock(timeZone: string): (at: EpochMs) => Wall {
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
  const format = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", weekday: "short", ...fields });
  return (at) => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const number = (name: string): number => Number(part[name]);
    return {
      year: number("year"),
      month: number("month"),
      day: number("day"),
      hour: number("hour"),
      minute: number("minute"),
      weekday: DAYS.indexOf(part["weekday"] ?? "") + 1,
    };
  };
}

/** The same, remembered: whoever looks at one day again and again waits for each of its minutes once. */
export function rememberingClock(timeZone: string): (at: EpochMs) => Wall {
  const clock = wallClock(timeZone);
  const known = new Map<EpochMs, Wall>();
  return (at) => {
    const wall = known.get(at) ?? clock(at);
    known.set(at, wall);
    return wall;
  };
}

/** Every minute in (after, until] that all fields fit, a local time that comes twice only the first time. */
export function everyMinute(
  asks: readonly Asks[],
  clock: (at: EpochMs) => Wall,
  after: EpochMs,
  until: EpochMs,
): EpochMs[] {
  // A local time may have come for the first time before `after`.
  const seen = new Set<string>();
  const found: EpochMs[] = [];
  for (let at = Math.floor(after / MINUTE_MS) * MINUTE_MS - 180 * MINUTE_MS; at <= until; at += MINUTE_MS) {
    const wall = clock(epochMs(at));
    const text = JSON.stringify(wall);
    const isNew = !seen.has(text);
    seen.add(text);
    if (isNew && at > after && asks.every((ask) => ask(wall))) found.push(epochMs(at));
  }
  return found;
}
