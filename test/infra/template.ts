/** The stacks of a stage as they would be deployed, but for the code: which template it is does not hang on that. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { type Settings, settingsOf } from "../../infra/config.ts";
import { onceARun } from "../support/once-a-run.ts";
import { EXAMPLES, stageNames } from "./stages.ts";

export { stageNames };

const SYNTHESISE = fileURLToPath(new URL("synthesise.ts", import.meta.url));

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
  /** Whether CloudFormation refuses to delete its stack. */
  readonly isProtected: boolean;
  readonly text: string;
  readonly outputs: readonly string[];
  readonly all: readonly Resource[];
  readonly of: (type: string) => readonly Resource[];
};
export type Synthesised = {
  readonly settings: Settings;
  readonly parts: Readonly<Record<PartName, Part>>;
  readonly all: readonly Resource[];
};

const made = z.record(z.string(), z.object({ template: z.unknown(), isProtected: z.boolean() }));

/** By stage and part. CDK is large and slow to start: a small process uses it, once in a run of all tests. */
let stages: ReadonlyMap<string, z.output<typeof made>> | undefined;
function synthesisedStages(): ReadonlyMap<string, z.output<typeof made>> {
  const text = onceARun("stacks", () =>
    execFileSync(process.execPath, [SYNTHESISE], {
      encoding: "utf8",
      // Its own validation compiles for eight seconds. `stacks-rules.slow.test.ts` and `npm run synth` have it.
      env: { ...process.env, CDK_VALIDATION: "false" },
      maxBuffer: 64 * 1024 * 1024,
    }),
  );
  return new Map(Object.entries(z.record(z.string(), made).parse(JSON.parse(text))));
}

export function synthesise(stage: string): Synthesised {
  stages ??= synthesisedStages();
  const found = stages.get(stage);
  if (found === undefined) throw new Error(`there is no stage ${stage}`);
  const partOf = (name: PartName): Part => {
    const { template: given, isProtected = false } = found[name] ?? {};
    const { Resources, Outputs } = template.parse(given);
    const all = Object.entries(Resources).map(([id, one]) => ({ ...one, id }));
    return {
      isProtected,
      text: JSON.stringify(given, undefined, 1),
      outputs: Object.keys(Outputs),
      all,
      of: (type) => all.filter((one) => one.Type === `AWS::${type}`),
    };
  };
  const [data, workers, api, observability] = [
    partOf("data"),
    partOf("workers"),
    partOf("api"),
    partOf("observability"),
  ];
  const parts = { data, workers, api, observability };
  return { settings: settingsOf(stage, EXAMPLES), parts, all: Object.values(parts).flatMap((part) => part.all) };
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
