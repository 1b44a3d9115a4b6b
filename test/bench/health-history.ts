/** A week of uploads written straight into the store, kept beside it as the plain list that a recount goes by. */
import { randomUUID } from "node:crypto";
import type { Table } from "../../shared/table/client.ts";
import { healthStore } from "../../shared/table/health-store.ts";
import type { HealthStore, Repository, TestRecord, UploadEntry } from "../../shared/test-health/app/ports.ts";
import { newRecord } from "../../shared/test-health/app/upload.ts";
import { gathered } from "./gathered.ts";
import { DAY_MS, type EpochMs, epochMs } from "../../shared/kernel/time.ts";

export const WEEK_MS = 7 * DAY_MS;

const SETS_AT_ONCE = 16;

export type Plan = {
  readonly uploads: number;
  /** Distinct lists of tests among them. */
  readonly lists: number;
  /** Tests of each list, of which the first `failing` fail now and then. */
  readonly tests: number;
  readonly failing: number;
  /** Failures in all. */
  readonly failures: number;
};

type Run = { readonly at: EpochMs; readonly list: number; readonly failed: ReadonlySet<number> };

export type History = {
  readonly of: Repository;
  readonly until: EpochMs;
  readonly ids: readonly string[];
  /** Failed of all runs of the last week, counted run by run. */
  readonly rateOf: (test: number) => number;
};

/** Which of the failing tests a list lacks: another one in each list, and none in the first. */
const isIn = (list: number, test: number, { failing }: Plan): boolean => list === 0 || test !== list % failing;

export async function aHistory(table: Table, of: Repository, plan: Plan, until: EpochMs): Promise<History> {
  const now = (): EpochMs => until;
  const seeding = gathered(table);
  const [sets, health] = [healthStore(table, now), healthStore(seeding.table, now)];
  const ids = Array.from({ length: plan.tests }, () => randomUUID());
  const keep = (list: number): Promise<string> =>
    sets.keepSet(of, "unit", [...ids.filter((_, test) => isIn(list, test, plan)), `only in ${list}`]);
  // The first is what the others are told from.
  const digests = [await keep(0)];
  for (let list = 1; list < plan.lists; list += SETS_AT_ONCE)
    digests.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(SETS_AT_ONCE, plan.lists - list) }, (_, at) => keep(list + at)),
      )),
    );
  for (let test = 0; test < plan.failing; test += 1) await health.putTest(of, recordOf(ids[test] ?? "", test));
  const runs = runsOf(plan, until);
  for (const run of runs) await write(health, of, plan, ids, digests, run);
  await seeding.flush();
  const rateOf = (test: number): number => {
    const executed = runs.filter(({ list }) => isIn(list, test, plan));
    return executed.filter(({ failed }) => failed.has(test)).length / executed.length;
  };
  return { of, until, ids: ids.slice(0, plan.failing), rateOf };
}

/** Evenly over the week; the failures go round, so that each run has as many as any other. */
function runsOf(plan: Plan, until: EpochMs): readonly Run[] {
  const each = plan.failures / plan.uploads;
  return Array.from({ length: plan.uploads }, (_, run): Run => {
    const at = epochMs(until - WEEK_MS + 1 + Math.floor((run * (WEEK_MS - 2)) / plan.uploads));
    const list = run % plan.lists;
    const [first, last] = [Math.floor(run * each), Math.floor((run + 1) * each)];
    const candidates = Array.from({ length: last - first }, (_unused, at) => ((first + at) * 7) % plan.failing);
    return { at, list, failed: new Set(candidates.filter((test) => isIn(list, test, plan))) };
  });
}

async function write(
  health: HealthStore,
  of: Repository,
  plan: Plan,
  ids: readonly string[],
  digests: readonly string[],
  run: Run,
): Promise<void> {
  const { at, failed } = run;
  const id = randomUUID().replaceAll("-", "").slice(0, 24);
  await health.putFailures(
    of,
    [...failed].map((test) => ({
      test: ids[test] ?? "",
      upload: id,
      at,
      passed: 0,
      failed: 1,
      summary: "0".repeat(32),
      pullRequests: [1 + (at % 500)],
      wasQuarantined: false,
    })),
  );
  const entry: UploadEntry = {
    id,
    sha: id.padEnd(40, "0"),
    branch: "main",
    job: "unit",
    at,
    testRun: null,
    receivedAt: at,
    isDefaultBranch: true,
    executed: digests[run.list] ?? "",
    tests: plan.tests,
    failed: failed.size,
    failing: failed.size,
    isOutage: false,
    isCommitOutage: false,
  };
  await health.putUpload(of, entry, {
    id,
    receivedAt: at,
    state: "PROCESSED",
    problem: null,
    facts: null,
    answer: null,
  });
}

const recordOf = (id: string, test: number): TestRecord => {
  const names = { id: "", name: `test ${test}`, classname: "shop.Cart", parent: "cart", file: "src/cart.test.ts" };
  return newRecord({
    id,
    variant: "",
    result: { ...names, variant: "", outcome: "FAILED", attempts: [], durationMs: null },
  });
};
