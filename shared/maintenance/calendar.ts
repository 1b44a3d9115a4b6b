/**
 * When a cron expression holds. Written here and not taken from a library: every function that reads a queue would carry
 * it (croner is a fourteenth of them), and since the fields have to be read anyway to say which of them is wrong, this
 * is all that is left to do. It is held against that library, and against asking for every minute, by property tests.
 */
import { DAY_MS, type EpochMs, epochMs, MINUTE_MS } from "../kernel/time.ts";
import { FIELDS, type Field, spelled } from "./cron-fields.ts";

/** One day: its year, month (from 1), day, day of the week (SUN = 1), and the days of its month. */
type Day = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly last: number;
};

type Compiled = {
  readonly years: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly isOn: (day: Day) => boolean;
  /** Minutes of a day, ascending. */
  readonly minutes: readonly number[];
};

const YEAR_MAX = 2199;

/** The next minute after `wall` at which the expression holds; undefined when there is none any more. */
export function nextIn({ years, months, isOn, minutes }: Compiled, wall: EpochMs): EpochMs | undefined {
  const first = Math.floor(wall / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  let at = Math.floor(first / DAY_MS) * DAY_MS;
  for (;;) {
    const day = dayOf(at);
    if (day.year > YEAR_MAX) return undefined;
    if (!years.has(day.year)) at = Date.UTC(day.year + 1, 0, 1);
    else if (!months.has(day.month)) at = Date.UTC(day.year, day.month, 1);
    else {
      const minute = isOn(day) ? minutes.find((one) => at + one * MINUTE_MS >= first) : undefined;
      if (minute !== undefined) return epochMs(at + minute * MINUTE_MS);
      at += DAY_MS;
    }
  }
}

function dayOf(at: number): Day {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return { year, month, day: date.getUTCDate(), weekday: date.getUTCDay() + 1, last };
}

/** Of six fields that were read and found good. */
export function compile(fields: readonly string[]): Compiled {
  const [minutes, hours, dayOfMonth, months, dayOfWeek, years] = FIELDS.map((field, at) => ({
    field,
    text: fields[at] ?? "*",
  }));
  const [minutesOf, hoursOf] = [valuesOf(minutes), valuesOf(hours)];
  const [inMonth, inWeek] = [onDayOfMonth(dayOfMonth), onDayOfWeek(dayOfWeek)];
  return {
    years: valuesOf(years),
    months: valuesOf(months),
    isOn: (day) => inMonth(day) && inWeek(day),
    minutes: [...hoursOf].flatMap((hour) => [...minutesOf].map((minute) => hour * 60 + minute)).sort((a, b) => a - b),
  };
}

type Text = { readonly field: Field; readonly text: string } | undefined;

/** All that a field names: ranges with steps, as `spelled` writes them. */
function valuesOf(one: Text): ReadonlySet<number> {
  const values = new Set<number>();
  if (one === undefined) return values;
  const { field, text } = one;
  const ranges = text === "*" || text === "?" ? `${field.min}-${field.max}/1` : (spelled(field, text) ?? "");
  for (const range of ranges.split(",")) {
    const [first = 0, last = -1, step = 1] = range.split(/[-/]/u).map(Number);
    for (let value = first; value <= last; value += step) values.add(value);
  }
  return values;
}

function onDayOfMonth(one: Text): (day: Day) => boolean {
  if (one?.text === "L") return ({ day, last }) => day === last;
  const nearest = /^(?<day>\d+)W$/u.exec(one?.text ?? "")?.groups?.["day"];
  if (nearest !== undefined) return (day) => day.day === workdayNearest(Number(nearest), day);
  const days = valuesOf(one);
  return ({ day }) => days.has(day);
}

/** Never in another month, so that a first on a Saturday is a third. A month that lacks the day has none. */
function workdayNearest(wanted: number, { day, weekday, last }: Day): number | undefined {
  if (wanted > last) return undefined;
  const on = ((((weekday - 1 + wanted - day) % 7) + 7) % 7) + 1;
  if (on === 7) return wanted === 1 ? 3 : wanted - 1;
  if (on === 1) return wanted === last ? wanted - 2 : wanted + 1;
  return wanted;
}

function onDayOfWeek(one: Text): (day: Day) => boolean {
  const text = one?.text ?? "*";
  if (text === "L") return ({ weekday }) => weekday === 7;
  const asked = /^(?<weekday>\d)(?:L|#(?<nth>\d))$/u.exec(
    one === undefined ? "" : (spelled(one.field, text) ?? ""),
  )?.groups;
  if (asked !== undefined) {
    const [wanted, nth] = [Number(asked["weekday"]), asked["nth"]];
    if (nth === undefined) return ({ weekday, day, last }) => weekday === wanted && day + 7 > last;
    return ({ weekday, day }) => weekday === wanted && Math.ceil(day / 7) === Number(nth);
  }
  const days = valuesOf(one);
  return ({ weekday }) => days.has(weekday);
}
