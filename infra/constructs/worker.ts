import { Duration } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { SqsDlq } from "aws-cdk-lib/aws-lambda-event-sources";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { needsOf } from "../needs.ts";
import type { Trigger, Worker, WorkerName } from "../workers.ts";
import type { AlarmSpec } from "./alarm.ts";
import type { Data, Deployment } from "./deployment.ts";
import { deadLetterQueue, ServiceFunction } from "./function.ts";
import { workerAlarms } from "./alarms.ts";

/** What a function needs to know to make schedules that wake maintenance windows, and what it may do with them. */
export type WindowClock = {
  readonly environment: Readonly<Record<string, string>>;
  readonly statements: () => readonly PolicyStatement[];
};

export type WorkerProps = {
  readonly deployment: Deployment;
  readonly data: Data;
  readonly worker: Worker<WorkerName>;
  readonly clock?: WindowClock | undefined;
};

const RETRIES = 8;
const LONGEST = Duration.days(14);
/** One minute that failed means nothing once the next has done its work; several a day do. */
const A_DAY = Duration.days(1);
/** A queue that the stream could not tell is swept within a minute or two: an old record has nothing left to say. */
const RECORD_AGE = Duration.hours(1);

/** A function that no request calls, with the queue for what it could not do and what is alarmed about it. */
export class WorkerFunction extends Construct {
  readonly name: WorkerName;
  readonly trigger: Trigger;
  readonly deployment: Deployment;
  readonly service: ServiceFunction;
  readonly deadLetters: Queue;
  readonly alarms: readonly AlarmSpec[];

  constructor(scope: Construct, id: string, { deployment, data, worker, clock }: WorkerProps) {
    super(scope, id);
    const { name, trigger, timeoutSeconds, memoryMb, reservedConcurrency } = worker;
    this.name = name;
    this.trigger = trigger;
    this.deployment = deployment;
    this.deadLetters = deadLetterQueue(this, deployment, name, trigger.kind === "every-minute" ? A_DAY : LONGEST);
    const needs = needsOf(name);
    const stream = trigger.kind === "stream" ? streamStatements(data.table.streamArn) : [];
    const schedules = needs.schedules === true ? needed(clock, name) : undefined;
    this.service = new ServiceFunction(this, "Service", {
      deployment,
      data,
      folder: "workers",
      name,
      needs,
      timeoutSeconds,
      memoryMb,
      reservedConcurrency,
      deadLetters: this.deadLetters,
      environment: schedules?.environment ?? {},
      statements: [...stream, ...(schedules?.statements() ?? [])],
    });
    this.alarms = workerAlarms(worker, this);
  }

  readStream(streamArn: string): void {
    if (this.trigger.kind !== "stream") throw new Error(`${this.name} reads no stream`);
    const { skPrefix, batchSize, atOnce } = this.trigger;
    new EventSourceMapping(this, "Stream", {
      target: this.service.fn,
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      parallelizationFactor: atOnce,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: RETRIES,
      maxRecordAge: RECORD_AGE,
      onFailure: new SqsDlq(this.deadLetters),
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual("INSERT"),
          dynamodb: { Keys: { sk: { S: FilterRule.beginsWith(skPrefix) } } },
        }),
      ],
    });
  }
}

function needed(clock: WindowClock | undefined, name: string): WindowClock {
  if (clock === undefined) throw new Error(`${name} makes schedules, and there is nothing yet that they could call`);
  return clock;
}

const streamStatements = (streamArn: string): readonly PolicyStatement[] => [
  new PolicyStatement({
    actions: ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
    resources: [streamArn],
  }),
  // Lambda asks for it, and it can be given for no resource.
  new PolicyStatement({ actions: ["dynamodb:ListStreams"], resources: ["*"] }),
];
