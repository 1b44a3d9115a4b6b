/** Failures by day and hour, the list of uploads, records that two write, and when a repository is due. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { DAY_MS, type EpochMs, epochMs, HOUR_MS, later } from "../../../shared/kernel/time.ts";
import { Unavailable } from "../../../shared/kernel/unavailable.ts";
import type { Table } from "../../../shared/table/client.ts";
import { healthStore } from "../../../shared/table/health-store.ts";
import { systemWaiting } from "../../../functions/waiting.ts";
import { change } from "../../../shared/test-health/app/judge.ts";
import { noWaiting } from "../../support/waiting.ts";
import type { Failure, HealthStore, TestRecord, UploadEntry } from "../../../shared/test-health/app/ports.ts";
import { DEFAULT_SETTINGS } from "../../../shared/test-health/app/settings.ts";
import { newRecord } from "../../../shared/test-health/app/upload.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRepositoryOf, NOON } from "./store-fixture.ts";

const of = aRepositoryOf();
const MIDNIGHT = epochMs(NOON - 12 * HOUR_MS);

let running: Tables;
let table: Table;
let health: HealthStore;
beforeAll(async () => {
  running = await sharedTable();
});
beforeEach(async () => {
  table = await running.another();
  health = healthStore(table, () => NOON);
});

const aFailure = (test: string, at: number, change: Partial<Failure> = {}): Failure => ({
  test,
  upload: `u${at}`,
  at: epochMs(at),
  passed: 0,
  failed: 1,
  summary: "k",
  pullRequests: [1],
  wasQuarantined: false,
  ...change,
});
const byTime = (failures: readonly Failure[]): readonly Failure[] =>
  failures.toSorted((a, b) => a.at - b.at || (a.test < b.test ? -1 : 1));

describe("failures", () => {
  test("are found from a time until before another, across hours, days and the turn of a year", async () => {
    const turn = Date.UTC(2026, 0, 1);
    const edges = [turn, turn - DAY_MS, turn + HOUR_MS, turn + 23 * HOUR_MS, turn + DAY_MS];
    const all = edges
      .flatMap((edge) => [edge - 1, edge, edge + 1])
      .flatMap((at) => [aFailure("a", at), aFailure("b", at)]);
    await health.putFailures(of, all);
    for (const from of [turn - 2 * DAY_MS, ...edges])
      for (const until of [from, from + 1, from + 2, from + HOUR_MS, from + DAY_MS, turn + 2 * DAY_MS]) {
        const expected = all.filter(({ at }) => at >= from && at < until);
        expect(byTime(await health.failures(of, epochMs(from), epochMs(until)))).toEqual(byTime(expected));
        const ofOne = expected.filter((one) => one.test === "a");
        expect(byTime(await health.failures(of, epochMs(from), epochMs(until), ["a"]))).toEqual(byTime(ofOne));
      }
  });

  test("written again are there once, as they were written last", async () => {
    const first = aFailure("a", NOON);
    await health.putFailures(of, [first, first]);
    await health.putFailures(of, [{ ...first, wasQuarantined: true }]);
    expect(await health.failures(of, NOON, later(NOON, 1))).toEqual([{ ...first, wasQuarantined: true }]);
  });

  test("of several uploads in the same millisecond are several", async () => {
    const all = ["x", "y", "z"].map((upload) =>
      aFailure("a", NOON, { upload, passed: 2, failed: 3, pullRequests: [] }),
    );
    await Promise.all(all.map((one) => health.putFailures(of, [one])));
    const found = await health.failures(of, NOON, later(NOON, 1));
    expect(found.toSorted((a, b) => (a.upload < b.upload ? -1 : 1))).toEqual(all);
  });

  test("of tests with odd ids, or ids that begin alike, are told apart", async () => {
    const ids = [
      "a",
      "a#",
      "a#1",
      "a#11",
      "a#23",
      "A",
      "urn:uuid:1",
      "{1}",
      "é",
      "%23",
      "constructor",
      "__proto__",
      "x".repeat(900),
    ];
    await health.putFailures(
      of,
      ids.map((id) => aFailure(id, NOON)),
    );
    for (const id of ids)
      expect((await health.failures(of, MIDNIGHT, later(NOON, 1), [id])).map((one) => one.test)).toEqual([id]);
  });

  test("are of one repository of one organization", async () => {
    await health.putFailures(of, [aFailure("a", NOON)]);
    for (const other of [aRepositoryOf("other"), aRepositoryOf("app", "other")])
      expect(await health.failures(other, MIDNIGHT, later(NOON, 1))).toEqual([]);
  });
});

const anUpload = (id: string, at: EpochMs, more: Partial<UploadEntry> = {}): UploadEntry => ({
  id,
  sha: "a".repeat(40),
  branch: "topic/é#1",
  job: "unit",
  at,
  testRun: null,
  receivedAt: later(at, 5),
  isDefaultBranch: false,
  executed: "digest",
  tests: 3,
  failed: 2,
  failing: 1,
  isOutage: false,
  isCommitOutage: false,
  ...more,
});
const recordOf = (id: string) =>
  ({ id, receivedAt: NOON, state: "PROCESSED", problem: null, facts: null, answer: null }) as const;

describe("the list of uploads", () => {
  test("is of a time, oldest first, each as it was put", async () => {
    const all = [
      anUpload("c", later(NOON, -1), { isDefaultBranch: true, testRun: "run-1" }),
      anUpload("b", NOON, { isOutage: true }),
      anUpload("a", later(NOON, 1), { isDefaultBranch: true, isOutage: true }),
    ];
    for (const one of all.toReversed()) await health.putUpload(of, one, recordOf(one.id));
    expect(await health.uploads(of, later(NOON, -1), later(NOON, 2))).toEqual(all);
    expect(await health.uploads(of, NOON, later(NOON, 1))).toEqual(all.slice(1, 2));
    expect(await health.uploads(of, NOON, NOON)).toEqual([]);
    expect(await health.uploads(aRepositoryOf("app", "other"), MIDNIGHT, later(NOON, 2))).toEqual([]);
  });

  test("keeps an entry where it was listed first", async () => {
    await health.putUpload(of, anUpload("a", NOON), recordOf("a"));
    await health.putUpload(of, anUpload("a", NOON, { receivedAt: later(NOON, 99_999) }), recordOf("a"));
    expect(await health.uploads(of, NOON, later(NOON, 1))).toEqual([anUpload("a", NOON)]);
  });

  test("a claim is the first one's, whoever comes later", async () => {
    const claims = [1, 2, 3].map(
      (ms) => ({ ...recordOf("a"), state: "WAITING", receivedAt: later(NOON, ms) }) as const,
    );
    const given = await Promise.all(claims.map((one) => health.claimUpload(of, one)));
    expect(new Set(given.map((one) => one.receivedAt)).size).toBe(1);
    expect(await health.upload(of, "a")).toEqual(given[0]);
    expect(await health.claimUpload(of, recordOf("a"))).toEqual(given[0]);
  });
});

const aRecord = (id: string): TestRecord => {
  const names = { id: "", name: id, classname: "", parent: "", file: "", variant: "" };
  return newRecord({ id, variant: "", result: { ...names, outcome: "FAILED", attempts: [], durationMs: null } });
};
const only = async (id: string) => (await health.tests(of, [id])).get(id);

describe("a test's record", () => {
  test("is written only by who has seen what is there", async () => {
    expect(await health.putTest(of, aRecord("a"))).toBe(true);
    expect(await health.putTest(of, aRecord("a"))).toBe(false);
    const [seen] = await health.allTests(of);
    if (seen === undefined) throw new Error("no record");
    const puts = [1, 2, 3].map((n) => health.putTest(of, { ...seen, ticket: `T-${n}` }));
    expect((await Promise.all(puts)).filter(Boolean)).toHaveLength(1);
    expect(await only("a")).toMatchObject({ revision: 2 });
    expect(await health.putTest(of, { ...seen, revision: 9 })).toBe(false);
  });

  test("that thirty change at once has all their changes", async () => {
    const changes = Array.from({ length: 30 }, (_, at) =>
      change(
        { health, waiting: systemWaiting },
        of,
        "a",
        (present) => ({
          ...present,
          summaries: [...present.summaries, { key: `${at}`, text: "", example: "", lastAt: NOON }],
        }),
        aRecord("a"),
      ),
    );
    await Promise.all(changes);
    const keysOf = (await only("a"))?.summaries.map((one) => Number(one.key)) ?? [];
    expect(keysOf.toSorted((a, b) => a - b)).toEqual(changes.map((_, at) => at));
  });

  test("that is always written by others is the service's trouble, not the request's", async () => {
    const busy: HealthStore = { ...health, putTest: () => Promise.resolve(false) };
    await expect(
      change({ health: busy, waiting: noWaiting() }, of, "a", (present) => present, aRecord("a")),
    ).rejects.toThrow(Unavailable);
    expect(await change({ health, waiting: noWaiting() }, of, "nobody", (present) => present)).toBe(false);
  });

  test("several hundred are read at once, and only those of the repository", async () => {
    const ids = Array.from({ length: 250 }, (_, at) => `t${at}`);
    await Promise.all(ids.map((id) => health.putTest(of, aRecord(id))));
    const found = await health.tests(of, [...ids, ...ids.slice(9), "nobody"]);
    expect([...found.keys()].toSorted()).toEqual(ids.toSorted());
    expect(await health.allTests(of)).toHaveLength(250);
    expect(await health.allTests(aRepositoryOf("app", "other"))).toEqual([]);
  });
});

describe("what is due", () => {
  const dueAt = async (at: EpochMs) => (await health.due(at)).map((one) => one.repository);

  test("is due from its time on, each repository once", async () => {
    const other = aRepositoryOf("app", "other");
    await health.markDue(of, later(NOON, 10));
    await health.markDue(of, later(NOON, 5));
    await health.markDue(other, later(NOON, 7));
    expect(await dueAt(later(NOON, 4))).toEqual([]);
    expect(await dueAt(later(NOON, 5))).toEqual([of]);
    expect((await dueAt(later(NOON, 7))).map((one) => one.org)).toEqual([orgSlug("acme"), orgSlug("other")]);
  });

  test("is put off, or taken away, unless something came in since it was looked at", async () => {
    await health.markDue(of, NOON);
    const [seen] = await health.due(NOON);
    if (seen === undefined) throw new Error("nothing is due");
    await health.rearm(seen, later(NOON, 100));
    expect(await dueAt(later(NOON, 99))).toEqual([]);
    const [later100] = await health.due(later(NOON, 100));
    await health.markDue(of, NOON);
    await health.rearm(later100 ?? seen, null);
    await health.rearm(seen, later(NOON, 500));
    expect(await dueAt(NOON)).toEqual([of]);
    const [again] = await health.due(NOON);
    await health.rearm(again ?? seen, null);
    expect(await dueAt(later(NOON, DAY_MS))).toEqual([]);
  });
});

test("settings that were stored before a rule had a field have the field's default", async () => {
  const { shortEpisodes } = DEFAULT_SETTINGS.rules;
  const { apartMinutes: _, ...before } = shortEpisodes;
  const old = { ...DEFAULT_SETTINGS, rules: { ...DEFAULT_SETTINGS.rules, shortEpisodes: { ...before, countMin: 3 } } };
  await health.changeSettings(of, () => old as typeof DEFAULT_SETTINGS);
  expect((await health.settings(of)).rules.shortEpisodes).toEqual({ ...shortEpisodes, countMin: 3 });
  expect(await health.settings(aRepositoryOf("other"))).toEqual(DEFAULT_SETTINGS);
});

test("two who change settings at the same moment both have their way", async () => {
  const repository = aRepositoryOf("settled");
  await Promise.all([
    health.changeSettings(repository, (present) => ({ ...present, quarantinesFlaky: true })),
    health.changeSettings(repository, (present) => ({ ...present, codeowners: "* @a" })),
    health.changeSettings(repository, (present) => ({ ...present, defaultBranch: "trunk" })),
  ]);
  const { quarantinesFlaky, codeowners, defaultBranch } = await health.settings(repository);
  expect([quarantinesFlaky, codeowners, defaultBranch]).toEqual([true, "* @a", "trunk"]);
});
