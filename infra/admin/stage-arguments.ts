/** Arguments of the commands on a deployment. */
import { parseArgs } from "node:util";
import * as z from "zod";
import { orgSlug } from "../../shared/kernel/ids.ts";
import { ORG_SLUG } from "../../shared/table/organizations.ts";
import { oneLine } from "../local/cannot-start.ts";
import { UsageError } from "./token-arguments.ts";

/** The organization that the first deployment makes. */
export const FIRST_ORG = orgSlug("main");

export const USAGES = {
  deploy: `usage: npm run deploy -- --stage <stage> [--org main] [--yes] [--no-bootstrap]

Deploys the stage of infra/config.ts with the AWS credentials of the environment, and makes the first organization and
its admin token, which is shown once. --yes asks no questions. --no-bootstrap: the account was prepared by somebody else.`,
  destroy: `usage: npm run destroy -- --stage <stage> [--delete-data] [--yes-i-mean <stage>]

Removes what was deployed. A stage that keeps its data leaves table and bucket behind; --delete-data removes those too,
for ever. Whatever loses data wants the stage's name twice, and then asks no more.`,
  backup: `usage: npm run backup -- --stage <stage> [--list]

Makes a backup of the table, kept until somebody deletes it; --list shows those there are, and how far back the table
itself can be restored.`,
  restore: `usage: npm run restore -- --stage <stage> (--at <time> | --latest | --backup <arn>) [--to <table>]

Makes a second table with what was in the first at that time (2027-01-31T12:00:00Z), and says how to switch to it.
Nothing that runs is touched.`,
} as const;

export type CommandName = keyof typeof USAGES;

const stage = z.string({ error: "is required" }).min(1, { error: "is required" });
const flag = z.boolean().default(false);
const name = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{3,255}$/u, { error: "must be the name of a table: 3 to 255 of A-Z a-z 0-9 _ . -" });
const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/u, {
    error: "must be a time like 2027-01-31T12:00:00Z",
  })
  .refine((text) => !Number.isNaN(Date.parse(text)), { error: "is no time there is" })
  .transform((text) => new Date(text));

const text = { type: "string" } as const;
const set = { type: "boolean" } as const;
type Options = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

function split(args: readonly string[], options: Options): Record<string, unknown> {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Node's first sentence says what is wrong; the rest explains its own syntax.
    throw new UsageError(oneLine(error).split(". ")[0]);
  }
}

const parser =
  <Given>(shape: z.ZodType<Given>, options: Options) =>
  (args: readonly string[]): Given => {
    const read = shape.safeParse(split(args, options));
    if (read.success) return read.data;
    throw new UsageError(read.error.issues.map(({ path, message }) => `--${path.join(".")} ${message}`).join("; "));
  };

const org = z
  .string()
  .regex(ORG_SLUG, { error: "must be 1 to 39 lower-case letters, digits or dashes, and not begin with a dash" })
  .transform(orgSlug)
  .default(FIRST_ORG);

export const parseDeploy = parser(z.strictObject({ stage, org, yes: flag, "no-bootstrap": flag }), {
  stage: text,
  org: text,
  yes: set,
  "no-bootstrap": set,
});

export const parseBackup = parser(z.strictObject({ stage, list: flag }), { stage: text, list: set });

const destroy = z.strictObject({ stage, "delete-data": flag, "yes-i-mean": z.string().optional() });
export type DestroyArguments = z.output<typeof destroy>;

export const parseDestroy = parser(destroy, { stage: text, "delete-data": set, "yes-i-mean": text });

const restore = z.strictObject({
  stage,
  at: time.optional(),
  latest: flag,
  backup: z.string().startsWith("arn:", { error: "must be a backup's ARN: npm run backup -- --list" }).optional(),
  to: name.optional(),
});
export type RestoreArguments = z.output<typeof restore>;

const parsedRestore = parser(restore, { stage: text, at: text, latest: set, backup: text, to: text });

export function parseRestore(args: readonly string[]): RestoreArguments {
  const given = parsedRestore(args);
  const said = [given.at !== undefined, given.latest, given.backup !== undefined].filter(Boolean).length;
  if (said !== 1) throw new UsageError("say what to restore: one of --at, --latest and --backup");
  return given;
}

/** The stage's name a second time, wherever data would be lost. */
export function checkDestroy(given: DestroyArguments, keepsData: boolean): void {
  const loses = given["delete-data"] || !keepsData;
  const meant = given["yes-i-mean"];
  if (meant !== undefined && meant !== given.stage)
    throw new UsageError(`--yes-i-mean ${meant} is not --stage ${given.stage}`);
  if (loses && meant === undefined)
    throw new UsageError(
      `this deletes everything that ${given.stage} knows, for ever: add --yes-i-mean ${given.stage}, or make a backup first`,
    );
}
