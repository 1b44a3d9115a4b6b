import { parseArgs } from "node:util";
import * as z from "zod";
import { SCOPES } from "../../shared/auth/scopes.ts";
import { orgSlug } from "../../shared/kernel/ids.ts";
import { type EpochMs, epochMs } from "../../shared/kernel/time.ts";
import { oneLine } from "../local/cannot-start.ts";
import { ORG_SLUG } from "../../shared/table/organizations.ts";

export const USAGE = `usage: npm run token -- create --org <slug> [--name <name>] [--scopes read,submit,admin] [--enum-case lower]
                                    [--expires <date>] [--data .data]
       npm run token -- list   --org <slug> [--data .data]
       npm run token -- revoke --org <slug> (--name <name> | --id <id>) [--data .data]
       npm run token -- rotate --org <slug> (--name <name> | --id <id>) [--expires <date>] [--data .data]

create makes the organization if it is new. Without --scopes a token has read,submit. A date is 2027-01-31 (its first
moment in UTC) or a full 2027-01-31T12:00:00Z. Instead of --data, --stage <stage> uses the table of that deployment, and
--table <name> any table on AWS.`;

/** The arguments make no sense; the message says which and why. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/u;

/** JavaScript takes 31 February for 3 March. */
const isRealDate = (text: string): boolean => {
  const day = text.slice(0, 10);
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
};

const expires = z
  .string()
  .refine((text) => DATE.test(text) && isRealDate(text) && !Number.isNaN(Date.parse(text)), {
    error: "must be a date like 2027-01-31 or 2027-01-31T12:00:00Z",
  })
  .transform((text): EpochMs => epochMs(Date.parse(text)));

const scopes = z
  .string()
  .transform((text) => text.split(",").map((scope) => scope.trim().toLowerCase()))
  .pipe(z.array(z.enum(SCOPES, { error: `must be some of ${SCOPES.join(",")}` })))
  .transform((given) => SCOPES.filter((scope) => given.includes(scope)));

const org = z
  .string({ error: "is required" })
  .regex(ORG_SLUG, { error: "must be 1 to 39 lower-case letters, digits or dashes, and not begin with a dash" })
  .transform(orgSlug);
const name = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,98}[\x21-\x7e])?$/u, {
  error: "must be 1 to 100 printable ASCII characters",
});
const enumCase = z.enum(["upper", "lower"], { error: "must be upper or lower" });
const place = {
  org,
  data: z.string().min(1).default(".data"),
  table: z.string().min(3).optional(),
  stage: z.string().min(1).optional(),
};
const which = { name: name.optional(), id: z.string().min(1).optional() };

const command = z.discriminatedUnion(
  "command",
  [
    z.strictObject({
      ...place,
      command: z.literal("create"),
      name: name.optional(),
      scopes: scopes.default(["read", "submit"]),
      "enum-case": enumCase.default("upper"),
      expires: expires.optional(),
    }),
    z.strictObject({ ...place, command: z.literal("list") }),
    z.strictObject({ ...place, ...which, command: z.literal("revoke") }),
    z.strictObject({ ...place, ...which, command: z.literal("rotate"), expires: expires.optional() }),
  ],
  { error: "must be create, list, revoke or rotate" },
);

export type TokenCommand = z.infer<typeof command>;
export type Which = { readonly name?: string | undefined; readonly id?: string | undefined };

const text = { type: "string" } as const;
const OPTIONS = {
  org: text,
  name: text,
  id: text,
  scopes: text,
  "enum-case": text,
  expires: text,
  data: text,
  table: text,
  stage: text,
} as const;

function split(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // Node's first sentence says what is wrong; the rest explains its own syntax.
    throw new UsageError(oneLine(error).split(". ")[0]);
  }
}

const inWords = (issue: z.core.$ZodIssue): string => {
  const at = String(issue.path[0]);
  if (issue.code === "unrecognized_keys") return `--${issue.keys.join(", --")} does not go with this command`;
  return at === "command" ? `the command ${issue.message}` : `--${at} ${issue.message}`;
};

export function parseTokenCommand(args: readonly string[], now: EpochMs): TokenCommand {
  const { values, positionals } = split(args);
  if (positionals.length > 1) throw new UsageError(`"${positionals[1]}" is one argument too many`);
  const read = command.safeParse({ ...values, command: positionals[0] });
  if (!read.success) throw new UsageError(read.error.issues.map(inWords).join("; "));
  check(read.data, now);
  return read.data;
}

function check(given: TokenCommand, now: EpochMs): void {
  if (given.table !== undefined && given.stage !== undefined)
    throw new UsageError("say which table: either --stage or --table");
  if ("expires" in given && given.expires !== undefined && given.expires <= now)
    throw new UsageError("--expires must be in the future");
  if (given.command === "create" && given.scopes.length === 0) throw new UsageError("--scopes must name one at least");
  if (given.command !== "revoke" && given.command !== "rotate") return;
  if ((given.name === undefined) === (given.id === undefined))
    throw new UsageError("say which token: either --name or --id");
}
