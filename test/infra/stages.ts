/** The stages whose stacks the tests look at: those of the file of settings, and some that use what these leave out. */
import { STAGES } from "../../infra/config.ts";

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

export const EXAMPLES: Readonly<Record<string, unknown>> = { ...STAGES, full: FULL, given: GIVEN };
export const stageNames = Object.keys(EXAMPLES);
