import { Duration } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Function,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Needs } from "../rights.ts";
import { type Data, type Deployment, nameOf } from "./deployment.ts";
import { exception } from "./exception.ts";
import { logGroup } from "./log-group.ts";
import { bucketStatements, secretStatements, tableStatements } from "./statements.ts";

export type ServiceFunctionProps = {
  readonly deployment: Deployment;
  readonly data: Data;
  readonly folder: "api" | "workers";
  /** Of its file. */
  readonly name: string;
  readonly needs: Needs;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly reservedConcurrency?: number | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Beyond table, bucket, secret and its own log. */
  readonly statements?: readonly PolicyStatement[];
  /** Where calls go that nobody waits for and that failed. */
  readonly deadLetters?: IQueue;
};

const LOG_LEVELS = {
  DEBUG: ApplicationLogLevel.DEBUG,
  INFO: ApplicationLogLevel.INFO,
  WARN: ApplicationLogLevel.WARN,
  ERROR: ApplicationLogLevel.ERROR,
} as const;

/** A file of `functions/`, deployed, with a role that may do what its needs say and nothing that anybody adds. */
export class ServiceFunction extends Construct {
  readonly fn: Function;
  readonly log: LogGroup;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { deployment, data, folder, name, needs } = props;
    const { settings } = deployment;
    const functionName = nameOf(deployment, name);
    const own = settings.functions[name] ?? {};
    this.log = logGroup(this, "Log", deployment, `/aws/lambda/${functionName}`);
    const role = this.role(props);
    const reserved = own.reservedConcurrency ?? (settings.reservesConcurrency ? props.reservedConcurrency : undefined);
    this.fn = new Function(this, "Function", {
      functionName,
      code: deployment.codeOf(folder, name),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // Nothing that a construct grants on its own is added to it.
      role: role.withoutPolicyUpdates(),
      memorySize: own.memoryMb ?? props.memoryMb,
      timeout: Duration.seconds(own.timeoutSeconds ?? props.timeoutSeconds),
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      tracing: Tracing.ACTIVE,
      logGroup: this.log,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: LOG_LEVELS[settings.logLevel],
      systemLogLevelV2: SystemLogLevel.WARN,
      ...(props.deadLetters === undefined ? {} : { deadLetterQueue: props.deadLetters }),
      environment: {
        NODE_OPTIONS: "--enable-source-maps",
        MAINLINE_TABLE: data.table.name,
        MAINLINE_STAGE: settings.stage,
        MAINLINE_LOG_LEVEL: settings.logLevel,
        ...(needs.bucket === undefined ? {} : { MAINLINE_BUCKET: data.bucket.name }),
        ...(needs.gitHub === undefined ? {} : { MAINLINE_GITHUB_SECRET_ARN: data.gitHubApp.arn }),
        ...props.environment,
      },
    });
    if (props.deadLetters === undefined)
      exception(
        this.fn,
        "Serverless-LambdaDLQ",
        "The gateway waits for its answer: nothing is left that could be kept.",
      );
  }

  private role(props: ServiceFunctionProps): Role {
    const { data, needs, statements = [], deadLetters } = props;
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: {
        Needs: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
              resources: [this.log.logGroupArn],
            }),
            new PolicyStatement({
              actions: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
              resources: ["*"],
            }),
            ...tableStatements(data, needs.table),
            ...bucketStatements(data, needs.bucket ?? {}),
            ...secretStatements(data, needs),
            ...(deadLetters === undefined
              ? []
              : [new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn] })]),
            ...statements,
          ],
        }),
      },
    });
    const reason = whyStars(props);
    exception(role, "AwsSolutions-IAM5", reason);
    exception(role, "Serverless-LambdaStarPermissions", reason);
    return role;
  }
}

/** Of every `*` among the resources of a function's role. Others than these are found by the stacks' own tests. */
function whyStars({ needs, statements = [] }: ServiceFunctionProps): string {
  const folders = Object.keys(needs.bucket ?? {});
  const lists = statements.some((one) => one.actions.includes("dynamodb:ListStreams"));
  return [
    "X-Ray takes traces for no resource that could be named.",
    ...(folders.length === 0 ? [] : [`Objects are named at random in ${folders.join(" and ")}/ of the bucket.`]),
    ...(needs.schedules === true ? ["Schedules are named by windows, in a group of this deployment."] : []),
    ...(lists ? ["Streams can be listed for no resource that could be named."] : []),
  ].join(" ");
}

/** Takes what nobody could do, until somebody looks. */
export function deadLetterQueue(scope: Construct, deployment: Deployment, of: string, kept: Duration): Queue {
  const queue = new Queue(scope, "DeadLetters", {
    queueName: nameOf(deployment, of, "dead-letters"),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: kept,
  });
  for (const rule of ["AwsSolutions-SQS3", "Serverless-SQSRedrivePolicy"])
    exception(queue, rule, "It is a dead-letter queue itself.");
  return queue;
}
