/** What would be deployed, for every stage. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { describe, expect, test } from "vitest";
import { BUCKET, GITHUB, SCHEDULER, SERVICE } from "../../functions/environment.ts";
import { MINUTE_WORKERS, STREAM_WORKERS, WORKERS } from "../../infra/workers.ts";
import { insertsOf } from "../../infra/local/stream-record.ts";
import { tableDefinition, TTL_ATTRIBUTE } from "../../shared/table/table-definition.ts";
import { ROOT } from "../architecture/source.ts";
import { functionsOf, type PartName, referredTo, type Resource, stageNames, synthesise } from "./template.ts";

/** CloudFormation takes 500 resources in a stack. */
const RESOURCES_MAX = 500;
/** For a third more endpoints than there are. */
const ROOM_MIN = 150;
const TEMPLATE_BYTES_MAX = 1_000_000;

const only = (all: readonly Resource[]): Resource => {
  const [one, ...others] = all;
  if (one === undefined || others.length > 0) throw new Error(`${all.length} in place of one`);
  return one;
};
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (found, name) => (typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined),
    value,
  );
const text = (value: unknown): string => JSON.stringify(value);

describe.each(stageNames)("stage %s", (stage) => {
  const made = synthesise(stage);
  const { parts, settings, all } = made;
  const functions = functionsOf(made);

  describe("the data", () => {
    const table = only(parts.data.of("DynamoDB::GlobalTable"));
    const bucket = only(parts.data.of("S3::Bucket"));
    const secret = only(parts.data.of("SecretsManager::Secret"));

    test("is in the table that the local one is, which can be restored to any second", () => {
      const { KeySchema, AttributeDefinitions, StreamSpecification, BillingMode } = tableDefinition("any");
      const { StreamViewType } = StreamSpecification ?? {};
      expect(table.Properties).toMatchObject({
        TableName: `mainline-${stage}`,
        KeySchema,
        AttributeDefinitions,
        BillingMode,
        StreamSpecification: { StreamViewType },
        TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
        SSESpecification: { SSEEnabled: true },
      });
      expect(table.Properties["Replicas"]).toMatchObject([
        {
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: settings.keepsData,
        },
      ]);
    });

    test("outlives its stack, unless the stage says otherwise", () => {
      const policies = [table, bucket, secret].flatMap((one) => [one.DeletionPolicy, one.UpdateReplacePolicy]);
      const wanted = settings.keepsData ? ["RetainExceptOnCreate", "Retain"] : ["Delete", "Delete"];
      expect(policies).toEqual([...wanted, ...wanted, ...wanted]);
      expect(parts.data.isProtected).toBe(settings.keepsData);
    });

    test("has a secret for the GitHub App, under the stage's name, in which no deployment writes anything", () => {
      const { Name, SecretString, GenerateSecretString } = secret.Properties;
      expect([Name, SecretString, GenerateSecretString]).toEqual([
        `mainline-${stage}-github-app`,
        undefined,
        undefined,
      ]);
    });

    test("in the bucket is encrypted, nobody's but the service's, and gone when it is of no more use", () => {
      expect(bucket.Properties).toMatchObject({
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
      });
      expect(bucket.Properties).not.toHaveProperty("CorsConfiguration");
      const rules = at(bucket.Properties, "LifecycleConfiguration", "Rules");
      expect(rules).toMatchObject([
        { Prefix: "uploads/", ExpirationInDays: 1 },
        { Prefix: "bundles/", ExpirationInDays: 1 },
        { Prefix: "targets/", ExpirationInDays: 400 },
        { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      ]);
    });
  });

  describe("functions", () => {
    test.each(functions)("$name runs as all do", ({ name, part, properties }) => {
      expect(properties).toMatchObject({
        Handler: "index.handler",
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        TracingConfig: { Mode: "Active" },
        LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: settings.logLevel },
      });
      expect(existsSync(join(ROOT, `functions/${name === "authorize-token" ? "workers" : part}/${name}.ts`))).toBe(
        true,
      );
      // The gateway gives up after 30 seconds.
      if (part === "api") expect(properties.Timeout).toBeLessThan(30);
      const log = made.parts[part]
        .of("Logs::LogGroup")
        .find(({ id }) => id === referredTo(properties.LoggingConfig.LogGroup));
      expect(log?.Properties["RetentionInDays"]).toBe(settings.logRetentionDays);
      expect(properties.Environment.Variables["NODE_OPTIONS"]).toBe("--enable-source-maps");
    });

    test.each(functions)("$name has the environment that its file reads, and no more", ({ name, part, properties }) => {
      const folder = name === "authorize-token" ? "workers" : part;
      const source = readFileSync(join(ROOT, `functions/${folder}/${name}.ts`), "utf8");
      const schedules = source.includes("withScheduler");
      const shape = [
        ...Object.keys(SERVICE.shape),
        ...(source.includes("withBucket") || schedules ? Object.keys(BUCKET.shape) : []),
        ...(schedules ? Object.keys(SCHEDULER.shape) : []),
        ...(/with(?:GitHub|Webhooks)/u.test(source) ? Object.keys(GITHUB.shape) : []),
      ].filter((variable) => !variable.endsWith("_ENDPOINT"));
      const given = Object.keys(properties.Environment.Variables).filter((variable) =>
        variable.startsWith("MAINLINE_"),
      );
      expect(given.toSorted()).toEqual(shape.toSorted());
      const values = Object.entries(properties.Environment.Variables).map(([key, value]) => [
        key,
        typeof value === "string" ? value : "arn:resolved",
      ]);
      expect(() => SERVICE.parse(Object.fromEntries(values))).not.toThrow();
    });

    test("are what the stage says they are", () => {
      const [sweep, getQueue] = ["sweep", "get-queue"].map(
        (name) => functions.find((one) => one.name === name)?.properties,
      );
      const reserved = settings.reservesConcurrency ? (stage === "full" ? 5 : 2) : undefined;
      expect(sweep?.ReservedConcurrentExecutions).toBe(reserved);
      expect([sweep?.MemorySize, getQueue?.Timeout]).toEqual(stage === "full" ? [2048, 10] : [1024, 28]);
    });
  });

  describe("workers", () => {
    const { workers } = parts;
    const byId = new Map(functions.map((one) => [one.id, one.name]));
    const queues = new Map(workers.of("SQS::Queue").map((one) => [one.id, one]));

    test("all are deployed, and each has a dead-letter queue", () => {
      expect(
        functions
          .filter(({ part }) => part === "workers")
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(
        WORKERS.map(({ name }) => name)
          .filter((name) => name !== "authorize-token")
          .toSorted(),
      );
      for (const { part, properties } of functions)
        if (part === "workers") expect(queues.has(referredTo(properties.DeadLetterConfig))).toBe(true);
    });

    test("two read the stream, each what is meant for it, and give up nothing without a letter", () => {
      const streams = STREAM_WORKERS;
      const mappings = workers.of("Lambda::EventSourceMapping");
      expect(mappings.map(({ Properties }) => byId.get(referredTo(Properties["FunctionName"])))).toEqual(
        streams.map(({ name }) => name),
      );
      for (const [index, { skPrefix, batchSize }] of streams.entries()) {
        const Properties = mappings[index]?.Properties ?? {};
        expect(Properties).toMatchObject({
          StartingPosition: "TRIM_HORIZON",
          BatchSize: batchSize,
          BisectBatchOnFunctionError: true,
          FunctionResponseTypes: ["ReportBatchItemFailures"],
          MaximumRetryAttempts: 8,
        });
        expect(queues.has(referredTo(at(Properties, "DestinationConfig", "OnFailure", "Destination")))).toBe(true);
        const pattern = z.string().parse(at(Properties, "FilterCriteria", "Filters", 0, "Pattern"));
        expect(JSON.parse(pattern)).toEqual({
          eventName: ["INSERT"],
          dynamodb: { Keys: { sk: { S: [{ prefix: skPrefix }] } } },
        });
        expect(insertsOf(skPrefix)({ eventName: "INSERT", dynamodb: { Keys: { sk: { S: `${skPrefix}1` } } } })).toBe(
          true,
        );
      }
    });

    test("those of every minute are woken every minute, and a missed minute is not made up for", () => {
      const woken = MINUTE_WORKERS;
      const rules = workers.of("Events::Rule");
      expect(rules.map(({ Properties }) => Properties["ScheduleExpression"])).toEqual(
        woken.map(() => "rate(1 minute)"),
      );
      const targets = rules.map(({ Properties }) => at(Properties, "Targets", 0));
      expect(targets.map((target) => byId.get(referredTo(at(target, "Arn"))))).toEqual(woken);
      for (const target of targets) {
        expect(queues.has(referredTo(at(target, "DeadLetterConfig", "Arn")))).toBe(true);
        expect(at(target, "RetryPolicy")).toEqual({ MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 });
      }
      const asynchronous = workers.of("Lambda::EventInvokeConfig").map(({ Properties }) => Properties);
      expect(asynchronous.map((one) => [one["MaximumRetryAttempts"], one["MaximumEventAgeInSeconds"]])).toEqual(
        woken.map(() => [0, 60]),
      );
    });

    test("schedules of windows may call the one function, and only those of this deployment", () => {
      const role = only(
        workers
          .of("IAM::Role")
          .filter(
            ({ Properties }) =>
              text(Properties).includes("scheduler.amazonaws.com") &&
              !text(Properties).includes("lambda.amazonaws.com"),
          ),
      );
      const [invoke, ...rest] = z
        .array(z.looseObject({ Action: z.unknown(), Resource: z.unknown() }))
        .parse(at(role.Properties, "Policies", 0, "PolicyDocument", "Statement"));
      expect([invoke?.Action, byId.get(referredTo(invoke?.Resource))]).toEqual([
        "lambda:InvokeFunction",
        "maintenance-window",
      ]);
      expect(rest.map(({ Action }) => Action)).toEqual(["sqs:SendMessage"]);
      expect(only(workers.of("Scheduler::ScheduleGroup")).Properties["Name"]).toBe(`mainline-${stage}`);
      expect(text(at(role.Properties, "AssumeRolePolicyDocument"))).toContain("aws:SourceArn");
    });

    test("windows that are declared open by themselves, and say each time which one it is", () => {
      const declared = workers.of("Scheduler::Schedule");
      expect(declared.length).toBe(settings.maintenanceWindows.length);
      for (const { Properties, DependsOn } of declared) {
        expect(DependsOn).toContain(only(workers.of("Scheduler::ScheduleGroup")).id);
        expect(Properties).toMatchObject({
          GroupName: `mainline-${stage}`,
          ScheduleExpression: "cron(0 22 ? * FRI *)",
          ScheduleExpressionTimezone: "Europe/Berlin",
        });
        expect(at(Properties, "Target", "Input")).toContain("<aws.scheduler.scheduled-time>");
        expect(byId.get(referredTo(at(Properties, "Target", "Arn")))).toBe("maintenance-window");
      }
    });
  });

  describe("alarms", () => {
    const alarms = parts.observability.of("CloudWatch::Alarm").map(({ Properties }) => ({
      name: String(Properties["AlarmName"]).slice(`mainline-${stage}-`.length),
      says: String(Properties["AlarmDescription"]),
      Properties,
    }));

    test("there are some for the API, the table and each worker", () => {
      const names = alarms.map(({ name }) => name);
      for (const name of [
        "api-fails",
        "api-is-slow",
        "api-throttles",
        "authorize-token-fails",
        "table-throttles-reads",
        "table-throttles-writes",
        "app-is-refused",
      ])
        expect(names).toContain(name);
      for (const { name, trigger } of WORKERS) {
        if (trigger.kind === "authorizer") continue;
        expect(names).toContain(`${name}-fails`);
        expect(names).toContain(`${name}-gave-up`);
        if (trigger.kind === "stream") expect(names).toContain(`${name}-is-late`);
        if (trigger.kind === "every-minute") expect(names).toContain(`${name}-does-not-run`);
      }
    });

    test.each(alarms)("$name says whom it hurts and what to do first, and the runbook says more", ({ name, says }) => {
      expect(says).toMatch(/^Whoever .+\. First: .+\. More: infra\/README\.md#alarm-[a-z-]+$/u);
      expect(says.endsWith(`#alarm-${name}`)).toBe(true);
      expect(says.length).toBeLessThanOrEqual(1_024);
      const runbook = readFileSync(join(ROOT, "infra/README.md"), "utf8");
      expect(runbook.split("\n")).toContain(`### alarm-${name}`);
    });

    test("they tell somebody where the stage names somebody", () => {
      const told = alarms.filter(({ Properties }) => Array.isArray(Properties["AlarmActions"])).length;
      const { email, topicArn } = settings.alarms;
      expect(told).toBe(email === undefined && topicArn === undefined ? 0 : alarms.length);
      expect(parts.observability.of("SNS::Subscription").map(({ Properties }) => Properties["Endpoint"])).toEqual(
        email === undefined ? [] : [email],
      );
    });

    test("there is a dashboard", () => {
      expect(only(parts.observability.of("CloudWatch::Dashboard")).Properties["DashboardName"]).toBe(
        `mainline-${stage}`,
      );
    });
  });

  describe("all of it", () => {
    test("nothing is open to the public", () => {
      expect(all.filter(({ Type }) => Type === "AWS::Lambda::Url")).toEqual([]);
      const callers = all.filter(({ Type }) => Type === "AWS::Lambda::Permission").map(({ Properties }) => Properties);
      expect([...new Set(callers.map((one) => String(one["Principal"])))].toSorted()).toEqual([
        "apigateway.amazonaws.com",
        "events.amazonaws.com",
      ]);
      expect(callers.filter((one) => one["SourceArn"] === undefined)).toEqual([]);
      const policies = all.filter(({ Type }) => /::(?:BucketPolicy|QueuePolicy|TopicPolicy)$/u.test(Type));
      const statements = policies.flatMap(({ Properties }) =>
        z.array(z.looseObject({ Effect: z.string() })).parse(at(Properties, "PolicyDocument", "Statement")),
      );
      const wide = statements.filter(({ Effect, Principal }) => Effect === "Allow" && /"\*"/u.test(text(Principal)));
      expect(wide).toEqual([]);
    });

    test("nothing is read or written but over TLS", () => {
      for (const type of ["S3::Bucket", "SQS::Queue", "SNS::Topic"]) {
        const count = all.filter(({ Type }) => Type === `AWS::${type}`).length;
        const guarded = all.filter(
          ({ Type, Properties }) =>
            Type === `AWS::${type}Policy` && text(Properties).includes('"aws:SecureTransport":"false"'),
        );
        expect([type, guarded.length]).toEqual([type, count]);
      }
      const open = all.filter(
        ({ Type, Properties }) => Type === "AWS::SQS::Queue" && Properties["SqsManagedSseEnabled"] !== true,
      );
      expect(open).toEqual([]);
    });

    test.each(["data", "workers", "api", "observability"] as const)("stack %s has room left", (name: PartName) => {
      const { all: own, text: template } = parts[name];
      expect(RESOURCES_MAX - own.length).toBeGreaterThanOrEqual(ROOM_MIN);
      expect(template.length).toBeLessThan(TEMPLATE_BYTES_MAX);
    });

    test("what is deployed under a name is the stage's own", () => {
      const named = all.flatMap(({ Properties }) =>
        ["FunctionName", "TableName", "QueueName", "LogGroupName", "AlarmName", "DashboardName", "TopicName"].flatMap(
          (key) => {
            const name = Properties[key];
            return typeof name === "string" && !name.startsWith("arn:") ? [name] : [];
          },
        ),
      );
      expect(named.length).toBeGreaterThan(100);
      expect(named.filter((name) => !name.includes(`mainline-${stage}`))).toEqual([]);
      expect(named.filter((name) => name.length > 64 && !name.startsWith("/aws/"))).toEqual([]);
    });

    test("whoever deploys is told the address, the table and the bucket", () => {
      expect(parts.api.outputs).toContain("Address");
      expect(parts.data.outputs).toEqual(expect.arrayContaining(["TableName", "BucketName"]));
      expect(parts.api.outputs.includes("DomainTarget")).toBe(settings.domain !== undefined);
    });
  });
});
