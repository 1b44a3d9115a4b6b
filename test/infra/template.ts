/** The stacks of a stage as they would be deployed, but for the code: which template it is does not hang on that. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, type Stack } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import * as z from "zod";
import { type Settings, settingsOf, STAGES } from "../../infra/config.ts";
import { service } from "../../infra/stacks/service.ts";
import { ROOT } from "../architecture/source.ts";

/** Every setting that there is. */
const FULL = {
  account: "123456789012",
  region: "eu-central-1",
  logRetentionDays: 365,
  logLevel: "DEBUG",
  throttling: { requestsPerSecond: 7, burst: 9 },
  alarms: { email: "oncall@example.org" },
  domain: {
    name: "mq.example.org",
    certificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000",
    hostedZone: { id: "Z0123456789", name: "example.org" },
  },
  maintenanceWindows: [
    {
      org: "acme",
      repo: { host: "github.com", owner: "acme", name: "app" },
      targetBranch: "main",
      schedule: "cron(0 22 ? * FRI *)",
      timeZone: "Europe/Berlin",
      durationMinutes: 60,
    },
  ],
  functions: { sweep: { memoryMb: 2048, reservedConcurrency: 5 }, "get-queue": { timeoutSeconds: 10 } },
} as const;

/** One whose alarms go elsewhere, and whose table was restored. */
const GIVEN = {
  alarms: { topicArn: "arn:aws:sns:eu-central-1:123456789012:oncall" },
  table: {
    name: "restored",
    streamArn: "arn:aws:dynamodb:eu-central-1:123456789012:table/restored/stream/2027-01-31T12:00:00.000",
  },
} as const;

const EXAMPLES: Readonly<Record<string, unknown>> = { ...STAGES, full: FULL, given: GIVEN };
export const stageNames = Object.keys(EXAMPLES);

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DependsOn: z.unknown().optional(),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});
const template = z.object({
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
});

export type Resource = z.output<typeof resource> & { readonly id: string };
export type PartName = "data" | "workers" | "api" | "observability";
export type Part = {
  readonly stack: Stack;
  readonly text: string;
  readonly outputs: readonly string[];
  readonly all: readonly Resource[];
  readonly of: (type: string) => readonly Resource[];
};
export type Synthesised = {
  readonly app: App;
  readonly settings: Settings;
  readonly parts: Readonly<Record<PartName, Part>>;
  readonly all: readonly Resource[];
};

const placeholder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mainline-placeholder-"));
  writeFileSync(join(folder, "index.mjs"), "export const handler = async () => {};\n");
  return folder;
};

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });
const context = cdkJson.parse(JSON.parse(readFileSync(join(ROOT, "cdk.json"), "utf8"))).context;

export function synthesise(stage: string): Synthesised {
  const app = new App({ context, analyticsReporting: false });
  const settings = settingsOf(stage, EXAMPLES);
  const folder = placeholder();
  const { account, region } = settings;
  const env = account === undefined || region === undefined ? {} : { account, region };
  const stacks = service(app, { settings, codeOf: () => Code.fromAsset(folder) }, env);
  const assembly = app.synth();
  const partOf = (name: PartName): Part => {
    const stack = stacks[name];
    const given: unknown = assembly.getStackByName(stack.stackName).template;
    const { Resources, Outputs } = template.parse(given);
    const all = Object.entries(Resources).map(([id, one]) => ({ ...one, id }));
    return {
      stack,
      text: JSON.stringify(given, undefined, 1),
      outputs: Object.keys(Outputs),
      all,
      of: (type) => all.filter((one) => one.Type === `AWS::${type}`),
    };
  };
  const parts = {
    data: partOf("data"),
    workers: partOf("workers"),
    api: partOf("api"),
    observability: partOf("observability"),
  };
  return { app, settings, parts, all: Object.values(parts).flatMap((part) => part.all) };
}

/** The id of the resource that a reference is to, in this stack or another's output. */
export function referredTo(value: unknown): string {
  const text = JSON.stringify(value);
  const found = /"(?:Ref|Fn::GetAtt)":\[?"(?<id>(?!AWS::)[^"]+)"/u.exec(text)?.groups?.["id"];
  if (found === undefined) throw new Error(`no reference: ${text}`);
  return found;
}

const functionProperties = z.object({
  FunctionName: z.string(),
  Handler: z.string(),
  Runtime: z.string(),
  Architectures: z.array(z.string()),
  MemorySize: z.number(),
  Timeout: z.number(),
  ReservedConcurrentExecutions: z.number().optional(),
  Role: z.unknown(),
  TracingConfig: z.object({ Mode: z.string() }),
  LoggingConfig: z.object({ LogFormat: z.string(), LogGroup: z.unknown(), ApplicationLogLevel: z.string() }),
  DeadLetterConfig: z.unknown().optional(),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});

const statement = z.object({
  Effect: z.literal("Allow"),
  Action: z.union([z.string(), z.array(z.string())]).transform((one) => [one].flat()),
  Resource: z.unknown().transform((one) => [one].flat()),
  Condition: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});
export type Statement = z.output<typeof statement>;

const role = z.object({
  ManagedPolicyArns: z.never().optional(),
  AssumeRolePolicyDocument: z.object({ Statement: z.array(z.looseObject({})) }),
  Policies: z.array(z.object({ PolicyDocument: z.object({ Statement: z.array(statement) }) })),
});

export const statementsOf = (one: Resource): readonly Statement[] =>
  role.parse(one.Properties).Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

export type DeployedFunction = {
  /** Of its file. */
  readonly name: string;
  readonly id: string;
  readonly part: PartName;
  readonly properties: z.output<typeof functionProperties>;
  readonly statements: readonly Statement[];
};

export function functionsOf({ parts, settings }: Synthesised): readonly DeployedFunction[] {
  return (["api", "workers"] as const).flatMap((part) => {
    const roles = new Map(parts[part].of("IAM::Role").map((one) => [one.id, one]));
    return parts[part].of("Lambda::Function").map(({ id, Properties }) => {
      const properties = functionProperties.parse(Properties);
      const own = roles.get(referredTo(properties.Role));
      if (own === undefined) throw new Error(`${id} has no role in its stack`);
      const name = properties.FunctionName.slice(`mainline-${settings.stage}-`.length);
      return { name, id, part, properties, statements: statementsOf(own) };
    });
  });
}
