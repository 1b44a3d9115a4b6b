/** One test: its details, what somebody sets for it, and the settings of its repository. */
import * as z from "zod";
import { repo } from "./repo.ts";
import { failingTest, TEST_STATUSES } from "./test-health.ts";
import { enumIn, int, text, timeOut } from "./wire.ts";

const inRepository = z.object({ repo, org_url_slug: text(1, 100) });

export const getTestDetails = inRepository.extend({ test_id: text(1, 100) });

export const RULES = ["same-commit", "short-episodes", "failure-rate", "failure-run"] as const;
export const QUARANTINE = ["ALWAYS_QUARANTINE", "NEVER_QUARANTINE", "UNSPECIFIED"] as const;

export const testDetails = z.object({
  test: failingTest,
  quarantine_setting: z.enum(QUARANTINE),
  evidence: z
    .array(
      z.object({
        rule: z.enum(RULES),
        sha: z.string(),
        at: timeOut,
        upload_ids: z.array(z.string()),
        what: z.string(),
      }),
    )
    .meta({ description: "What the present status was concluded from, newest first." }),
  transitions: z
    .array(
      z.object({
        at: timeOut,
        status: z.enum(TEST_STATUSES),
        reason: z.string(),
        rules: z.array(z.enum(RULES)),
        upload_id: z.string().nullable().meta({ description: "The upload that brought it; null where time did." }),
      }),
    )
    .meta({ description: "Changes of its status, newest first." }),
  history: z
    .array(z.object({ day: z.string().meta({ format: "date" }), passed: z.int(), failed: z.int() }))
    .meta({ description: "Executions by day (UTC) of the last 30 days, oldest first." }),
  latest_failure: z.string().nullable().meta({ description: "What its latest failure left behind, cut short." }),
});

export const setQuarantine = inRepository.extend({ test_case_id: text(1, 100), setting: enumIn(QUARANTINE) });
export const quarantineSet = z.object({ test_case_id: z.string(), setting: z.enum(QUARANTINE) });

const webAddress = z
  .string()
  .max(2000)
  .refine((value) => /^https?:\/\/[^\s]+$/iu.test(value), "must be an http or https address");

export const linkTicket = inRepository
  .extend({
    test_case_id: text(1, 100),
    external_ticket_id: text(1, 200).optional(),
    ticket_url: webAddress.optional(),
  })
  .refine(({ external_ticket_id: id, ticket_url: url }) => (id === undefined) !== (url === undefined), {
    path: ["external_ticket_id"],
    message: "send either external_ticket_id or ticket_url",
  });
export const ticketLinked = z.object({
  test_case_id: z.string(),
  ticket: z.object({ html_url: z.string() }).optional(),
});

/** With all else that is set it fits into one item. */
const CODEOWNERS_BYTES_MAX = 300_000;

const share = z.number().gt(0).max(1);
const branches = z.array(text(1, 255)).max(50);
const rule = { isOn: z.boolean(), branches };

export const detectionRules = z.object({
  sameCommit: z.object({ ...rule, commitsMin: int(1, 100), windowDays: int(1, 14) }),
  shortEpisodes: z.object({
    ...rule,
    commitsMax: int(1, 20),
    countMin: z.number().gt(0).max(100),
    halfLifeDays: int(1, 14),
    apartMinutes: int(0, 24 * 60),
  }),
  failureRate: z.object({
    ...rule,
    rateMin: share,
    runsMin: int(1, 10_000),
    windowHours: int(1, 14 * 24),
    quietHoursMax: int(1, 14 * 24),
  }),
  failureRun: z.object({ ...rule, runsMin: int(1, 100) }),
});

const chosen = {
  canQuarantine: z.boolean().meta({ description: "Whether quarantine is effective in this repository at all." }),
  quarantinesFlaky: z.boolean().meta({ description: "Flaky tests are quarantined without anybody setting it." }),
  defaultBranch: text(1, 255).nullable().meta({ description: "null: main or master." }),
  testUrlTemplate: text(1, 2000).nullable().meta({ description: "With {id}, {name}, {file}." }),
  ticketUrlTemplate: text(1, 2000).nullable().meta({ description: "With {ticket}." }),
  codeowners: text(0, CODEOWNERS_BYTES_MAX)
    .refine((file) => Buffer.byteLength(file) <= CODEOWNERS_BYTES_MAX, "must be at most 300,000 bytes in UTF-8")
    .nullable()
    .meta({ description: "The text of a CODEOWNERS file." }),
};

export const getSettings = inRepository;
export const updateSettings = inRepository.extend({
  ...z.object(chosen).partial().shape,
  rules: z
    .object({
      sameCommit: detectionRules.shape.sameCommit.partial().optional(),
      shortEpisodes: detectionRules.shape.shortEpisodes.partial().optional(),
      failureRate: detectionRules.shape.failureRate.partial().optional(),
      failureRun: detectionRules.shape.failureRun.partial().optional(),
    })
    .optional(),
});
export const healthSettings = z.object({ rules: detectionRules, ...chosen }).meta({ id: "TestHealthSettings" });
