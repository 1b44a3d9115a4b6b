/** All that is alarmed about: each in the words of whom it hurts, with what to do first. */
import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Function } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Worker, WorkerName } from "../workers.ts";
import type { AlarmSpec } from "./alarm.ts";

const PERIOD = Duration.minutes(5);
/** Of one day: for so long letters of theirs are kept. */
const FAILED_MINUTES = 5;
const EVERYTHING_READS = "Look at the dashboard whether the table or the workers are in trouble too";

export const gatewayMetric = (apiId: string, metricName: string, statistic: string): IMetric =>
  new Metric({ namespace: "AWS/ApiGateway", metricName, dimensionsMap: { ApiId: apiId }, statistic, period: PERIOD });

type WatchedApi = {
  readonly api: { readonly apiId: string };
  readonly authorizer: { readonly fn: Function };
};

export function apiAlarms({ api, authorizer }: WatchedApi, throttled: IMetric): readonly AlarmSpec[] {
  const of = (name: string, statistic: string): IMetric => gatewayMetric(api.apiId, name, statistic);
  const failing = new MathExpression({
    label: "Share of requests that fail",
    expression: "IF(asked >= 20, 100 * failed / asked, 0)",
    usingMetrics: { asked: of("Count", "Sum"), failed: of("5xx", "Sum") },
    period: PERIOD,
  });
  return [
    {
      name: "api-fails",
      hurts: "Whoever calls the API, people and CI alike, is answered an error of ours: submissions and uploads fail.",
      first: `${EVERYTHING_READS}; then find the requests of 500 and above in the access log.`,
      metric: failing,
      threshold: 5,
      evaluationPeriods: 2,
    },
    {
      name: "api-is-slow",
      hurts: "Whoever calls the API waits: one request in a hundred takes longer than five seconds.",
      first: `${EVERYTHING_READS}; then find the routes with the largest "ms" in the access log.`,
      metric: of("Latency", "p99"),
      threshold: Duration.seconds(5).toMilliseconds(),
      evaluationPeriods: 3,
    },
    {
      name: "api-throttles",
      hurts: "Whoever calls the API often is answered 429: CI jobs that send results wait or fail.",
      first:
        "See in the access log whose token asks so often; raise `throttling` in infra/config.ts if it is right to.",
      metric: throttled,
      threshold: 50,
      evaluationPeriods: 2,
    },
    {
      name: "authorize-token-fails",
      hurts: "Whoever sends a token that is not in the gateway's cache is answered 500, however good it is.",
      first: "Read the latest errors of the function authorize-token.",
      metric: authorizer.fn.metricErrors({ period: PERIOD }),
      threshold: 3,
      evaluationPeriods: 1,
    },
  ];
}

/** Neither a request nor a worker fails by it: each waits until GitHub can be asked. */
export const gitHubAlarm = (refused: IMetric): AlarmSpec => ({
  name: "app-is-refused",
  hurts: "Whoever has a pull request on GitHub waits: nothing is tested and nothing lands.",
  first: "Read the latest errors of the function sweep: they say whether the secret or GitHub is the trouble.",
  metric: refused,
  threshold: 2,
  evaluationPeriods: 2,
});

export const tableMetric = (TableName: string, metricName: string): IMetric =>
  new Metric({
    namespace: "AWS/DynamoDB",
    metricName,
    dimensionsMap: { TableName },
    statistic: "Sum",
    period: PERIOD,
  });

export function tableAlarms(table: string): readonly AlarmSpec[] {
  const of = (metricName: string): IMetric => tableMetric(table, metricName);
  return [
    {
      name: "table-throttles-reads",
      hurts: "Whoever asks something is answered late or 503, and queues move slowly.",
      first: "See on the dashboard what is read so much, and whether the account's limit of the table is reached.",
      metric: of("ReadThrottleEvents"),
      threshold: 50,
      evaluationPeriods: 2,
    },
    {
      name: "table-throttles-writes",
      hurts: "Whoever changes something is answered late or 503, and queues move slowly.",
      first: "See on the dashboard what is written so much: one queue's partition takes about 1,000 units a second.",
      metric: of("WriteThrottleEvents"),
      threshold: 50,
      evaluationPeriods: 2,
    },
  ];
}

/** What people notice when it does not work. */
const HURTS: Readonly<Record<WorkerName, string>> = {
  "authorize-token": "Whoever calls the API is answered 500.",
  "advance-queue":
    "Whoever has a pull request in a queue waits: submissions and results are taken in late or not at all.",
  "run-effects": "Whoever has a pull request in a queue waits: test runs are not started and nothing lands.",
  sweep: "Whoever waits for a timeout, a retry or a message that was lost waits on: nothing heals by itself.",
  "judge-tests": "Whoever goes by the state of tests sees an old one: what is flaky now is not found.",
  "read-bundles": "Whoever uploads bundles of test results sees nothing come of them.",
  "maintenance-window": "Whoever counts on a maintenance window finds the queue merging in it, or held after it.",
};

type Parts = { readonly service: { readonly fn: Function }; readonly deadLetters: Queue };

/** That it fails, that it gave something up, and that it does not come to its work. */
export function workerAlarms(worker: Worker<WorkerName>, { service, deadLetters }: Parts): readonly AlarmSpec[] {
  const { name, trigger } = worker;
  const hurts = HURTS[name];
  return [
    {
      name: `${name}-fails`,
      hurts,
      first: `Read the latest errors of the function ${name}.`,
      metric: service.fn.metricErrors({ period: PERIOD }),
      threshold: 3,
      evaluationPeriods: 1,
    },
    {
      name: `${name}-gave-up`,
      hurts,
      first:
        "Look at one message of its dead-letter queue, which says what was given up and when; then at its log of that time.",
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: "Maximum" }),
      threshold: trigger.kind === "every-minute" ? FAILED_MINUTES : 1,
      evaluationPeriods: 1,
    },
    ...(trigger.kind === "stream" ? [late(name, hurts, service.fn)] : []),
    ...(trigger.kind === "every-minute" ? [silent(name, hurts, service.fn)] : []),
  ];
}

const late = (name: WorkerName, hurts: string, fn: Function): AlarmSpec => ({
  name: `${name}-is-late`,
  hurts,
  first: `See on the dashboard whether ${name} fails, is refused for concurrency, or has too much to do.`,
  metric: fn.metric("IteratorAge", { period: PERIOD, statistic: "Maximum" }),
  threshold: Duration.minutes(2).toMilliseconds(),
  evaluationPeriods: 1,
});

const silent = (name: WorkerName, hurts: string, fn: Function): AlarmSpec => ({
  name: `${name}-does-not-run`,
  hurts,
  first: `See whether the rule ${name} of EventBridge is enabled, and whether the account's concurrency is used up.`,
  metric: fn.metricInvocations({ period: PERIOD }),
  threshold: 1,
  below: true,
  missingIsBad: true,
  evaluationPeriods: 2,
});
