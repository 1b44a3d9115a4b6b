import type { Brand } from "./brand.ts";

/** Milliseconds since 1970-01-01T00:00Z. */
export type EpochMs = Brand<number, "EpochMs">;

/** Answers the present time. A port: the core never reads a clock. */
export type Clock = () => EpochMs;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const epochMs = (value: number): EpochMs => value as EpochMs;

export const systemClock: Clock = () => epochMs(Date.now());

export const later = (at: EpochMs, byMs: number): EpochMs => epochMs(at + byMs);

/** The earliest of the times given, or undefined when there is none. */
export function earliest(...times: readonly (EpochMs | null | undefined)[]): EpochMs | undefined {
  let first: EpochMs | undefined;
  for (const time of times)
    if (time !== null && time !== undefined && (first === undefined || time < first)) first = time;
  return first;
}

/** RFC 3339 in UTC with milliseconds and `Z`, as every time on the wire. */
export const toRfc3339 = (at: EpochMs): string => new Date(at).toISOString();

/** Sixteen digits, so that text order is time order in a sort key. */
export const sortableTime = (at: EpochMs): string => String(at).padStart(16, "0");
