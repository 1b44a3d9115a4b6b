/**
 * Names that come from outside and end in paths or refs. They were checked where they came in;
 * here they are checked again, because here is where a slip would reach the disk.
 */
import type { RunId } from "../../kernel/ids.ts";

const REPOSITORY_PART = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/u;
const RUN = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/u;
const OBJECT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/u;

/** An owner or a repository's name that is safe as one segment of a path. */
export const isRepositoryPart = (text: string): boolean =>
  REPOSITORY_PART.test(text) && !text.includes("..") && !/\.(?:git|lock)$/iu.test(text);

/** A run's id names a folder. */
export const isRunName = (run: RunId): boolean => RUN.test(run) && !run.includes("..");

export const isObjectName = (text: string): boolean => OBJECT.test(text);

/** What `git check-ref-format refs/heads/<branch>` accepts, and no branch that `HEAD` or an option could stand for. */
export function isBranchName(branch: string): boolean {
  if (branch === "" || branch.length > 250 || branch.startsWith("-") || branch === "HEAD" || branch === "@")
    return false;
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//u.test(branch)) return false;
  return branch.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** Branches that this service makes and removes; nobody's own. */
export const OWN_BRANCHES = "refs/heads/mainline/";

export const headRef = (prNumber: number): string => `refs/pull/${prNumber}/head`;

/** The number in `refs/pull/<n>/head`; undefined for any other ref. */
export function numberOf(ref: string): number | undefined {
  const digits = /^refs\/pull\/([1-9]\d{0,9})\/head$/u.exec(ref)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The beginning of a text that may be of any length. No half of a character is left: that could not be stored. */
export const cut = (text: string, most: number): string => text.slice(0, most).toWellFormed();

/** One line of printable text: what a title or a name may be where git or a log shows it. */
export const oneLine = (text: string, most = 500): string =>
  cut(text.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").trim(), most);
