/**
 * The six fields of an EventBridge cron expression: minutes, hours, day of month, month, day of week, year.
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
 *
 * What the documentation leaves open is refused, so that an expression means the same here and there: ranges that wrap
 * around (FRI-MON), `LW`, `W` and `L` within lists, steps beyond a field's range.
 */
export type Field = {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Words for the values from `min` on. */
  readonly words: readonly string[];
  /** What the field may hold beside numbers, lists, ranges and steps, and how to write it. */
  readonly own: readonly { readonly pattern: RegExp; readonly as: string }[];
};

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

export const FIELDS: readonly Field[] = [
  { name: "minutes", min: 0, max: 59, words: [], own: [] },
  { name: "hours", min: 0, max: 23, words: [], own: [] },
  {
    name: "day of month",
    min: 1,
    max: 31,
    words: [],
    own: [
      { pattern: /^L$/u, as: "L (the last)" },
      { pattern: /^(?<value>\w+)W$/u, as: "15W (the weekday nearest to the 15th)" },
    ],
  },
  { name: "month", min: 1, max: 12, words: MONTHS, own: [] },
  {
    name: "day of week",
    min: 1,
    max: 7,
    words: DAYS,
    own: [
      { pattern: /^L$/u, as: "L (SAT)" },
      { pattern: /^(?<value>\w+)L$/u, as: "6L (the last FRI of the month)" },
      { pattern: /^(?<value>\w+)#[1-5]$/u, as: "6#3 (the third FRI of the month)" },
    ],
  },
  { name: "year", min: 1970, max: 2199, words: [], own: [] },
];

/** The value that a number or a word stands for; undefined where the field has no such value. */
function valueOf(field: Field, text: string): number | undefined {
  const word = field.words.indexOf(text);
  if (word >= 0) return field.min + word;
  if (!/^\d{1,4}$/u.test(text)) return undefined;
  const value = Number(text);
  return value >= field.min && value <= field.max ? value : undefined;
}

/** One item of a field's list as a range with a step, in numbers; undefined where it is none. */
function rangeOf(field: Field, item: string): string | undefined {
  const [range = "", step, ...others] = item.split("/");
  if (others.length > 0 || (step !== undefined && !/^[1-9]\d{0,3}$/u.test(step))) return undefined;
  if (step !== undefined && Number(step) > field.max - field.min + 1) return undefined;
  const [from = "", to, ...rest] = range === "*" ? [String(field.min), String(field.max)] : range.split("-");
  const first = valueOf(field, from);
  // `5/20` begins at 5 and goes on to the end.
  const last = to !== undefined ? valueOf(field, to) : step === undefined ? first : field.max;
  if (rest.length > 0 || first === undefined || last === undefined || first > last) return undefined;
  return `${first}-${last}/${step ?? 1}`;
}

/** What only this field may hold, with its word as a number; undefined where it is nothing of the kind. */
export function ownOf(field: Field, text: string): string | undefined {
  for (const { pattern } of field.own) {
    const match = pattern.exec(text);
    const word = match?.groups?.["value"];
    if (match === null) continue;
    if (word === undefined) return text;
    const value = valueOf(field, word);
    return value === undefined ? undefined : text.replace(word, String(value));
  }
  return undefined;
}

/** A field in one spelling, numbers only; undefined where it cannot be read. `*` and `?` are left to the caller. */
export function spelled(field: Field, text: string): string | undefined {
  const own = ownOf(field, text);
  if (own !== undefined) return own;
  const items = text.split(",").map((item) => rangeOf(field, item));
  return items.every((item) => item !== undefined) ? items.join(",") : undefined;
}

export function expected({ min, max, words, own }: Field): string {
  const named = words.length === 0 ? "" : ` or ${words[0]} to ${words.at(-1)}`;
  const beside = own.map(({ as }) => `, or ${as}`).join("");
  return `${min} to ${max}${named}, *, lists (a,b), ranges (a-b) and steps (a/n)${beside}`;
}
