/** Test results of a month: what one upload costs, and one look at all tests, with so many uploads behind them. */
import { randomUUID } from "node:crypto";
import { LOCAL_ORG } from "../../../infra/local/admin-token.ts";
import { PER_PULL_REQUEST } from "../../../infra/cost/assumptions.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { judgeAll } from "../../../shared/test-health/app/judge.ts";
import type { Repository } from "../../../shared/test-health/app/ports.ts";
import { aHistory } from "../health-history.ts";
import { succeeded } from "../http-client.ts";
import type { BenchService } from "../service.ts";
import type { Counted } from "./queue-month.ts";

export type TestsMonth = { readonly upload: Counted; readonly judging: Counted };

/** Both look back so many weeks; one week is made, and what it adds counts so often. */
const WEEKS_LOOKED_BACK = 4;
const WEEKS_IN_MONTH = 30 / 7;

function suite(failing: boolean): Buffer {
  const cases = Array.from({ length: PER_PULL_REQUEST.testsPerUpload }, (_, at) => {
    const inside = failing && at === 0 ? '<failure message="late"/>' : "";
    return `<testcase classname="shop.module${at % 17}.Case" name="test ${at}" time="0.01">${inside}</testcase>`;
  });
  return Buffer.from(`<testsuites><testsuite name="shop">${cases.join("\n")}</testsuite></testsuites>`);
}

async function uploaded({ client, meter }: BenchService, name: string, failing: boolean): Promise<Counted> {
  const sha = randomUUID().replaceAll("-", "").padEnd(40, "0");
  const facts = { repo: `acme/${name}`, repoHost: "git.local", branch: "main", job: "unit", sha };
  const path = `/flaky-tests/upload-test-results?${new URLSearchParams(facts).toString()}`;
  const headers = { "content-type": "application/xml" };
  const work = async () => succeeded(path, await client.send(path, { body: suite(failing), headers }));
  return (await meter.during(work)).cost;
}

const mix = (share: number, a: Counted, b: Counted): Counted => ({
  reads: (1 - share) * a.reads + share * b.reads,
  writes: (1 - share) * a.writes + share * b.writes,
});

/** The second of each: a process that has just begun is rare. */
async function oneOfEach(service: BenchService, name: string): Promise<TestsMonth> {
  const of: Repository = { org: LOCAL_ORG, repo: { host: "git.local", owner: "acme", name } };
  for (const failing of [false, true]) await uploaded(service, name, failing);
  const [passing, failing] = [await uploaded(service, name, false), await uploaded(service, name, true)];
  await judgeAll(service.app, of);
  const judging = (await service.meter.during(() => judgeAll(service.app, of))).cost;
  return { upload: mix(PER_PULL_REQUEST.failingUploads, passing, failing), judging };
}

/** What the week adds, as often as the history has weeks. */
const over = (none: Counted, week: Counted): Counted => ({
  reads: none.reads + WEEKS_LOOKED_BACK * Math.max(0, week.reads - none.reads),
  writes: none.writes + Math.max(0, week.writes - none.writes),
});

export async function testsMonth(service: BenchService, uploadsPerMonth: number): Promise<TestsMonth> {
  const none = await oneOfEach(service, `none-${uploadsPerMonth}`);
  const name = `month-${uploadsPerMonth}`;
  const uploads = Math.max(1, Math.round(uploadsPerMonth / WEEKS_IN_MONTH));
  const failures = Math.round(uploads * PER_PULL_REQUEST.failingUploads);
  const plan = { uploads, lists: Math.min(20, uploads), tests: PER_PULL_REQUEST.testsPerUpload, failing: 30, failures };
  const of = { org: LOCAL_ORG, repo: { host: "git.local", owner: "acme", name } };
  await aHistory(service.table, of, plan, epochMs(Date.now()));
  const week = await oneOfEach(service, name);
  return { upload: over(none.upload, week.upload), judging: over(none.judging, week.judging) };
}
