/** Cron expressions as EventBridge reads them, checked here and handed to `croner`, which knows the calendar. */
import { Cron } from "croner";
import { type EpochMs, epochMs } from "../kernel/time.ts";
import { expected, FIELDS, spelled } from "./cron-fields.ts";

/** The six fields, upper case, one space between them: what EventBridge gets within `cron(…)`. */
export type CronText = string;

export type CronRead =
  | { readonly ok: true; readonly cron: CronText }
  | { readonly ok: false; readonly problems: readonly string[] };

const DAY_OF_MONTH = 2;
const DAY_OF_WEEK = 4;

/** With or without `cron(…)` around it. Every problem at once, each with the name of its field. */
export function readCron(text: string): CronRead {
  const inner = /^\s*cron\((?<inner>.*)\)\s*$/iu.exec(text)?.groups?.["inner"] ?? text;
  const fields = inner.trim().toUpperCase().split(/\s+/u);
  if (fields.length !== FIELDS.length || inner.length > 250)
    return {
      ok: false,
      problems: ["must have six fields: minutes hours day-of-month month day-of-week year, such as 0 22 ? * FRI *"],
    };
  const problems = [...FIELDS.entries()].flatMap(([at, field]) => {
    const text = fields[at] ?? "";
    if (text === "*" || spelled(field, text) !== undefined) return [];
    if (text === "?" && (at === DAY_OF_MONTH || at === DAY_OF_WEEK)) return [];
    return [`${field.name} "${text}": expected ${expected(field)}`];
  });
  if ((fields[DAY_OF_MONTH] === "?") === (fields[DAY_OF_WEEK] === "?"))
    problems.push("day of month and day of week: one of them, and only one, must be ?");
  return problems.length > 0 ? { ok: false, problems } : { ok: true, cron: fields.join(" ") };
}

const compiled = new Map<CronText, Cron>();
const COMPILED_MAX = 1_000;

/** As croner writes it: seconds first, every step with its range, days of the week from SUN = 1. */
function compile(cron: CronText): Cron {
  const known = compiled.get(cron);
  if (known !== undefined) return known;
  const fields = cron.split(" ").map((text, at) => {
    const field = FIELDS[at];
    if (field === undefined || text === "*" || text === "?") return "*";
    return at === DAY_OF_WEEK && text === "L" ? "7" : (spelled(field, text) ?? text);
  });
  const options = { mode: "7-part", alternativeWeekdays: true, paused: true, utcOffset: 0 } as const;
  const made = new Cron(`0 ${fields.join(" ")}`, options);
  if (compiled.size >= COMPILED_MAX) compiled.clear();
  compiled.set(cron, made);
  return made;
}

/**
 * The next time after `wall` at which the expression holds; undefined when there is none any more. A wall is what a
 * clock on a wall shows, written as if it hung in UTC: time zones are not known here, so that no library's view of
 * hours that are skipped or repeated gets in.
 */
export function nextWall(cron: CronText, wall: EpochMs): EpochMs | undefined {
  const next = compile(cron).nextRun(new Date(wall));
  return next === null ? undefined : epochMs(next.getTime());
}
