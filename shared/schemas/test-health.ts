/** The two list endpoints of test health. Their fields are snake_case and their enums keep their case for every token. */
import * as z from "zod";
import { DAY_MS } from "../kernel/time.ts";
import { repo } from "./repo.ts";
import { across, int, text, timeIn, timeOut } from "./wire.ts";

const TOKEN_LENGTH_MAX = 4096;
const WINDOW_MS_MAX = 7 * DAY_MS;

export const pageQuery = z.object({
  page_size: int(1, 100).default(30),
  page_token: text(0, TOKEN_LENGTH_MAX).default("").meta({ description: '"" and absent are the first page.' }),
});

const listRequest = z.object({
  repo,
  org_url_slug: text(1, 100),
  page_query: pageQuery.default({ page_size: 30, page_token: "" }),
});

type Window = { readonly start_time: number; readonly end_time: number };
const timesAreRead = across(
  (fields) => typeof fields["start_time"] === "number" && typeof fields["end_time"] === "number",
);

/** Start inclusive, end exclusive. */
export const listFailingTests = listRequest
  .extend({ start_time: timeIn, end_time: timeIn })
  .refine((window: Window) => window.start_time < window.end_time, {
    ...timesAreRead,
    path: ["end_time"],
    message: "must be after start_time",
  })
  .refine((window: Window) => window.end_time - window.start_time <= WINDOW_MS_MAX, {
    ...timesAreRead,
    path: ["end_time"],
    message: "must be at most 7 days after start_time",
  });

export const UNHEALTHY_STATUSES = ["FLAKY", "BROKEN"] as const;
export const TEST_STATUSES = ["HEALTHY", ...UNHEALTHY_STATUSES] as const;

export const listUnhealthyTests = listRequest.extend({
  status: z
    .preprocess(
      (value) => (typeof value === "string" ? value.toUpperCase() : value),
      z.enum(UNHEALTHY_STATUSES, { error: "must be FLAKY or BROKEN" }),
    )
    .optional(),
});

/** A list that takes no more than the repository and the page. */
export const listQuarantinedTests = listRequest;

const rate = z.number().min(0).max(1);

const test = z.object({
  id: z.string(),
  repository: z.object({ html_url: z.string() }),
  html_url: z.string(),
  name: z.string(),
  variant: z.string(),
  file_path: z.string().optional(),
  parent: z.string().optional(),
  classname: z.string().optional(),
  ticket: z.object({ html_url: z.string() }).optional(),
  status: z.object({ value: z.enum(TEST_STATUSES), reason: z.string(), timestamp: timeOut }),
  codeowners: z.array(z.string()),
  pull_requests_impacted_last_7d: z.int(),
  quarantined: z.boolean(),
  failure_rate_last_7d: rate.optional(),
  failure_rate_last_24h: rate.optional(),
});

export const unhealthyTest = test.meta({ id: "UnhealthyTest" });

export const failingTest = test
  .extend({
    failure_rate_last_7d: rate,
    failure_rate_last_24h: rate,
    most_common_failures: z
      .array(z.object({ summary: z.string(), occurrence_count: z.int(), last_occurrence: timeOut }))
      .max(5),
  })
  .meta({ id: "FailingTest" });

export const page = z
  .object({
    total_rows: z.int().optional(),
    next_page_token: z.string(),
    prev_page_token: z.string(),
    last_page_token: z.string(),
    page_index: z.int(),
  })
  .meta({ id: "Page", description: 'A token is "" where there is no such page.' });

export const failingTests = z.object({ tests: z.array(failingTest), page });
export const unhealthyTests = z.object({ tests: z.array(unhealthyTest), page });
