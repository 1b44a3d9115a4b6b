import { realpathSync, statSync } from "node:fs";
import { parseArgs } from "node:util";
import * as z from "zod";
import { orgSlug } from "../../shared/kernel/ids.ts";
import { LOCAL_ORG } from "./admin-token.ts";
import { CannotStart, oneLine } from "./cannot-start.ts";
import type { RepositoriesOf } from "./git-hosts.ts";

export const USAGE =
  "usage: npm start -- [--port 8080] [--data .data] [--repositories <folder> | <org>=<folder> ...] [--host git.local] [--sweep-seconds 10] [--trust-this-machine] [--min-free-mib 1024]";

const port = z
  .string()
  .regex(/^\d{1,5}$/u, { error: "must be a number from 0 to 65535; 0 takes a free one" })
  .transform(Number)
  .pipe(z.int().max(65_535, { error: "must be a number from 0 to 65535; 0 takes a free one" }));

/** `org=folder`; whatever does not look so is a folder of the organization `local`. */
const binding = z.string().transform((text, context): RepositoriesOf => {
  const named = /^([a-z0-9][a-z0-9-]{0,38})=(.+)$/u.exec(text);
  const [org, folder] = named === null ? [LOCAL_ORG, text] : [orgSlug(named[1] ?? ""), named[2] ?? ""];
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    context.addIssue({ code: "custom", message: `"${folder}" is no folder: make it first`, input: text });
    return z.NEVER;
  }
  return { org, folder: realpathSync(folder) };
});

/** Within a minute: a schedule says it by the seconds of one. */
const sweepSeconds = z
  .string()
  .regex(/^\d{1,2}$/u, { error: "must be a number of seconds from 1 to 30" })
  .transform(Number)
  .refine((seconds) => seconds >= 1 && seconds <= 30, { error: "must be a number of seconds from 1 to 30" });

const mebibytes = z
  .string()
  .regex(/^\d{1,7}$/u, { error: "must be a number of MiB from 0" })
  .transform(Number);

const distinct = (values: readonly string[]): boolean => new Set(values).size === values.length;

const settings = z.object({
  port: port.default(8080),
  data: z.string().min(1).default(".data"),
  host: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/u, { error: "must be a host name, like git.local" })
    .default("git.local"),
  "sweep-seconds": sweepSeconds.default(10),
  "trust-this-machine": z.boolean().default(false),
  "min-free-mib": mebibytes.default(1024),
  repositories: z
    .array(binding)
    .default([])
    .refine((all) => distinct(all.map((one) => one.org)), "gives one organization two folders")
    .refine((all) => distinct(all.map((one) => one.folder)), "gives one folder to two organizations"),
});

export type StartSettings = z.infer<typeof settings>;

const OPTIONS = {
  port: { type: "string" },
  data: { type: "string" },
  host: { type: "string" },
  "sweep-seconds": { type: "string" },
  "trust-this-machine": { type: "boolean" },
  "min-free-mib": { type: "string" },
  repositories: { type: "string", multiple: true },
} as const;

function split(args: readonly string[]): Record<string, unknown> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new CannotStart(`${oneLine(error).split(". ")[0]}; ${USAGE}`);
  }
}

export function parseStartArguments(args: readonly string[]): StartSettings {
  const read = settings.safeParse(split(args));
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => `--${String(issue.path[0])} ${issue.message}`);
  throw new CannotStart(`${[...new Set(problems)].join("; ")}. ${USAGE}`);
}
