import { type Glob, globOf, partsOf } from "../../kernel/glob.ts";

/*
 * Who owns a file, by GitHub's rules: docs.github.com, "About code owners" (syntax, example, exceptions), and the REST
 * page "List CODEOWNERS errors" (what is invalid). A pattern is that of a gitignore file (git-scm.com/docs/gitignore),
 * except that `!`, `[ ]` and a `#` escaped at its beginning do not work, and that `docs/*` is one level only.
 */

/** One line of the file that says something. */
export type OwnersRule = {
  /** Counted from 1. */
  readonly line: number;
  readonly pattern: string;
  /** As written: `@user`, `@organization/team` or an e-mail address; none where the line takes owners away. */
  readonly owners: readonly string[];
  /** What every path that it matches holds; "" where nothing is certain. */
  readonly needs: string;
  readonly matches: Glob;
};

/** A line that is skipped, and why; GitHub skips it too. */
export type OwnersIssue = { readonly line: number; readonly message: string };

/** In the file's order. */
export type Codeowners = { readonly rules: readonly OwnersRule[]; readonly issues: readonly OwnersIssue[] };

/** GitHub loads no file of 3 MB or more, and then nobody owns anything. */
const FILE_BYTES_MAX = 3 * 1024 * 1024;
const LINE_MAX = 64 * 1024;
/** No path of a repository comes near it; longer ones only cost time. */
const PATTERN_MAX = 1_024;
const PATH_MAX = 1_024;
/** A file that is no CODEOWNERS file at all is not reported line by line. */
const ISSUES_MAX = 100;

/** Reads a CODEOWNERS file. It never fails: what cannot be read is skipped and reported, at most 100 times. */
export function parseCodeowners(text: string): Codeowners {
  if (Buffer.byteLength(text) >= FILE_BYTES_MAX) {
    return { rules: [], issues: [{ line: 1, message: "The file has 3 MB or more and is not loaded." }] };
  }
  const rules: OwnersRule[] = [];
  const issues: OwnersIssue[] = [];
  for (const [index, written] of text
    .replace(/^\uFEFF/u, "")
    .split("\n")
    .entries()) {
    const line = index + 1;
    const read = ruleOf(written.trim());
    if (typeof read === "string" && issues.length < ISSUES_MAX) issues.push({ line, message: read });
    if (typeof read === "object") rules.push({ line, ...read });
  }
  return { rules, issues };
}

/**
 * The owners of a file: those of the last rule that matches, none when that names none or when no rule matches.
 *
 * @param path from the repository's root, divided by `/`, without one in front
 */
export function ownersOf(rules: readonly OwnersRule[], path: string): readonly string[] {
  if (path.length > PATH_MAX) return [];
  const unescaped = literal(path, false);
  const parts = partsOf(unescaped);
  return rules.findLast((rule) => unescaped.includes(rule.needs) && rule.matches(parts))?.owners ?? [];
}

/** What a line says, undefined when nothing, a sentence when it is invalid. */
function ruleOf(line: string): Omit<OwnersRule, "line"> | string | undefined {
  if (line === "" || line.startsWith("#")) return undefined;
  if (line.length > LINE_MAX) return "The line is longer than 64 KB.";
  const pattern = PATTERN.exec(line)?.[0] ?? "";
  const problem = problemOf(pattern);
  if (problem !== undefined) return problem;
  const [named = ""] = line.slice(pattern.length).split("#", 1);
  const owners = named.split(/\s+/u).filter(Boolean);
  const stranger = owners.find((owner) => !OWNER.test(owner));
  if (stranger !== undefined) {
    return `The owner ${shown(stranger)} is neither a @user nor an @organization/team nor an e-mail address.`;
  }
  const glob = globTextOf(pattern);
  return { pattern, owners, needs: certainTextOf(glob), matches: globOf(glob) };
}

/** Up to the first blank that is not escaped. */
const PATTERN = /^(?:\\.|[^\s\\])+\\?/u;

/** Names of users may hold an underscore since there are managed ones; those of teams always could. */
const OWNER = /^(?:@[\w-]+(?:\/[\w.-]+)?|[\w.%+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)$/u;

function problemOf(pattern: string): string | undefined {
  const named = `The pattern ${shown(pattern)}`;
  if (pattern === "/") return `${named} names nothing.`;
  if (pattern.length > PATTERN_MAX) return `${named} is longer than any path.`;
  if (pattern.startsWith("!")) return `${named} begins with "!", which excludes nothing here.`;
  if (pattern.startsWith("\\#")) return `${named} begins with an escaped "#", which does not work here.`;
  if (/(?<!\\)(?:\\\\)*[[\]]/u.test(pattern))
    return `${named} holds "[" or "]", and ranges of characters do not work here.`;
  if (pattern.includes("***")) return `${named} holds more than two "*" in a row.`;
  if (/(?<!\\)(?:\\\\)*\\$/u.test(pattern)) return `${named} ends with a "\\" that escapes nothing.`;
  return undefined;
}

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/**
 * The same as a glob of ours. One with a slash in front or within counts from the root, any other anywhere; one that
 * names a directory means all that is in it, and so does any other unless its last part is a lone `*`.
 */
function globTextOf(pattern: string): string {
  const isAnchored = pattern.replace(/\/$/u, "").includes("/");
  const parts = partsOf(literal(pattern.replace(/^\//u, ""), true));
  const last = parts.at(-1) ?? "";
  const before = [...(isAnchored ? [] : ["**"]), ...parts.slice(0, -1)];
  // Of all directories, one has to be there.
  if (last === "" && before.at(-1) === "**") return [...before, "*", "*", "**"].join("/");
  if (last === "" || last === "**") return [...before, "*", "**"].join("/");
  if (last === "*") return [...before, "*"].join("/");
  return [...before, last, "**"].join("/");
}

/** The longest text between wildcards and slashes: to look for it spares most rules the matching. */
const certainTextOf = (glob: string): string =>
  glob.split(/[*?/]/u).reduce((longest, text) => (text.length > longest.length ? text : longest), "");

/**
 * A pattern's escapes taken away. An escaped `*` or `?` is written as a character that no path of git holds, there and
 * in the path, so that what is left of them in a pattern are wildcards.
 */
function literal(text: string, isPattern: boolean): string {
  if (!isPattern)
    return text.includes("*") || text.includes("?") ? text.replaceAll("*", STAR).replaceAll("?", MARK) : text;
  return text.replaceAll(/\\(.)/gu, (_, escaped: string) =>
    escaped === "*" ? STAR : escaped === "?" ? MARK : escaped,
  );
}

const STAR = "\u0000";
const MARK = "\u0001";
