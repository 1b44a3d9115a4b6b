import { parseArgs } from "node:util";
import * as z from "zod";
import { orgSlug } from "../../shared/kernel/ids.ts";
import { ORG_SLUG } from "../../shared/table/organizations.ts";
import { oneLine } from "../local/cannot-start.ts";
import { UsageError } from "./token-arguments.ts";

export const USAGE = `usage: npm run github-app -- setup [--url https://<where GitHub reaches the service>] [--owner <GitHub organization>]
                                     [--name <name>] [--web https://github.com] [--port 8977] [--data .data | --stage <stage>]
       npm run github-app -- link --org <slug> [--port 8977] [--data .data | --stage <stage>]
       npm run github-app -- forget --org <slug> --repo <owner>/<name> [--data .data | --stage <stage>]
       npm run github-app -- rotate --key <file.pem> [--data .data | --stage <stage>]

setup makes the GitHub App, from a page that it opens a way to, and keeps its secrets in <data>/github-app.json, or with
--stage in the secret of that deployment on AWS. Without --url GitHub sends no webhooks and the service looks by itself;
a stage that was deployed from here knows its own. --web is for GitHub Enterprise Server. link binds one installation of
the App, which whoever owns the account makes or confirms in the browser, to one organization. forget is for a repository
that was removed and made anew: queues of that name are the new one's from then on. rotate takes a private
key that was made on the App's page, in place of the one that is kept.`;

const port = z.coerce.number({ error: "must be a number" }).int().min(1).max(65_535).default(8977);
const address = z
  .url({ protocol: /^https?$/u, error: "must be an address" })
  .transform((url) => url.replace(/\/+$/u, ""));
const place = {
  data: z.string().min(1).default(".data"),
  stage: z.string().min(1, { error: "is empty" }).optional(),
};

const command = z.discriminatedUnion(
  "command",
  [
    z.strictObject({
      ...place,
      port,
      command: z.literal("setup"),
      url: address.optional(),
      owner: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,39}$/u, { error: "must be a GitHub organization's login" })
        .optional(),
      name: z.string().min(1).max(34, { error: "has at most 34 characters at GitHub" }).default("Mainline"),
      web: address.default("https://github.com"),
    }),
    z.strictObject({
      ...place,
      port,
      command: z.literal("link"),
      org: z
        .string({ error: "is required" })
        .regex(ORG_SLUG, { error: "is no organization's slug" })
        .transform(orgSlug),
    }),
    z.strictObject({
      ...place,
      command: z.literal("forget"),
      org: z
        .string({ error: "is required" })
        .regex(ORG_SLUG, { error: "is no organization's slug" })
        .transform(orgSlug),
      repo: z.string({ error: "is required" }).regex(/^[^/\s]+\/[^/\s]+$/u, { error: "must be <owner>/<name>" }),
    }),
    z.strictObject({ ...place, command: z.literal("rotate"), key: z.string({ error: "is required" }).min(1) }),
  ],
  { error: "must be setup, link, forget or rotate" },
);

export type GitHubAppCommand = z.infer<typeof command>;
export type Of<Name extends GitHubAppCommand["command"]> = Extract<GitHubAppCommand, { command: Name }>;

const text = { type: "string" } as const;
const OPTIONS = {
  url: text,
  owner: text,
  name: text,
  web: text,
  port: text,
  data: text,
  stage: text,
  org: text,
  key: text,
  repo: text,
} as const;

function split(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(oneLine(error).split(". ")[0]);
  }
}

const inWords = (issue: z.core.$ZodIssue): string =>
  issue.code === "unrecognized_keys"
    ? `--${issue.keys.join(", --")} does not go with this command`
    : `${issue.path[0] === "command" ? "the command" : `--${String(issue.path[0])}`} ${issue.message}`;

export function parseGitHubAppCommand(args: readonly string[]): GitHubAppCommand {
  const { values, positionals } = split(args);
  if (positionals.length > 1) throw new UsageError(`"${positionals[1]}" is one argument too many`);
  const read = command.safeParse({ ...values, command: positionals[0] });
  if (!read.success) throw new UsageError(read.error.issues.map(inWords).join("; "));
  if (values.stage !== undefined && values.data !== undefined)
    throw new UsageError("--stage means a deployment on AWS, and --data a folder of this machine: say one of them");
  return read.data;
}
