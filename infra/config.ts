/** What a deployment is made with. One entry of `STAGES` is one deployment; several live side by side in one account. */
import * as z from "zod";
import { allRoutes } from "../shared/api/routes.ts";
import { declaredWindow } from "../shared/schemas/maintenance.ts";
import { WORKERS } from "./workers.ts";

/**
 * Yours to edit. Everything that is not said has the default of `settings` below.
 *
 *     prod: {
 *       region: "eu-central-1",
 *       alarms: { email: "oncall@example.org" },
 *       domain: { name: "mq.example.org", certificateArn: "arn:aws:acm:eu-central-1:…:certificate/…" },
 *     },
 */
export const STAGES: Readonly<Record<string, z.input<typeof settings>>> = {
  // To try it in any account, a new one included: such an account has ten concurrent functions and can reserve none,
  // and what was tried is removed without a trace.
  dev: { keepsData: false, reservesConcurrency: false, logRetentionDays: 7 },
  prod: { logRetentionDays: 90, throttling: { requestsPerSecond: 200, burst: 400 } },
};

/** Those that CloudWatch knows, up to ten years. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922];

/** Stands in the names of everything that is deployed; a function's may have 64 characters. */
const STAGE = /^[a-z][a-z0-9-]{0,19}$/u;

const arnOf = (service: string) =>
  z.string().regex(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:\\S+$`, "u"), {
    error: `must be the ARN of something in ${service}`,
  });
const hostName = z.string().regex(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/u, {
  error: "must be a host name in lower case",
});
const override = z.strictObject({
  memoryMb: z.int().min(128).max(10_240).optional(),
  timeoutSeconds: z.int().min(1).max(900).optional(),
  reservedConcurrency: z.int().min(1).max(1_000).optional(),
});

const ENDPOINTS: ReadonlySet<string> = new Set([...allRoutes.map((route) => route.id), "unknown-path"]);
const FUNCTIONS: ReadonlySet<string> = new Set([...ENDPOINTS, ...WORKERS.map((worker) => worker.name)]);
/** Longer than this nobody would get its answer. */
export const ENDPOINT_SECONDS_MAX = 28;

const settings = z
  .strictObject({
    /** Absent: those of the credentials that deploy. */
    account: z
      .string()
      .regex(/^\d{12}$/u, { error: "must be twelve digits" })
      .optional(),
    region: z
      .string()
      .regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/u, { error: "must be a region, such as eu-central-1" })
      .optional(),
    /** Table and bucket outlive the stacks, and nobody deletes the table without lifting its protection first. */
    keepsData: z.boolean().default(true),
    /** Some functions have a part of the account's concurrency for themselves, and no more than it. */
    reservesConcurrency: z.boolean().default(true),
    /** In place of the table that is deployed: one that a backup was restored to. */
    table: z
      .strictObject({ name: z.string().regex(/^[A-Za-z0-9_.-]{3,255}$/u), streamArn: arnOf("dynamodb") })
      .refine(({ name, streamArn }) => streamArn.includes(`:table/${name}/stream/`), {
        error: "must be a table and the ARN of its own stream",
      })
      .optional(),
    logRetentionDays: z.literal(RETENTION_DAYS, { error: `must be one of ${RETENTION_DAYS.join(", ")}` }).default(30),
    logLevel: z.enum(["DEBUG", "INFO", "WARN", "ERROR"]).default("INFO"),
    /** The gateway's: what exceeds it is answered 429. */
    throttling: z
      .strictObject({ requestsPerSecond: z.int().min(1).max(10_000), burst: z.int().min(1).max(5_000) })
      .default({ requestsPerSecond: 100, burst: 200 }),
    /** Without either, alarms show in CloudWatch and tell nobody. */
    alarms: z.strictObject({ email: z.email().optional(), topicArn: arnOf("sns").optional() }).default({}),
    domain: z
      .strictObject({
        name: hostName,
        /** In the deployment's region. */
        certificateArn: arnOf("acm"),
        /** Absent: point the name at the output `DomainTarget` yourself. */
        hostedZone: z.strictObject({ id: z.string().regex(/^Z[A-Z0-9]+$/u), name: hostName }).optional(),
      })
      .optional(),
    /** They open every time that their schedule says so, without anybody calling the API. */
    maintenanceWindows: z.array(declaredWindow).default([]),
    /** By the function's name, which is that of its file. */
    functions: z
      .record(z.string(), override)
      .default({})
      .superRefine((all, context) => {
        for (const name of Object.keys(all))
          if (!FUNCTIONS.has(name))
            context.addIssue({ code: "custom", path: [name], message: "there is no such function" });
        for (const [name, { timeoutSeconds = 0 }] of Object.entries(all))
          if (ENDPOINTS.has(name) && timeoutSeconds > ENDPOINT_SECONDS_MAX) {
            const message = `must be at most ${ENDPOINT_SECONDS_MAX}: the gateway gives up after 30 seconds`;
            context.addIssue({ code: "custom", path: [name, "timeoutSeconds"], message });
          }
      }),
  })
  .readonly();

export type Settings = z.output<typeof settings> & { readonly stage: string };

/** What whoever deploys has to mend. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** All problems at once, each where it is. */
export function settingsOf(stage: string, stages: Readonly<Record<string, unknown>> = STAGES): Settings {
  if (!STAGE.test(stage))
    throw new ConfigError(`"${stage}" is no stage: a letter first, then at most 19 of a-z, 0-9 and "-".`);
  if (!Object.hasOwn(stages, stage)) {
    const known = Object.keys(stages).join(", ");
    throw new ConfigError(`infra/config.ts has no stage "${stage}". It has: ${known}. Add it to STAGES.`);
  }
  const read = settings.safeParse(stages[stage]);
  if (read.success) return { ...read.data, stage };
  const problems = read.error.issues.map(({ path, message }) => `  ${[stage, ...path].join(".")}: ${message}`);
  throw new ConfigError(`infra/config.ts cannot be used:\n${problems.join("\n")}`);
}
