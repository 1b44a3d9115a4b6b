/**
 * What uploads say of tests that failed: an item for each test and hour, an attribute for each upload. So one failure
 * costs one small write however long the suite or the history is, the same upload written twice is there once, and the
 * failures of a day, or of one test, are one query.
 */
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { DAY_MS, type EpochMs, epochMs, HOUR_MS } from "../kernel/time.ts";
import { type Failure, type Repository, RETENTION_DAYS } from "../test-health/app/ports.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { keys } from "./keys.ts";
import { query } from "./read.ts";
import { newerItem, versioned } from "./versions.ts";

const AT_ONCE = 16;
const PREFIX = "u:";

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Milliseconds into the hour, executions that passed and failed, the key of the summary, the pull requests. */
const said = z.object({
  ms: z.int(),
  p: z.int(),
  f: z.int(),
  s: z.string(),
  prs: z.array(z.int()),
  q: z.boolean(),
});

const stored = versioned(
  z.looseObject({
    entity: z.literal("TEST_FAILURES"),
    schema: z.literal(1),
    sk: z.string(),
    hour: z.int(),
  }),
);

export type TestFailures = {
  readonly put: (of: Repository, failures: readonly Failure[]) => Promise<void>;
  readonly find: (
    of: Repository,
    from: EpochMs,
    until: EpochMs,
    tests?: readonly string[],
    eventually?: boolean,
  ) => Promise<readonly Failure[]>;
};

export const testFailures = (table: Table): TestFailures => ({
  put: async (of, failures) => {
    const left = [...failures];
    const work = async (): Promise<void> => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await putOne(table, of, one);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, work));
  },
  find: async (of, from, until, tests, eventually = false) => {
    if (from >= until) return [];
    const days: string[] = [];
    for (let at = Math.floor(from / DAY_MS) * DAY_MS; at < until; at += DAY_MS) days.push(dayOf(at));
    const ranges = days.flatMap((day) => {
      const pk = keys.failuresOn(of, day);
      if (tests === undefined) return [{ pk }];
      return tests.map((test) => {
        const [first, last] = [keys.failuresIn(of, day, test, 0).sk, keys.failuresIn(of, day, test, 23).sk];
        return { pk, between: [first, last] as const };
      });
    });
    const items = await Promise.all(ranges.map((range) => query(table, { ...range, eventually })));
    return items.flat().flatMap((item) => failuresOf(item).filter(({ at }) => at >= from && at < until));
  },
});

async function putOne(table: Table, of: Repository, failure: Failure): Promise<void> {
  const { test, upload, at, passed, failed, summary, pullRequests, wasQuarantined } = failure;
  const hour = Math.floor(at / HOUR_MS);
  const update = new UpdateCommand({
    TableName: table.name,
    Key: keys.failuresIn(of, dayOf(at), test, hour % 24),
    UpdateExpression: "SET #upload = :said, #entity = :entity, #schema = :one, #hour = :hour, #end = :end",
    // Nobody reads it first: an item of a newer version keeps its own.
    ConditionExpression: "attribute_not_exists(#schema) OR #schema <= :one",
    ExpressionAttributeNames: {
      "#upload": `${PREFIX}${upload}`,
      "#entity": "entity",
      "#schema": "schema",
      "#hour": "hour",
      "#end": "expiresAtSeconds",
    },
    ExpressionAttributeValues: {
      ":said": { ms: at - hour * HOUR_MS, p: passed, f: failed, s: summary, prs: pullRequests, q: wasQuarantined },
      ":entity": "TEST_FAILURES",
      ":one": 1,
      ":hour": hour,
      ":end": Math.floor(at / 1000) + RETENTION_DAYS * 24 * 3600,
    },
  });
  if (!(await unlessRefused(() => table.client.send(update)))) throw newerItem("TEST_FAILURES");
}

function failuresOf(item: Record<string, unknown>): readonly Failure[] {
  const { sk, hour, ...rest } = stored.parse(item);
  const test = keys.testOfFailures(sk);
  return Object.entries(rest).flatMap(([name, value]): readonly Failure[] => {
    if (!name.startsWith(PREFIX)) return [];
    const { ms, p, f, s, prs, q } = said.parse(value);
    const upload = name.slice(PREFIX.length);
    const at = epochMs(hour * HOUR_MS + ms);
    return [{ test, upload, at, passed: p, failed: f, summary: s, pullRequests: prs, wasQuarantined: q }];
  });
}
