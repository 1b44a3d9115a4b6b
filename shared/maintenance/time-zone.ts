/** What the clocks on the walls of a time zone show, and when. */
import { DAY_MS, type EpochMs, epochMs, SECOND_MS } from "../kernel/time.ts";

/** Whether it is a name of the IANA database, as this machine knows it. Offsets are none: they know no summer. */
export function isTimeZone(name: string): boolean {
  if (name !== "UTC" && !/^[A-Za-z]+\/[A-Za-z0-9_+/-]+$/u.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const two = "2-digit";
  const fields = { year: "numeric", month: two, day: two, hour: two, minute: two, second: two } as const;
  const made = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", ...fields });
  formats.set(timeZone, made);
  return made;
}

/** What the clocks there show at that moment, as if they hung in UTC. */
export function wallAt(timeZone: string, at: EpochMs): EpochMs {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const [year, month, day, hour, minute, second] = ["year", "month", "day", "hour", "minute", "second"] as const;
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = Date.UTC(part(year), part(month) - 1, part(day), part(hour), part(minute), part(second));
  return epochMs(shown + (at % SECOND_MS));
}

/** The first moment at which the clocks there show it; undefined where they never do. */
export function momentOf(timeZone: string, wall: EpochMs): EpochMs | undefined {
  // No zone changes its clocks twice within two days: one of the two offsets is in force whenever `wall` is shown.
  const offsets = [-DAY_MS, DAY_MS].map((byMs) => {
    const near = epochMs(wall + byMs);
    return wallAt(timeZone, near) - near;
  });
  const moments = offsets.map((offset) => epochMs(wall - offset)).filter((at) => wallAt(timeZone, at) === wall);
  return moments.sort((a, b) => a - b)[0];
}
