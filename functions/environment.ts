/** The environment of a deployed function, as the stacks set it. On one machine none of it is read. */
import * as z from "zod";

const text = z.string({ error: "is missing" }).min(1, { error: "is empty" });
const url = z.url({ protocol: /^https?$/u, error: "must be an address that begins with http:// or https://" });
const arn = text.regex(/^arn:/u, { error: "must be an ARN" });

/** What every function has. */
export const SERVICE = z.object({
  MAINLINE_TABLE: text,
  MAINLINE_STAGE: text.regex(/^[a-z][a-z0-9-]{0,19}$/u, {
    error: "must be up to 20 lower-case letters, digits and hyphens, a letter first",
  }),
  MAINLINE_LOG_LEVEL: z
    .enum(["DEBUG", "INFO", "WARN", "ERROR"], { error: "must be DEBUG, INFO, WARN or ERROR" })
    .default("INFO"),
  /** In place of the table's address. */
  DYNAMODB_ENDPOINT: url.optional(),
});

/** What those have that read or write large values. */
export const BUCKET = z.object({ MAINLINE_BUCKET: text, MAINLINE_S3_ENDPOINT: url.optional() });

/** What those have that make and remove schedules. */
export const SCHEDULER = z.object({
  MAINLINE_SCHEDULER_GROUP: text,
  MAINLINE_SCHEDULER_ROLE_ARN: arn,
  MAINLINE_WINDOW_FUNCTION_ARN: arn,
  MAINLINE_SCHEDULER_DLQ_ARN: arn,
});

/** What those have that talk to GitHub, or are talked to by it. */
export const GITHUB = z.object({ MAINLINE_GITHUB_SECRET_ARN: arn });

export type Variables = Readonly<Record<string, string | undefined>>;

/** Whoever deployed it gets to know everything that is wrong, at once. */
export function readEnvironment<Shape extends z.ZodObject>(shape: Shape, variables: Variables): z.output<Shape> {
  const read = shape.safeParse(variables);
  if (read.success) return read.data;
  const wrong = read.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  throw new Error(
    `This function cannot start, its environment is wrong: ${wrong.join("; ")}. Deploy the stacks again.`,
  );
}
