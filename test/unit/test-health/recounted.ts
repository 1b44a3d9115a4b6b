/** Figures of lists against a recount from the files themselves, by the plainest code that counts. */
import * as fc from "fast-check";
import { expect } from "vitest";
import { DAY_MS, epochMs, HOUR_MS, later } from "../../../shared/kernel/time.ts";
import { listFailing } from "../../../shared/test-health/app/lists.ts";
import type { Tables } from "../../support/table.ts";
import { fresh, NOON, testHealth } from "./store-fixture.ts";

const TESTS = ["a", "b", "c", "d", "e"] as const;

/** Attempts in their order: "P" passed, "F" failed; none: it was skipped, or is not in the file. */
type Upload = {
  readonly at: number;
  readonly pr: number | null;
  readonly job: string;
  readonly variant: string;
  readonly saying: string;
  readonly attempts: readonly string[];
};

const upload: fc.Arbitrary<Upload> = fc.record({
  // Around the edges of the windows, where it matters, and anywhere between.
  at: fc.oneof(
    fc.constantFrom(0, 1, HOUR_MS, DAY_MS - 1, DAY_MS, DAY_MS + 1, 7 * DAY_MS - 1, 7 * DAY_MS, 7 * DAY_MS + 1),
    fc.nat({ max: 9 * DAY_MS }),
  ),
  pr: fc.option(fc.integer({ min: 1, max: 3 })),
  job: fc.constantFrom("unit", "other"),
  variant: fc.constantFrom("", "", "linux"),
  saying: fc.constantFrom("refused", "no answer", "expected red to be blue"),
  attempts: fc.tuple(...TESTS.map(() => fc.constantFrom("P", "P", "F", "FP", "FFP", "FF", "PF", "", "skip"))),
});

function fileOf({ attempts, saying }: Upload): string {
  const cases = attempts.flatMap((all, at) => {
    const of = (inside: string): string => `<testcase name="${TESTS[at] ?? ""}">${inside}</testcase>`;
    if (all === "skip") return [of("<skipped/>")];
    return Array.from(all, (one) => of(one === "F" ? `<failure message="${saying}"/>` : ""));
  });
  return `<testsuite name="s">${cases.join("")}</testsuite>`;
}

type Run = Upload & { readonly all: string };
const failuresIn = ({ all }: Run): number => Array.from(all).filter((one) => one === "F").length;
/** A file says nothing of passes that were repeated: an upload in which nothing failed is one execution. */
const executionsIn = (run: Run): number => (run.all === "P" || failuresIn(run) === 0 ? 1 : run.all.length);
const sum = (runs: readonly Run[], of: (run: Run) => number): number => runs.reduce((all, run) => all + of(run), 0);

/** Ages are milliseconds before the moment of the list; the window is that of the failures. */
function recount(uploads: readonly Upload[], oldest: number, youngest: number) {
  const rows = TESTS.flatMap((name, index) =>
    ["", "linux"].flatMap((variant) => {
      const runs = uploads
        .filter((one) => one.variant === variant)
        .map((one): Run => ({ ...one, all: one.attempts[index] ?? "" }))
        .filter(({ all }) => all !== "" && all !== "skip");
      const failed = runs.filter((run) => failuresIn(run) > 0);
      const within = failed.filter(({ at }) => at <= oldest && at > youngest);
      if (within.length === 0) return [];
      const rate = (age: number): number => {
        const all = runs.filter(({ at }) => at <= age);
        return all.length === 0 ? 0 : sum(all, failuresIn) / sum(all, executionsIn);
      };
      const sayings = Map.groupBy(within, ({ saying }) => saying);
      return {
        name,
        variant,
        rate7d: rate(7 * DAY_MS),
        rate24h: rate(DAY_MS),
        pullRequests: new Set(failed.flatMap(({ at, pr }) => (pr === null || at > 7 * DAY_MS ? [] : [pr]))).size,
        latest: Math.min(...within.map(({ at }) => at)),
        common: [...sayings]
          .map(([summary, of]) => ({ summary, count: sum(of, failuresIn), at: Math.min(...of.map(({ at }) => at)) }))
          .toSorted((a, b) => b.count - a.count || a.at - b.at || (a.summary < b.summary ? -1 : 1))
          .map(({ summary, count }) => ({ summary, count })),
      };
    }),
  );
  return rows.toSorted((a, b) => a.latest - b.latest || (a.name + a.variant < b.name + b.variant ? -1 : 1));
}

/** The property itself, for as many histories. */
export async function equalARecount(running: Tables, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(upload, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(7 * DAY_MS, DAY_MS, 3 * DAY_MS, HOUR_MS),
      fc.constantFrom(0, -1, HOUR_MS - 1),
      async (uploads, oldest, youngest) => {
        const table = await running.another();
        const health = testHealth(table);
        for (const [attempt, one] of uploads.entries())
          await health.takes(fileOf(one), {
            at: epochMs(NOON - one.at),
            pullRequests: one.pr === null ? [] : [one.pr],
            job: one.job,
            variant: one.variant,
            attempt: attempt + 1,
          });
        const asked = { page_size: 100, page_token: "" };
        const app = { ...health.app, health: fresh(table, health) };
        const listed = await listFailing(app, health.repository, later(NOON, -oldest), later(NOON, -youngest), asked);
        if (!listed.ok) throw new Error(listed.fault.message);
        const { rows } = listed.value;
        const shown = rows.map(({ record, rate7d, rate24h, pullRequests, common }) => ({
          name: record.name,
          variant: record.variant,
          rate7d,
          rate24h,
          pullRequests,
          common: common.map(({ summary, count }) => ({ summary, count })),
        }));
        const counted = recount(uploads, oldest, youngest);
        const key = (row: { readonly name: string; readonly variant: string }): string => row.name + row.variant;
        const inOrder = shown.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
        const expected = counted
          .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
          .map((row) => ({ ...row, latest: undefined }));
        expect(inOrder).toEqual(expected);
        const latest = new Map(counted.map((row) => [key(row), row.latest]));
        expect(shown.map((row) => latest.get(key(row)))).toEqual(counted.map((row) => row.latest));
      },
    ),
    { numRuns },
  );
}
