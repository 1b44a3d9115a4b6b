/** Test results coming in: a JUnit file with the facts of its run in the query. */
import * as z from "zod";
import { host, repoPath } from "./repo.ts";
import { text, timeIn } from "./wire.ts";

const SHA = /^[0-9a-f]{7,64}$/u;

/** A commit's name in full, or its beginning. */
const sha = z
  .string()
  .transform((value) => value.toLowerCase())
  .refine((value) => SHA.test(value), "must be a commit: 7 to 64 hexadecimal digits");

const digits = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,15}$/u.test(value) ? Number(value) : value),
    z.int({ error: "must be a number" }).min(min).max(max),
  );

const flag = z
  .preprocess(
    (value) => (typeof value === "string" ? value.toLowerCase() : value),
    z.enum(["true", "false", "1", "0", ""], { error: "must be true or false" }),
  )
  .transform((value) => value === "true" || value === "1");

/** `date -Iseconds` ends in an offset, whose plus is a space in a query where nobody has encoded it. */
const timeInQuery = z.preprocess(
  (value) => (typeof value === "string" ? value.replace(/ (?=\d\d:\d\d$)/u, "+") : value),
  timeIn,
);

const PR_MAX = 4_294_967_295;

export const uploadTestResults = z.object({
  repo: repoPath,
  repoHost: host,
  sha,
  branch: text(1, 255),
  pr: digits(1, PR_MAX).optional(),
  variant: text(0, 200).default(""),
  job: text(0, 200).default(""),
  attempt: digits(1, 1000).default(1),
  started_at: timeInQuery.optional(),
  run_url: text(1, 2000).optional(),
  merge_queue: flag.default(false),
  test_run: text(1, 200).optional(),
});

export const readIssue = z.object({ line: z.int(), column: z.int(), message: z.string() });

export const uploadAnswer = z
  .object({
    uploadId: z.string(),
    tests: z.int(),
    failures: z.int(),
    errors: z.int(),
    skipped: z.int(),
    issues: z.array(readIssue),
    quarantined: z
      .array(z.string())
      .meta({ description: "Ids of the failing tests whose failures do not count; at most 5,000." }),
    verdict: z.enum(["PASS", "FAIL"]).meta({ description: "Ignores quarantined failures: a CI step can go by it." }),
  })
  .meta({ id: "UploadAnswer" });

export const getUpload = z.object({
  repo: z.object({ host, owner: z.string().min(1).max(100), name: z.string().min(1).max(100) }),
  upload_id: text(1, 100),
});

export const uploadView = z
  .object({
    upload_id: z.string(),
    state: z.enum(["PROCESSED", "WAITING", "FAILED"]),
    received_at: z.string().meta({ format: "date-time" }),
    problem: z.string().nullable().meta({ description: "Why it failed; null when it did not." }),
    answer: uploadAnswer.nullable(),
  })
  .meta({ id: "Upload" });
