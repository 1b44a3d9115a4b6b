import { text } from "./wire.ts";

/** Bytes; keeps every key of the table far below its 2,048. */
const BRANCH_BYTES_MAX = 255;

// Space, the characters that git's own syntax uses, and control characters (git allows those above U+007F; terminals act on them).
const FORBIDDEN = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\//u;

const badComponent = (part: string): boolean => part.startsWith(".") || part.endsWith(".lock");

/** `git check-ref-format --branch <name>` without git: https://git-scm.com/docs/git-check-ref-format, rules 1 to 10. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD") return false;
  // A leading dash would be read as an option of git.
  if (name.startsWith("-") || name.startsWith("/")) return false;
  if (name.endsWith("/") || name.endsWith(".")) return false;
  if (new TextEncoder().encode(name).length > BRANCH_BYTES_MAX) return false;
  return !FORBIDDEN.test(name) && !name.split("/").some(badComponent);
}

// Below `refs/` a name could be taken for a full reference; below `mainline/` are the branches that the service makes.
const isTargetBranch = (name: string): boolean =>
  isBranchName(name) && !name.startsWith("refs/") && !name.startsWith("mainline/");

export const targetBranch = text(1, BRANCH_BYTES_MAX).refine(
  isTargetBranch,
  'must be a valid git branch name, not below "refs/" or "mainline/"',
);

export const headBranch = text(1, BRANCH_BYTES_MAX).refine(isBranchName, "must be a valid git branch name");
