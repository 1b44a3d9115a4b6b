/** Durations and timestamps as reports write them. */

const SECONDS = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/iu;

/** Milliseconds of a time in seconds. Null where it is not one: with a comma, empty, NaN, negative. */
export function durationMsOf(seconds: string): number | null {
  const trimmed = seconds.trim();
  if (!SECONDS.test(trimmed)) return null;
  const ms = Math.round(Number(trimmed) * 1e6) / 1e3;
  return Number.isFinite(ms) ? ms : null;
}

const ISO = /^\s*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,9})?\s*(Z|[+-]\d\d:?\d\d)?\s*$/iu;
/** Clocks that were never set stand at the epoch or at the year 2000. */
const BELIEVED_FROM = Date.parse("2000-01-02T00:00:00Z");

/**
 * Milliseconds since the epoch; without a zone it is taken for UTC. Null where it is none or cannot be believed. Whether
 * it is in the future is for those to say who have a clock.
 */
export function timestampOf(text: string): number | null {
  const [, date, time, fraction = "", zone = "Z"] = ISO.exec(text) ?? [];
  if (date === undefined || time === undefined) return null;
  const offset = /^[+-]\d{4}$/u.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  const at = Date.parse(`${date}T${time}${fraction.slice(0, 4)}${offset}`);
  return Number.isNaN(at) || at < BELIEVED_FROM ? null : at;
}
