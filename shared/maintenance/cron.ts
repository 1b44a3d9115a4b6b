/** Cron expressions as EventBridge reads them. */
import type { EpochMs } from "../kernel/time.ts";
import { compile, nextIn } from "./calendar.ts";
import { expected, type Field, FIELDS, ownOf, spelled } from "./cron-fields.ts";

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
  if (problems.length > 0) return { ok: false, problems };
  // EventBridge documents `6#3` and not `FRI#3`.
  return { ok: true, cron: [...FIELDS.entries()].map(([at, field]) => written(field, fields[at] ?? "")).join(" ") };
}

const written = (field: Field, text: string): string => ownOf(field, text) ?? text;

const compiled = new Map<CronText, ReturnType<typeof compile>>();
const COMPILED_MAX = 1_000;

/**
 * The next time after `wall` at which the expression holds; undefined when there is none any more. A wall is what a
 * clock on a wall shows, written as if it hung in UTC: time zones are not known here.
 */
export function nextWall(cron: CronText, wall: EpochMs): EpochMs | undefined {
  const known = compiled.get(cron) ?? compile(cron.split(" "));
  if (compiled.size >= COMPILED_MAX) compiled.clear();
  compiled.set(cron, known);
  return nextIn(known, wall);
}
