/**
 * What an installation of the GitHub App has spent of GitHub's limits, in all processes together: one item for each hour,
 * with counters for each of its minutes, added to by one write a time.
 */
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Budgets, BudgetState, RequestsLeft, Spent } from "../code-host/github/port.ts";
import { epochMs, type EpochMs, HOUR_MS, later, MINUTE_MS, SECOND_MS } from "../kernel/time.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { keys } from "./keys.ts";
import { query } from "./read.ts";
import { versioned } from "./versions.ts";

const requests = z.object({
  remaining: z.number(),
  limit: z.number(),
  resetAt: z.number().transform(epochMs),
  /** When that was said. */
  at: z.number(),
});

const hour = versioned(
  z.looseObject({
    entity: z.literal("GITHUB_BUDGET"),
    schema: z.literal(1),
    begins: z.int(),
    content: z.int().default(0),
    waitUntil: z.int().default(0),
    requests: requests.optional(),
  }),
);
type Hour = z.infer<typeof hour>;

/** The hour after it needs it, too. */
const KEPT_MS = 3 * HOUR_MS;

const begun = (at: EpochMs, spanMs: number): EpochMs => epochMs(Math.floor(at / spanMs) * spanMs);
/** `p07` are the points of the eighth minute, `c07` what it created. */
const minuteOf = (at: EpochMs): string => String(Math.floor((at % HOUR_MS) / MINUTE_MS)).padStart(2, "0");

const count = z.number().catch(0);

export function githubBudgets(table: Table, host: string): Budgets {
  return (installation) => {
    const update = async (
      now: EpochMs,
      set: Record<string, unknown>,
      add: Record<string, number>,
      when?: Condition,
    ) => {
      const begins = begun(now, HOUR_MS);
      const expiresAtSeconds = Math.floor(later(begins, KEPT_MS) / SECOND_MS);
      const all = { entity: "GITHUB_BUDGET", schema: 1, begins, expiresAtSeconds, ...set };
      const names = [...Object.keys(all), ...Object.keys(add)].map((name) => [`#${name}`, name]);
      const values = Object.entries({ ...all, ...add }).map(([name, value]) => [`:${name}`, value]);
      const adding = Object.keys(add).map((name) => `#${name} :${name}`);
      const command = new UpdateCommand({
        TableName: table.name,
        Key: keys.githubBudget(host, installation, begins),
        UpdateExpression: [
          `SET ${Object.keys(all)
            .map((name) => `#${name} = :${name}`)
            .join(", ")}`,
          ...(adding.length === 0 ? [] : [`ADD ${adding.join(", ")}`]),
        ].join(" "),
        ...(when === undefined ? {} : { ConditionExpression: when.expression }),
        ExpressionAttributeNames: { ...Object.fromEntries(names), ...when?.names },
        ExpressionAttributeValues: { ...Object.fromEntries(values), ...when?.values },
      });
      return unlessRefused(() => table.client.send(command));
    };
    return {
      read: async (now) => {
        const [pk, from, to] = keys.githubBudgetsOf(host, installation, later(begun(now, HOUR_MS), -HOUR_MS), now);
        const found = await query(table, { pk, between: [from, to] });
        return stateOf(
          found.map((item) => hour.parse(item)),
          now,
        );
      },
      spend: async (now, { points, content }, told, caps) => {
        const [p, c] = [`p${minuteOf(now)}`, `c${minuteOf(now)}`];
        const add: Record<string, number> = { [p]: points, ...(content === 0 ? {} : { content, [c]: content }) };
        const created =
          caps === null || content === 0 ? {} : { content: caps.contentOfHour, [c]: caps.contentOfMinute };
        const most = caps === null ? {} : { [p]: caps.points, waitUntil: now, ...created };
        const done = await update(now, told === null ? {} : { requests: { ...told, at: now } }, add, atMost(most));
        return done ? "SPENT" : "OVER";
      },
      wait: async (now, until) => {
        const isLater = "attribute_not_exists(#waitUntil) OR #waitUntil < :waitUntil";
        await update(now, { waitUntil: until }, {}, { expression: isLater, names: {}, values: {} });
      },
    };
  };
}

type Condition = {
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, number>>;
};

function atMost(most: Readonly<Record<string, number>>): Condition | undefined {
  const names = Object.keys(most);
  if (names.length === 0) return undefined;
  return {
    names: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    expression: names.map((name) => `(attribute_not_exists(#${name}) OR #${name} <= :most_${name})`).join(" AND "),
    values: Object.fromEntries(Object.entries(most).map(([name, value]) => [`:most_${name}`, value])),
  };
}

function stateOf(hours: readonly Hour[], now: EpochMs): BudgetState {
  const hourAt = (at: EpochMs): Hour | undefined => hours.find((one) => one.begins === begun(at, HOUR_MS));
  const minuteAt = (at: EpochMs): Spent => {
    const of = hourAt(at);
    return { points: count.parse(of?.[`p${minuteOf(at)}`]), content: count.parse(of?.[`c${minuteOf(at)}`]) };
  };
  const inHour = (at: EpochMs): Spent => ({ points: 0, content: hourAt(at)?.content ?? 0 });
  return {
    minute: { before: minuteAt(later(now, -MINUTE_MS)), now: minuteAt(now) },
    hour: { before: inHour(later(now, -HOUR_MS)), now: inHour(now) },
    waitUntil: epochMs(Math.max(0, ...hours.map((one) => one.waitUntil))),
    requests: newest(
      hours.flatMap((one) => one.requests ?? []),
      now,
    ),
  };
}

function newest(told: readonly z.infer<typeof requests>[], now: EpochMs): RequestsLeft | null {
  const [last] = told.toSorted((a, b) => b.at - a.at);
  if (last === undefined || last.resetAt <= now) return null;
  const { remaining, limit, resetAt } = last;
  return { remaining, limit, resetAt };
}
