/** Lists of tests: failing in a window, flaky or broken, quarantined. */
import { ok, type Result } from "../../kernel/result.ts";
import { DAY_MS, type EpochMs, epochMs, later } from "../../kernel/time.ts";
import type { TestStatus } from "../detect/history.ts";
import {
  type CommonFailure,
  commonFailures,
  failureRate,
  observationsOf,
  pullRequestsIn,
  type Results,
  resultsOf,
} from "./figures.ts";
import { HEALTHY_REASON, readResults } from "./judge.ts";
import { type PageQuery, type PageView, pageOf, placeOf } from "./page.ts";
import type { Failure, HealthApp, Repository, TestRecord } from "./ports.ts";
import { isQuarantined, type RepositorySettings } from "./settings.ts";

const WEEK_MS = 7 * DAY_MS;
const COMMON_FAILURES_MAX = 5;

/** One row: the record, and what is counted of it as of the list's moment. */
export type TestRow = {
  readonly record: TestRecord;
  readonly status: { readonly value: TestStatus; readonly reason: string; readonly at: EpochMs };
  readonly isQuarantined: boolean;
  readonly pullRequests: number;
  readonly rate7d: number;
  readonly rate24h: number;
  readonly common: readonly CommonFailure[];
};

export type TestPage = {
  readonly rows: readonly TestRow[];
  readonly page: PageView;
  readonly settings: RepositorySettings;
};
type Listed = Result<TestPage, "INVALID_REQUEST">;

/** Those of which an attempt failed from `from` until before `until`, by the latest failure in it, newest first. */
export async function listFailing(
  app: HealthApp,
  repository: Repository,
  from: EpochMs,
  until: EpochMs,
  asked: PageQuery,
): Promise<Listed> {
  const query = queryOf("failing", repository, from, until, asked.page_size);
  const place = placeOf(query, asked.page_token, app.clock());
  if (!place.ok) return place;
  const { asOf } = place.value;
  const [week, settings] = [weekBefore(asOf), await app.health.settings(repository)];
  const all = await resultsAsOf(app, repository, epochMs(Math.min(from, week)), later(asOf, 1), asOf);
  const latest = [...all.failures].flatMap(([test, failures]) => {
    const last = failures.findLast(({ at }) => at >= from && at < until);
    return last === undefined ? [] : [{ test, at: last.at }];
  });
  latest.sort((a, b) => b.at - a.at || compare(a.test, b.test));
  const { rows, page } = pageOf(latest, query, place.value, asked.page_size);
  const records = await app.health.tests(
    repository,
    rows.map(({ test }) => test),
    true,
  );
  const inWindow = (failures: readonly Failure[]): readonly Failure[] =>
    failures.filter(({ at }) => at >= from && at < until);
  const found = rows.flatMap(({ test }) => records.get(test) ?? []);
  return ok({ rows: found.map((record) => rowOf(record, all, settings, asOf, inWindow)), page, settings });
}

/** Those that are flaky or broken, or one of both, by the time since which they are, newest first. */
export async function listUnhealthy(
  app: HealthApp,
  repository: Repository,
  status: "FLAKY" | "BROKEN" | undefined,
  asked: PageQuery,
): Promise<Listed> {
  const query = queryOf("unhealthy", repository, status ?? "", "", asked.page_size);
  return listRecords(app, repository, query, asked, (record, asOf) => {
    const { value } = statusAsOf(record, asOf);
    return value !== "HEALTHY" && (status === undefined || value === status);
  });
}

/** Those whose failures count for nobody now. */
export async function listQuarantined(app: HealthApp, repository: Repository, asked: PageQuery): Promise<Listed> {
  const query = queryOf("quarantined", repository, "", "", asked.page_size);
  return listRecords(app, repository, query, asked, (record, asOf, settings) =>
    isQuarantined(settings, record.setting, statusAsOf(record, asOf).value),
  );
}

async function listRecords(
  app: HealthApp,
  repository: Repository,
  query: string,
  asked: PageQuery,
  isListed: (record: TestRecord, asOf: EpochMs, settings: RepositorySettings) => boolean,
): Promise<Listed> {
  const place = placeOf(query, asked.page_token, app.clock());
  if (!place.ok) return place;
  const { asOf } = place.value;
  const [settings, records] = await Promise.all([app.health.settings(repository), app.health.allTests(repository)]);
  const listed = records
    .filter((record) => isListed(record, asOf, settings))
    .map((record) => ({ record, at: statusAsOf(record, asOf).at }))
    .sort((a, b) => b.at - a.at || compare(a.record.id, b.record.id));
  const { rows, page } = pageOf(listed, query, place.value, asked.page_size);
  const all =
    rows.length === 0
      ? EMPTY
      : await resultsAsOf(
          app,
          repository,
          weekBefore(asOf),
          later(asOf, 1),
          asOf,
          rows.map(({ record }) => record.id),
        );
  return ok({
    rows: rows.map(({ record }) => rowOf(record, all, settings, asOf, (failures) => failures)),
    page,
    settings,
  });
}

const EMPTY: Results = resultsOf([], new Map(), []);

/** Code points, not a language: the order must be the same everywhere. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const queryOf = (list: string, { org, repo }: Repository, ...rest: readonly unknown[]): string =>
  JSON.stringify([list, org, repo.host, repo.owner, repo.name, ...rest]);

const weekBefore = (asOf: EpochMs): EpochMs => epochMs(Math.max(0, asOf - WEEK_MS));

/** Without the uploads that came in later. */
async function resultsAsOf(
  { health }: HealthApp,
  repository: Repository,
  from: EpochMs,
  until: EpochMs,
  asOf: EpochMs,
  tests?: readonly string[],
): Promise<Results> {
  const all = await readResults(health, repository, from, until, tests, true);
  const uploads = all.uploads.filter(({ receivedAt }) => receivedAt <= asOf);
  if (uploads.length === all.uploads.length) return all;
  return resultsOf(uploads, all.sets, [...all.failures.values()].flat());
}

/** What it was at that moment: later transitions are invisible. */
function statusAsOf(record: TestRecord, asOf: EpochMs): TestRow["status"] {
  const last = record.transitions.findLast(({ at }) => at <= asOf);
  if (last === undefined) return { value: "HEALTHY", reason: HEALTHY_REASON, at: record.firstFailedAt ?? asOf };
  const reason = last === record.transitions.at(-1) ? record.reason : last.reason;
  return { value: last.status, reason, at: last.at };
}

/** @param counted of its failures, those whose summaries are counted */
export function rowOf(
  record: TestRecord,
  results: Results,
  settings: RepositorySettings,
  asOf: EpochMs,
  counted: (failures: readonly Failure[]) => readonly Failure[],
): TestRow {
  const failures = results.failures.get(record.id) ?? [];
  const observations = observationsOf(results, record.id);
  const status = statusAsOf(record, asOf);
  const until = later(asOf, 1);
  return {
    record,
    status,
    isQuarantined: isQuarantined(settings, record.setting, status.value),
    pullRequests: pullRequestsIn(failures, weekBefore(asOf), until),
    rate7d: failureRate(observations, weekBefore(asOf), until),
    rate24h: failureRate(observations, epochMs(Math.max(0, asOf - DAY_MS)), until),
    common: commonFailures(counted(failures), record, COMMON_FAILURES_MAX),
  };
}
