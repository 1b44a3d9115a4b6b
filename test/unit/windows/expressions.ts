/** Random cron expressions, each field as text and as the question that it asks. */
import * as fc from "fast-check";
import type { Asks, Wall } from "./brute-force.ts";

export type FieldOf = { readonly text: string; readonly asks: Asks };

type Name = keyof Wall;

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

type Numbers = {
  readonly name: Name;
  /** Where the field begins, if its values are taken from a part of it. */
  readonly first?: number;
  readonly min: number;
  readonly max: number;
  readonly words?: readonly string[];
};

const stepped = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);

/** A list of values, ranges and steps, in numbers or words. */
function numbers({ name, min, max, words, first = min }: Numbers): fc.Arbitrary<FieldOf> {
  const value = fc.integer({ min, max });
  const written = (one: number) =>
    words === undefined ? fc.constant(String(one)) : fc.constantFrom(String(one), words[one - min] ?? "");
  const step = fc.integer({ min: 1, max: max - min });
  const single = value.chain((one) => written(one).map((text) => ({ text, values: [one] })));
  const from = fc
    .tuple(value, step)
    .chain(([one, by]) => written(one).map((text) => ({ text: `${text}/${by}`, values: stepped(one, max, by) })));
  const every = step.map((by) => ({ text: `*/${by}`, values: stepped(first, max, by) }));
  const range = fc.tuple(value, value, fc.option(step, { nil: undefined })).chain(([a, b, by]) => {
    const [low, high] = a < b ? [a, b] : [b, a];
    return fc.tuple(written(low), written(high)).map(([start, end]) => ({
      text: `${start}-${end}${by === undefined ? "" : `/${by}`}`,
      values: stepped(low, high, by ?? 1),
    }));
  });
  return fc.array(fc.oneof(single, from, every, range), { minLength: 1, maxLength: 3 }).map((items) => {
    const values = new Set(items.flatMap((item) => item.values));
    return { text: items.map((item) => item.text).join(","), asks: (wall) => values.has(wall[name]) };
  });
}

const star = fc.constant<FieldOf>({ text: "*", asks: () => true });

const lastDay = ({ year, month }: Wall): number => new Date(Date.UTC(year, month, 0)).getUTCDate();
const weekdayOn = ({ year, month }: Wall, day: number): number =>
  new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
const isWorkday = (wall: Wall, day: number): boolean =>
  day >= 1 && day <= lastDay(wall) && weekdayOn(wall, day) !== 1 && weekdayOn(wall, day) !== 7;

/** The workday of the month that is nearest to `day`; a month without that day has none. */
function nearest(wall: Wall, day: number): number | undefined {
  if (day > lastDay(wall)) return undefined;
  return [0, -1, 1, -2, 2].map((by) => day + by).find((one) => isWorkday(wall, one));
}

const dayOfMonth = fc.oneof(
  star,
  numbers({ name: "day", min: 1, max: 31 }),
  fc.constant<FieldOf>({ text: "L", asks: (wall) => wall.day === lastDay(wall) }),
  fc
    .integer({ min: 1, max: 31 })
    .map((day) => ({ text: `${day}W`, asks: (wall: Wall) => wall.day === nearest(wall, day) })),
);

const dayName = fc
  .integer({ min: 1, max: 7 })
  .chain((day) => fc.constantFrom(String(day), DAYS[day - 1] ?? "").map((text) => ({ day, text })));

const dayOfWeek = fc.oneof(
  star,
  numbers({ name: "weekday", min: 1, max: 7, words: DAYS }),
  fc.constant<FieldOf>({ text: "L", asks: (wall) => wall.weekday === 7 }),
  dayName.map(({ day, text }) => ({
    text: `${text}L`,
    asks: (wall: Wall) => wall.weekday === day && wall.day + 7 > lastDay(wall),
  })),
  fc.tuple(dayName, fc.integer({ min: 1, max: 5 })).map(([{ day, text }, nth]) => ({
    text: `${text}#${nth}`,
    asks: (wall: Wall) => wall.weekday === day && Math.ceil(wall.day / 7) === nth,
  })),
);

const none: FieldOf = { text: "?", asks: () => true };
const days = fc.oneof(
  dayOfMonth.map((one) => [one, none] as const),
  dayOfWeek.map((one) => [none, one] as const),
);

type Expression = { readonly text: string; readonly asks: readonly Asks[] };

const joined = (fields: readonly FieldOf[]): Expression => ({
  text: fields.map((field) => field.text).join(" "),
  asks: fields.map((field) => field.asks),
});

const minutes = numbers({ name: "minute", min: 0, max: 59 });
const hours = numbers({ name: "hour", min: 0, max: 23 });
const month = numbers({ name: "month", min: 1, max: 12, words: MONTHS });

/** Busy in the hours of a day, every day. */
export const daily: fc.Arbitrary<Expression> = fc
  .tuple(fc.oneof(star, minutes), fc.oneof(star, hours))
  .map((fields) =>
    joined([
      ...fields,
      none,
      { text: "*", asks: () => true },
      { text: "*", asks: () => true },
      { text: "*", asks: () => true },
    ]),
  );

/** Once on chosen days, at noon: by day, month, weekday and year. */
export const calendar: fc.Arbitrary<Expression> = fc
  .tuple(days, fc.oneof(star, month), fc.oneof(star, numbers({ name: "year", first: 1970, min: 2024, max: 2030 })))
  .map(([[dom, dow], months, year]) =>
    joined([
      { text: "0", asks: (wall) => wall.minute === 0 },
      { text: "12", asks: (wall) => wall.hour === 12 },
      dom,
      months,
      dow,
      year,
    ]),
  );
