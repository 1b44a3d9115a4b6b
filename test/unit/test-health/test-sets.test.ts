/** Sets of tests as they are kept: what differs, in parts, for as long as an upload names them. */
import { randomUUID } from "node:crypto";
import { DeleteCommand, GetCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Table } from "../../../shared/table/client.ts";
import { keys } from "../../../shared/table/keys.ts";
import { testSets } from "../../../shared/table/test-sets.ts";
import { RETENTION_DAYS } from "../../../shared/test-health/app/ports.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRepositoryOf, days, NOON } from "./store-fixture.ts";

let running: Tables;
let table: Table;
let now: number;
const of = aRepositoryOf();
beforeAll(async () => {
  running = await sharedTable();
});
beforeEach(async () => {
  table = await running.another();
  now = NOON;
});

/** With nothing remembered, as another process. */
const fresh = () => testSets(table, () => now);
const many = (count: number): readonly string[] => Array.from({ length: count }, () => randomUUID());

/** Its item, with the base that its name tells. */
async function stored(name: string): Promise<Record<string, unknown>> {
  const [first = "", second] = name.split(".");
  const Key = second === undefined ? keys.testSet(of, first) : keys.testSetTold(of, first, second);
  const { Item = {} } = await table.client.send(new GetCommand({ TableName: table.name, Key }));
  return { ...Item, base: second === undefined ? null : first };
}
const bytesOf = (item: Record<string, unknown>): number =>
  ["added", "removed"].reduce((sum, name) => sum + (item[name] instanceof Uint8Array ? item[name].length : 0), 0);
const items = async () => (await table.client.send(new ScanCommand({ TableName: table.name }))).Items ?? [];

async function holds(digest: string, tests: readonly string[], others: readonly string[] = []): Promise<void> {
  const set = (await fresh().load(of, [digest])).get(digest);
  expect(set?.size).toBe(new Set(tests).size);
  expect(tests.every((one) => set?.has(one))).toBe(true);
  expect(others.some((one) => set?.has(one))).toBe(false);
}

describe("a set", () => {
  test("of no test, of one and of many holds those, and no others", async () => {
    for (const count of [0, 1, 2, 1_000]) {
      const tests = many(count);
      await holds(await fresh().keep(of, "unit", tests), tests, many(50));
    }
  });

  test("is the same in any order, and with each test several times", async () => {
    const sets = fresh();
    const tests = many(100);
    const digest = await sets.keep(of, "unit", tests);
    expect(await sets.keep(of, "unit", tests.toReversed())).toBe(digest);
    expect(await sets.keep(of, "other", [...tests, ...tests.slice(5)])).toBe(digest);
    expect(await sets.keep(of, "unit", tests.slice(1))).not.toBe(digest);
  });

  test("takes ids of every notation, and tells them apart", async () => {
    const uuid = randomUUID();
    const odd = [
      "",
      "a",
      "A",
      "test#1",
      `urn:uuid:${randomUUID()}`,
      `{${randomUUID()}}`,
      "é",
      "e\u0301",
      "x".repeat(5000),
      uuid,
    ];
    await holds(await fresh().keep(of, "unit", odd), odd, ["b", "test#2", "x".repeat(4999)]);
    const bare = randomUUID().replaceAll("-", "");
    await holds(await fresh().keep(of, "odd", [bare]), [bare], [randomUUID()]);
  });

  test("of 250,000 lies in parts and is read whole", async () => {
    const tests = many(250_000);
    const digest = await fresh().keep(of, "unit", tests);
    expect((await stored(digest))["parts"]).toBe(8);
    expect(bytesOf(await stored(digest))).toBe(0);
    await holds(digest, tests, many(10));
    const changed = await fresh().keep(of, "unit", [...tests.slice(3), "new"]);
    expect(bytesOf(await stored(changed))).toBe(4 * 8);
    await holds(changed, [...tests.slice(3), "new"], tests.slice(0, 3));
  });
});

describe("what is kept of it", () => {
  test("is what differs from the job's base, and all of it where that is much", async () => {
    const sets = fresh();
    const tests = many(10_000);
    const base = await sets.keep(of, "unit", tests);
    expect((await stored(base))["base"]).toBeNull();
    const near = [...tests.slice(7), ...many(5)];
    const told = await sets.keep(of, "unit", near);
    expect(await stored(told)).toMatchObject({ base, parts: 0 });
    expect(bytesOf(await stored(told))).toBe(12 * 8);
    await holds(told, near, tests.slice(0, 7));

    const far = [...tests.slice(2_000), ...many(1_000)];
    const full = await sets.keep(of, "unit", far);
    expect((await stored(full))["base"]).toBeNull();
    const next = await sets.keep(of, "unit", far.slice(1));
    expect(await stored(next)).toMatchObject({ base: full });
    expect((await stored(await sets.keep(of, "another job", far.slice(2))))["base"]).toBeNull();
  });

  test("costs nothing the second time, in this process or another", async () => {
    const tests = many(2_000);
    await fresh().keep(of, "unit", tests);
    const before = await items();
    await fresh().keep(of, "unit", tests);
    await fresh().keep(of, "other", tests);
    expect(await items()).toEqual(before);
  });

  test("is told from what is there: where the base has gone, whole", async () => {
    const sets = fresh();
    const tests = many(1_000);
    const base = await sets.keep(of, "unit", tests);
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.testSet(of, base) }));
    const next = tests.slice(1);
    // This one remembers the base, although it is no longer there.
    await holds(await sets.keep(of, "unit", next), next);
  });

  test("is never told from a set that is told itself, whoever writes at the same time", async () => {
    const tests = many(3_000);
    const jobs = Array.from({ length: 12 }, (_, at) => ({ job: `job ${at % 3}`, tests: tests.slice(at % 5) }));
    const digests = await Promise.all(jobs.map((one) => fresh().keep(of, one.job, one.tests)));
    for (const [at, one] of jobs.entries()) await holds(digests[at] ?? "", one.tests);
    for (const digest of new Set(digests)) {
      const { base } = await stored(digest);
      if (typeof base === "string") expect((await stored(base))["base"]).toBeNull();
    }
  });
});

describe("the end of a set", () => {
  const endOf = async (digest: string): Promise<number> =>
    (Number((await stored(digest))["expiresAtSeconds"]) * 1000 - now) / days(1);

  test("is later than that of every upload that names it, however long one process lives", async () => {
    const sets = fresh();
    const tests = many(1_000);
    const base = await sets.keep(of, "unit", tests);
    now += days(14);
    const told = await sets.keep(of, "unit", tests.slice(1));
    for (let day = 0; day < 100; day += 1) {
      now += days(1);
      // Half of them by a process that has just begun, which is told how long it lasts by what is stored.
      const keeping = day % 2 === 0 ? sets : fresh();
      await keeping.keep(of, "unit", tests.slice(1));
      expect(await endOf(told)).toBeGreaterThanOrEqual(RETENTION_DAYS - 0.001);
      expect(await endOf(base)).toBeGreaterThanOrEqual(RETENTION_DAYS - 0.001);
    }
  });

  test("a process that finds it there takes its end from there", async () => {
    const tests = many(100);
    const digest = await fresh().keep(of, "unit", tests);
    now += days(14);
    const late = fresh();
    await late.keep(of, "unit", tests);
    now += days(10);
    await late.keep(of, "unit", tests);
    expect(await endOf(digest)).toBeGreaterThan(RETENTION_DAYS + 15);
  });

  test("that has come is made good when it is named again", async () => {
    const tests = many(1_000);
    const base = await fresh().keep(of, "unit", tests);
    await fresh().keep(of, "unit", tests.slice(1));
    now += days(40);
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.testSet(of, base) }));
    await holds(await fresh().keep(of, "unit", tests.slice(1)), tests.slice(1));
  });
});

test("sets are of one repository: another one has none of them", async () => {
  const digest = await fresh().keep(of, "unit", ["a"]);
  expect((await fresh().load(aRepositoryOf("other"), [digest])).size).toBe(0);
  expect((await fresh().load(aRepositoryOf("app", "other"), [digest])).size).toBe(0);
});

test("whatever a job's suite goes through, each of its sets is read as it was kept", async () => {
  const change = fc.record({
    job: fc.constantFrom("a", "b"),
    drop: fc.nat({ max: 400 }),
    add: fc.nat({ max: 400 }),
    again: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      let tests = many(500);
      const sets = fresh();
      const kept: { readonly digest: string; readonly tests: readonly string[] }[] = [];
      for (const { job, drop, add, again } of changes) {
        tests = [...tests.slice(drop), ...many(add)];
        kept.push({ digest: await (again ? fresh() : sets).keep(of, job, tests), tests });
      }
      for (const one of kept) await holds(one.digest, one.tests);
    }),
    { numRuns: 12 },
  );
});
