/** A month of so many merged pull requests, put together from what was counted. */
import {
  ANSWER_BYTES,
  KEPT_MONTHS,
  LARGE_SETS,
  LOG_BYTES,
  MINUTES,
  MINUTES_IN_QUEUE,
  MS,
  PER_PULL_REQUEST,
  SCRAPES,
} from "../../../infra/cost/assumptions.ts";
import { sum, type Units } from "../../../infra/cost/bill.ts";
import type { Counted, QueueMonth } from "./queue-month.ts";
import type { Deployed } from "./stacks.ts";
import type { TestsMonth } from "./tests-month.ts";

const GB = 1e9;
const READ_UNIT_BYTES = 4096;

export type CountedMonth = {
  readonly pullRequests: number;
  readonly queue: QueueMonth;
  readonly tests: TestsMonth;
  readonly deployed: Deployed;
  /** What a merged pull request, and an upload, leave in the table. */
  readonly bytes: { readonly pullRequest: number; readonly upload: number };
};

type Call = Partial<Units>;

/** What one call of a function costs by itself. */
const call = (gb: number, ms: number, { reads, writes }: Counted, logBytes: number): Call => ({
  invocations: 1,
  gbSeconds: (gb * (ms + (reads * READ_UNIT_BYTES * MS.perMbRead) / 1e6)) / 1000,
  readUnits: reads,
  writeUnits: writes,
  logGb: logBytes / GB,
  traces: 1,
});

const NOTHING: Counted = { reads: 0, writes: 0 };

export function unitsOf({ pullRequests, queue, tests, deployed, bytes }: CountedMonth): Units {
  const { memoryOf } = deployed;
  const uploads = pullRequests * PER_PULL_REQUEST.uploads;
  const { requests, loop } = queue;
  const each = (counted: Counted, times: number): Counted => ({
    reads: counted.reads / times,
    writes: counted.writes / times,
  });
  // Of every request: the gateway, and who is let in, as if the gateway never remembered it.
  const request = (gb: number, counted: Counted): Units =>
    sum(
      [1, call(gb, MS.request, counted, LOG_BYTES.request)],
      [1, call(memoryOf("authorize-token"), MS.authorizer, { reads: 1, writes: 0 }, 0)],
      [1, { gatewayRequests: 1, outGb: ANSWER_BYTES / GB }],
    );
  const minute = (name: string, counted: Counted): Call => call(memoryOf(name), MS.minute, counted, LOG_BYTES.worker);
  const inQueue = (pullRequests * MINUTES_IN_QUEUE) / MINUTES;
  const swept: Counted = {
    reads: queue.idleSweep.reads + inQueue * queue.sweepOfOne.reads,
    writes: queue.idleSweep.writes + inQueue * queue.sweepOfOne.writes,
  };
  // Minutes in which at least one upload came.
  const judgings = MINUTES * (1 - Math.exp(-uploads / MINUTES));
  const counted = sum(
    [pullRequests * requests.count, request(memoryOf("submit-pull-request"), each(requests, requests.count))],
    [uploads, request(memoryOf("upload-test-results"), tests.upload)],
    [SCRAPES, request(memoryOf("get-merge-queue-metrics"), queue.scrape)],
    [pullRequests * loop.advances, call(memoryOf("advance-queue"), MS.advance, NOTHING, LOG_BYTES.worker)],
    [pullRequests * loop.effects, call(memoryOf("run-effects"), MS.effect, NOTHING, LOG_BYTES.worker)],
    [pullRequests, { readUnits: loop.reads, writeUnits: loop.writes }],
    [MINUTES, minute("sweep", swept)],
    [MINUTES, minute("judge-tests", { reads: 0.5, writes: 0 })],
    [judgings, { ...minute("judge-tests", tests.judging), invocations: 0, traces: 0 }],
    [MINUTES, minute("read-bundles", { reads: 1, writes: 0 })],
  );
  const large = pullRequests * LARGE_SETS;
  return sum(
    [1, counted],
    [KEPT_MONTHS * pullRequests, { tableGb: bytes.pullRequest / GB }],
    [1.5 * uploads, { tableGb: bytes.upload / GB }],
    [large, { s3Puts: 1, s3Gets: 2, s3Gb: (KEPT_MONTHS * 1e6) / GB }],
    [
      1,
      {
        alarms: deployed.alarms,
        dashboards: deployed.dashboards,
        metrics: deployed.metrics,
        secrets: deployed.secrets,
      },
    ],
  );
}
