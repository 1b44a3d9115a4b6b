/** One test: its details, its quarantine, its ticket. */
import { fail, ok, type Result } from "../../kernel/result.ts";
import { DAY_MS, type EpochMs, epochMs, later } from "../../kernel/time.ts";
import { observationsOf } from "./figures.ts";
import { change, readResults } from "./judge.ts";
import { rowOf, type TestRow } from "./lists.ts";
import type { HealthApp, QuarantineSetting, Repository, TestRecord } from "./ports.ts";
import type { RepositorySettings } from "./settings.ts";

const HISTORY_DAYS = 30;

export type TestDay = { readonly day: string; readonly passed: number; readonly failed: number };

export type TestDetails = {
  readonly row: TestRow;
  readonly settings: RepositorySettings;
  /** Days on which it ran, oldest first. */
  readonly days: readonly TestDay[];
};

type Found<T> = Result<T, "TEST_NOT_FOUND">;

const unknown = (id: string) =>
  fail("TEST_NOT_FOUND", `No attempt of a test "${id}" has failed in this repository in the last weeks.`);

export async function testDetails(app: HealthApp, repository: Repository, id: string): Promise<Found<TestDetails>> {
  const [records, settings] = await Promise.all([app.health.tests(repository, [id]), app.health.settings(repository)]);
  const record = records.get(id);
  if (record === undefined) return unknown(id);
  const now = app.clock();
  const from = epochMs(Math.max(0, now - HISTORY_DAYS * DAY_MS));
  const results = await readResults(app.health, repository, from, later(now, 1), [id], true);
  const days = new Map<string, { passed: number; failed: number }>();
  for (const { at, passed, failed } of observationsOf(results, id)) {
    const day = new Date(at).toISOString().slice(0, 10);
    const known = days.get(day) ?? { passed: 0, failed: 0 };
    days.set(day, { passed: known.passed + passed, failed: known.failed + failed });
  }
  return ok({
    row: rowOf(record, results, settings, now, (failures) => failures),
    settings,
    days: [...days].map(([day, counts]) => ({ day, ...counts })).sort((a, b) => a.day.localeCompare(b.day)),
  });
}

/** Says for one test whether it is quarantined, whatever the repository does by itself. */
export const setQuarantine = (app: HealthApp, repository: Repository, id: string, setting: QuarantineSetting) =>
  changeTest(app, repository, id, (record) => ({ ...record, setting, settingAt: app.clock() }));

/** @param ticket its address, or what the repository's template makes one of; null takes it away */
export const linkTicket = (app: HealthApp, repository: Repository, id: string, ticket: string | null) =>
  changeTest(app, repository, id, (record) => ({ ...record, ticket }));

async function changeTest(
  app: HealthApp,
  repository: Repository,
  id: string,
  make: (record: TestRecord) => TestRecord,
): Promise<Found<{ readonly id: string; readonly at: EpochMs }>> {
  const found = await change(app, repository, id, make);
  return found ? ok({ id, at: app.clock() }) : unknown(id);
}
