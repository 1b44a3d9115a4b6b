import * as fc from "fast-check";
import { expect } from "vitest";
import { DAY_MS, type EpochMs, epochMs, HOUR_MS } from "../../../shared/kernel/time.ts";
import { readCron } from "../../../shared/maintenance/cron.ts";
import { occurrences } from "../../../shared/maintenance/occurrences.ts";
import { wallClock } from "./brute-force.ts";
import { calendar } from "./expressions.ts";

export const at = (text: string): EpochMs => epochMs(Date.parse(text));

export function cronOf(text: string): string {
  const read = readCron(text);
  if (!read.ok) throw new Error(`${text}: ${read.problems.join("; ")}`);
  return read.cron;
}

export function until(text: string, timeZone: string, after: EpochMs, end: EpochMs): readonly EpochMs[] {
  const found: EpochMs[] = [];
  for (const one of occurrences({ cron: cronOf(text), timeZone }, after)) {
    if (one > end) break;
    found.push(one);
  }
  return found;
}

/** Whatever days an expression names: held against a calendar of seven years, for so many expressions. */
export function fitsTheCalendar(runs: number): void {
  const from = at("2024-01-01T00:00Z");
  const clock = wallClock("UTC");
  const noons = Array.from({ length: 7 * 365 + 2 }, (_, day) => epochMs(from + day * DAY_MS + 12 * HOUR_MS));
  const walls = noons.map((noon) => ({ noon, wall: clock(noon) }));
  fc.assert(
    fc.property(calendar, (expression) => {
      const fitting = walls.filter(({ wall }) => expression.asks.every((ask) => ask(wall))).map(({ noon }) => noon);
      expect(until(expression.text, "UTC", from, epochMs(noons.at(-1) ?? 0))).toEqual(fitting);
    }),
    { numRuns: runs },
  );
}
