/**
 * The proof, with plain git and sh on a fresh clone: every point that the target branch has been at passes the checks
 * of the repository. Nothing of the service is asked or used.
 */
import { BRANCH } from "./repository.ts";
import { git, run } from "./run.ts";
import type { Sample } from "./scene.ts";

export type Point = { readonly sha: string; readonly subject: string; readonly passes: boolean };

/** A fresh clone, with the heads of all pull requests. */
export async function cloneAfresh(bare: string, clone: string): Promise<void> {
  await git("/", ["clone", "--quiet", bare, clone]);
  await git(clone, ["fetch", "--quiet", "origin", "refs/pull/*/head:refs/pull/*/head"]);
}

/** First parents, oldest first. */
export async function provePoints(clone: string, { checks }: Sample): Promise<readonly Point[]> {
  const log = await git(clone, ["log", "--first-parent", "--reverse", "--format=%H %s", BRANCH]);
  const points: Point[] = [];
  for (const line of log.split("\n")) {
    const [sha = "", ...words] = line.split(" ");
    points.push({ sha, subject: words.join(" "), passes: await passesAt(clone, sha, checks) });
  }
  return points;
}

export const headOf = (number: number): string => `refs/pull/${number}/head`;

export async function passesAt(clone: string, commit: string, checks: readonly string[]): Promise<boolean> {
  await git(clone, ["checkout", "--quiet", "--detach", commit]);
  return passes(clone, checks);
}

/** Two heads, merged by git alone: whether that goes without a conflict, and whether the sum passes. */
export async function passTogether(clone: string, ahead: number, behind: number, checks: readonly string[]) {
  await git(clone, ["checkout", "--quiet", "--detach", headOf(ahead)]);
  const merged = await run("git", ["merge", "--quiet", "--no-edit", headOf(behind)], clone);
  return { mergesInText: merged.ok, passes: await passes(clone, checks) };
}

async function passes(clone: string, checks: readonly string[]): Promise<boolean> {
  for (const check of checks) if (!(await run("sh", [check], clone)).ok) return false;
  return true;
}
