/**
 * `.mainline.yaml`: `checks` (name → shell command), `required_statuses` (names), `targets` (name → globs of paths) and
 * `reports` (name of a check → the JUnit files that it writes).
 * Other keys are left alone: they belong to later versions. Never throws; what is wrong is said in words for the file's
 * author.
 */
import { parseDocument } from "yaml";
import * as z from "zod";
import type { CommitSha } from "../../kernel/ids.ts";
import { readObjects } from "./objects.ts";
import type { Git } from "./git.ts";
import { cut } from "./names.ts";

export const CONFIG_FILE = ".mainline.yaml";
const MOST_BYTES = 64 * 1024;
const MOST_CHECKS = 100;
const MOST_GLOBS = 1000;
const MOST_ALIASES = 50;
const MOST_REPORTS = 20;

export type ConfigFile = {
  readonly checks: ReadonlyMap<string, string>;
  readonly requiredStatuses: readonly string[] | undefined;
  /** Undefined where the file says nothing of targets: they are uploaded then. */
  readonly targets: ReadonlyMap<string, readonly string[]> | undefined;
  /** Paths in the working tree, by check. */
  readonly reports: ReadonlyMap<string, readonly string[]>;
};
export type ConfigRead =
  | { readonly kind: "NONE" }
  | { readonly kind: "READ"; readonly config: ConfigFile }
  | { readonly kind: "PROBLEM"; readonly what: string };

const named = (what: string) =>
  z
    .string({ error: `${what} must be text` })
    .min(1, `${what} must not be empty`)
    .max(200, `${what} must be at most 200 characters`)
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+$/u, `${what} must be printable`);
const statusName = named("a status name");
const command = z
  .string({ error: "a check must be a shell command as text" })
  .trim()
  .min(1, "a check must not be empty")
  .refine((text) => !text.includes("\0"), "a check must not hold a NUL character");
const file = z.map(z.unknown(), z.unknown(), { error: "must be a mapping" });
const checks = z.map(statusName, command, { error: "must map names to shell commands" });
const required = z.array(statusName, { error: "must be a list of names" });
/** What other tools understand in a glob and this one does not would match nothing, and silently: it is refused. */
const glob = named("a glob")
  .refine((text) => !/^\.{0,2}\//u.test(text), "a glob begins at the root of the repository, without a slash")
  .refine((text) => !text.endsWith("/"), "a glob names files: write folder/** for all below a folder")
  .refine((text) => !text.startsWith("!"), "a glob cannot exclude")
  .refine((text) => !/\{[^}]*,[^}]*\}/u.test(text), "a glob has no choices in braces: write one glob for each");
const targets = z.map(named("a target"), z.array(glob, { error: "must be a list of globs" }), {
  error: "must map targets to lists of globs",
});

/** A file's own name in the working tree: no glob, so that what is missing is known to be. */
const report = named("a report").refine(
  (text) => !/^\/|(?:^|\/)\.{1,2}(?:\/|$)|\/$|\\/u.test(text),
  "a report is a path in the repository",
);
const reports = z.map(
  statusName,
  z.union([report.transform((one) => [one]), z.array(report).max(MOST_REPORTS)], {
    error: "must be a path or a list of paths",
  }),
  { error: "must map names of checks to paths" },
);

/** Reads the file of one commit. */
export async function readConfigFile(git: Git, commit: CommitSha): Promise<ConfigRead> {
  const [found] = await readObjects(git, [`${commit}:${CONFIG_FILE}`], MOST_BYTES + 200);
  if (found === undefined) return { kind: "NONE" };
  if (found.type !== "blob") return { kind: "PROBLEM", what: `${CONFIG_FILE} is not a file` };
  return parseConfigFile(found.body);
}

export function parseConfigFile(bytes: Buffer): ConfigRead {
  if (bytes.length > MOST_BYTES)
    return { kind: "PROBLEM", what: `${CONFIG_FILE} is larger than ${MOST_BYTES / 1024} KiB` };
  const yaml = parseYaml(bytes.toString("utf8"));
  if ("problem" in yaml) return { kind: "PROBLEM", what: `${CONFIG_FILE}: ${yaml.problem}` };
  if (yaml.value === null || yaml.value === undefined) return { kind: "READ", config: EMPTY };
  const root = file.safeParse(yaml.value);
  if (!root.success) return problem("the file", root.error);
  const commands = checks.safeParse(root.data.get("checks") ?? new Map());
  if (!commands.success) return problem("checks", commands.error);
  if (commands.data.size > MOST_CHECKS)
    return { kind: "PROBLEM", what: `${CONFIG_FILE}: checks: at most ${MOST_CHECKS} are allowed` };
  const list = required.optional().safeParse(root.data.get("required_statuses") ?? undefined);
  if (!list.success) return problem("required_statuses", list.error);
  const mapping = targets.optional().safeParse(root.data.get("targets") ?? undefined);
  if (!mapping.success) return problem("targets", mapping.error);
  if ([...(mapping.data?.values() ?? [])].flat().length > MOST_GLOBS)
    return { kind: "PROBLEM", what: `${CONFIG_FILE}: targets: at most ${MOST_GLOBS} globs are allowed` };
  const written = reports.safeParse(root.data.get("reports") ?? new Map());
  if (!written.success) return problem("reports", written.error);
  const requiredStatuses = list.data === undefined ? undefined : [...new Set(list.data)];
  return {
    kind: "READ",
    config: { checks: commands.data, requiredStatuses, targets: mapping.data, reports: written.data },
  };
}

const EMPTY: ConfigFile = { checks: new Map(), requiredStatuses: undefined, targets: undefined, reports: new Map() };

/** Maps stay maps, so that a key named `__proto__` is a key like any other. */
function parseYaml(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    const document = parseDocument(text, { prettyErrors: true, logLevel: "error" });
    const error = document.errors[0];
    if (error !== undefined) return { problem: firstLine(error.message) };
    return { value: document.toJS({ mapAsMap: true, maxAliasCount: MOST_ALIASES }) };
  } catch (error) {
    return { problem: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

const firstLine = (text: string): string => cut((text.split("\n")[0] ?? "").replace(/:$/u, ""), 300);

function problem(where: string, error: z.ZodError): ConfigRead {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join(".") ?? "";
  return {
    kind: "PROBLEM",
    what: cut(`${CONFIG_FILE}: ${path === "" ? where : `${where}.${path}`}: ${issue?.message ?? "is wrong"}`, 500),
  };
}
