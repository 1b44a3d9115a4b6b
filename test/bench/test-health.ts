/** What test health costs: an upload by the size of its suite and what failed in it, and the lists by what is in them. */
import { randomUUID } from "node:crypto";
import { LOCAL_ORG } from "../../infra/local/admin-token.ts";
import { DAY_MS, type EpochMs, epochMs, later } from "../../shared/kernel/time.ts";
import { healthStore } from "../../shared/table/health-store.ts";
import { judgeAll } from "../../shared/test-health/app/judge.ts";
import { listFailing } from "../../shared/test-health/app/lists.ts";
import type { HealthApp, Repository } from "../../shared/test-health/app/ports.ts";
import { aHistory, type History, type Plan, WEEK_MS } from "./health-history.ts";
import { succeeded } from "./http-client.ts";
import { type Cost, callsOf } from "./meter.ts";
import { ms, promised, type Row, stated, times, units } from "./report.ts";
import type { BenchService } from "./service.ts";

const PART = "test-health";
const SIZES = [1_000, 10_000, 100_000] as const;
const FAILING = [0, 0.01] as const;
const UNCHANGED_WRITES_MAX = 60;
const PAGE_READS_MAX = 500;

export async function testHealth(service: BenchService): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const share of FAILING) rows.push(...(await uploads(service, share)));
  rows.push(...(await pages(service)));
  rows.push(...(await windows(service)));
  return rows;
}

/** As a runner writes it; failures are spread over the suite. */
function suite(size: number, failing: number): Buffer {
  const every = failing === 0 ? Number.POSITIVE_INFINITY : size / failing;
  const cases = Array.from({ length: size }, (_, at) => {
    const inside = at % every === 0 ? `<failure message="expected ${at} to be 1"/>` : "";
    return `<testcase classname="shop.module${at % 317}.Case" name="test ${at}" time="0.01">${inside}</testcase>\n`;
  });
  return Buffer.from(`<testsuites><testsuite name="shop">${cases.join("")}</testsuite></testsuites>`);
}

async function uploads({ client, meter }: BenchService, share: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const percent = `${100 * share} % failing`;
  const again: number[] = [];
  for (const size of SIZES) {
    const body = suite(size, size * share);
    const headers = { "content-type": "application/xml", "content-length": String(body.length) };
    const send = async (): Promise<{ readonly cost: Cost; readonly took: number }> => {
      const facts = { repo: `acme/suite-${size}-${100 * share}`, repoHost: "git.local", branch: "main", job: "unit" };
      const sha = randomUUID().replaceAll("-", "").padEnd(40, "0");
      const query = new URLSearchParams({ ...facts, sha }).toString();
      const begun = performance.now();
      const path = `/flaky-tests/upload-test-results?${query}`;
      const { cost } = await meter.during(async () => succeeded(path, await client.send(path, { body, headers })));
      return { cost, took: performance.now() - begun };
    };
    const [first, second] = [await send(), await send()];
    again.push(second.cost.writes);
    const failures = size * share;
    const each = failures === 0 ? "" : `, ${units(second.cost.writes / failures)} a failure`;
    const said = ({ cost, took }: typeof first) =>
      `${units(cost.writes)} written, ${units(cost.reads)} read, ${ms(took)}`;
    const name = `upload of ${size} tests, ${percent}`;
    rows.push(stated(PART, `${name}: the first`, said(first), { writes: first.cost.writes, reads: first.cost.reads }));
    const numbers = { writes: second.cost.writes, reads: second.cost.reads };
    const unchanged = `  the same suite again (${callsOf(second.cost)})`;
    const goal = { goal: `at most ${UNCHANGED_WRITES_MAX} written`, holds: second.cost.writes <= UNCHANGED_WRITES_MAX };
    rows.push(
      share === 0
        ? promised(PART, unchanged, said(second), goal, numbers)
        : stated(PART, unchanged, `${said(second)}${each}`, numbers),
    );
  }
  const growth = again.slice(1).map((cost, at) => cost / (again[at] ?? Number.NaN));
  rows.push(stated(PART, `  growth of that per decade, ${percent}`, growth.map(times).join(", "), {}));
  return rows;
}

const repositoryOf = (name: string): Repository => ({
  org: LOCAL_ORG,
  repo: { host: "git.local", owner: "acme", name },
});

/** As a process that has just begun: nothing is remembered. */
const freshly = ({ app, table }: BenchService, now: EpochMs): HealthApp => ({
  ...app,
  health: healthStore(table, () => now),
  clock: () => now,
});

const PAGE: Plan = { uploads: 7_000, lists: 300, tests: 5_000, failing: 100, failures: 7_000 };

async function pages(service: BenchService): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const taken: number[] = [];
  for (const part of [0.25, 1]) {
    const plan = { ...PAGE, uploads: PAGE.uploads * part, failures: PAGE.failures * part, lists: PAGE.lists * part };
    const history = await aHistory(service.table, repositoryOf(`page-${part}`), plan, now());
    const { cost, took, wrong } = await onePage(service, history);
    taken.push(cost.reads);
    const name = `one page of ${plan.failing} failing tests, ${plan.uploads} uploads of ${plan.lists} lists, ${plan.failures} failures`;
    const holds = cost.reads <= PAGE_READS_MAX && wrong === 0;
    const goal = { goal: `at most ${PAGE_READS_MAX} read, all rates as recounted`, holds };
    const said = `${units(cost.reads)} read, ${ms(took)}, ${wrong} rates of 100 differ`;
    rows.push(promised(PART, name, said, goal, { reads: cost.reads, wrong }));
    rows.push(...(await parts(service, history, cost.reads)));
  }
  rows.push(stated(PART, "  growth with four times as much of all", times((taken[1] ?? 0) / (taken[0] ?? 1)), {}));
  return rows;
}

const now = (): EpochMs => epochMs(Date.now());

async function onePage(service: BenchService, { of, until, ids, rateOf }: History) {
  const app = freshly(service, until);
  const asked = { page_size: 100, page_token: "" };
  const begun = performance.now();
  const from = epochMs(until - WEEK_MS);
  const { given, cost } = await service.meter.during(() => listFailing(app, of, from, later(until, 1), asked));
  const took = performance.now() - begun;
  if (!given.ok) throw new Error(given.fault.message);
  const shown = new Map(given.value.rows.map((row) => [row.record.id, row.rate7d]));
  const rates = new Map(ids.map((id, test) => [id, rateOf(test)]));
  const failing = [...rates.values()].filter((rate) => rate > 0).length;
  if (shown.size !== Math.min(100, failing)) throw new Error(`${shown.size} of ${failing} rows`);
  const wrong = [...shown].filter(([id, rate]) => Math.abs(rate - (rates.get(id) ?? -1)) > 1e-12).length;
  return { cost, took, wrong };
}

/** What the list reads, each by itself. */
async function parts(service: BenchService, { of, until }: History, total: number): Promise<readonly Row[]> {
  const { health } = freshly(service, until);
  const { during } = service.meter;
  const from = epochMs(until - WEEK_MS);
  const listed = await during(() => health.uploads(of, from, later(until, 1)));
  const sets = await during(() => health.sets(of, [...new Set(listed.given.map((one) => one.executed))]));
  const failures = await during(() => health.failures(of, from, later(until, 1)));
  const day = await during(() => health.failures(of, epochMs(until - 2 * DAY_MS), epochMs(until - DAY_MS)));
  const largest = Math.max(listed.cost.reads, failures.cost.reads);
  const said = [
    `uploads ${units(listed.cost.reads)}`,
    `lists ${units(sets.cost.reads)}`,
    `failures ${units(failures.cost.reads)} (two days of them ${units(day.cost.reads)})`,
    `all of it ${times(total / largest)} of the largest`,
  ];
  const numbers = { uploads: listed.cost.reads, lists: sets.cost.reads, failures: failures.cost.reads };
  return [stated(PART, "  of it", said.join(", "), { ...numbers, ratio: total / largest })];
}

const WINDOW: Plan = { uploads: 1_000, lists: 20, tests: 5_000, failing: 2_000, failures: 100_000 };

async function windows(service: BenchService): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const taken: number[] = [];
  for (const part of [0.1, 1]) {
    const plan = { ...WINDOW, uploads: WINDOW.uploads * part, failures: WINDOW.failures * part };
    const history = await aHistory(service.table, repositoryOf(`window-${part}`), plan, now());
    const { cost, took, wrong } = await onePage(service, history);
    taken.push(cost.reads);
    const name = `list-failing-tests over 7 days, ${plan.failures} failures of ${plan.failing} tests`;
    rows.push(
      promised(
        PART,
        name,
        `${units(cost.reads)} read, ${ms(took)}`,
        { goal: "rates as recounted", holds: wrong === 0 },
        {
          reads: cost.reads,
        },
      ),
    );
    rows.push(...(await parts(service, history, cost.reads)));
    const app = freshly(service, history.until);
    const begun = performance.now();
    const judged = await service.meter.during(() => judgeAll(app, history.of));
    const judging = `${ms(performance.now() - begun)}, ${units(judged.cost.reads)} read, ${units(judged.cost.writes)} written`;
    rows.push(stated(PART, `  judging all ${plan.failing}`, judging, { writes: judged.cost.writes }));
  }
  rows.push(stated(PART, "  growth with ten times the failures", times((taken[1] ?? 0) / (taken[0] ?? 1)), {}));
  return rows;
}
