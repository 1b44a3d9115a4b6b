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

export type WorkerProps = {
  readonly deployment: Deployment;
  readonly data: Data;
  readonly worker: Worker<WorkerName>;
};

const RETRIES = 8;
/** A queue that the stream could not tell is swept within a minute or two: an old record has nothing left to say. */
const RECORD_AGE = Duration.hours(1);

/** A function that no request calls, with the queue for what it could not do and what is alarmed about it. */
export class WorkerFunction extends Construct {
  readonly name: WorkerName;
  readonly deployment: Deployment;
  readonly service: ServiceFunction;
  readonly deadLetters: Queue;
  readonly alarms: readonly AlarmSpec[];

  constructor(scope: Construct, id: string, { deployment, data, worker }: WorkerProps) {
    super(scope, id);
    const { name, trigger, timeoutSeconds, memoryMb, reservedConcurrency } = worker;
    this.name = name;
    this.deployment = deployment;
    this.deadLetters = deadLetterQueue(this, deployment, name);
    const isStream = trigger.kind === "stream";
    this.service = new ServiceFunction(this, "Service", {
      deployment,
      data,
      folder: "workers",
      name,
      needs: needsOf(name),
      timeoutSeconds,
      memoryMb,
      reservedConcurrency,
      deadLetters: this.deadLetters,
      statements: isStream ? streamStatements(data.table.streamArn) : [],
    });
    this.alarms = workerAlarms(worker, this);
  }

  readStream(streamArn: string, { skPrefix, batchSize, atOnce }: Extract<Trigger, { kind: "stream" }>): void {
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

const streamStatements = (streamArn: string): readonly PolicyStatement[] => [
  new PolicyStatement({
    actions: ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
    resources: [streamArn],
  }),
  // Lambda asks for it, and it can be given for no resource.
  new PolicyStatement({ actions: ["dynamodb:ListStreams"], resources: ["*"] }),
];
