/**
 * The proof, with plain git and sh on a fresh clone: every point that the target branch has been at passes the checks
 * of the repository, and the two that fail together pass alone. Nothing of the service is asked or used.
 */
import { git, run } from "./run.ts";
import { BRANCH } from "./repository.ts";
import { CHECKS, PR } from "./sample.ts";

export type Point = { readonly sha: string; readonly subject: string; readonly passes: boolean };

export type Proof = {
  /** First parents, oldest first. */
  readonly points: readonly Point[];
  readonly alone: readonly [boolean, boolean];
  readonly mergesInText: boolean;
  readonly together: boolean;
};

export async function prove(bare: string, parent: string): Promise<Proof> {
  const clone = `${parent}/proof`;
  await git(parent, ["clone", "--quiet", bare, clone]);
  await git(clone, ["fetch", "--quiet", "origin", "refs/pull/*/head:refs/pull/*/head"]);
  const points = await provePoints(clone);
  const { ahead, behind } = PR.together;
  const alone = [await passesAt(clone, headOf(ahead)), await passesAt(clone, headOf(behind))] as const;
  await git(clone, ["checkout", "--quiet", "--detach", headOf(ahead)]);
  const merged = await run("git", ["merge", "--quiet", "--no-edit", headOf(behind)], clone);
  return { points, alone, mergesInText: merged.ok, together: await passes(clone) };
}

const headOf = (number: number): string => `refs/pull/${number}/head`;

async function provePoints(clone: string): Promise<readonly Point[]> {
  const log = await git(clone, ["log", "--first-parent", "--reverse", "--format=%H %s", BRANCH]);
  const points: Point[] = [];
  for (const line of log.split("\n")) {
    const [sha = "", ...words] = line.split(" ");
    points.push({ sha, subject: words.join(" "), passes: await passesAt(clone, sha) });
  }
  return points;
}

async function passesAt(clone: string, commit: string): Promise<boolean> {
  await git(clone, ["checkout", "--quiet", "--detach", commit]);
  return passes(clone);
}

async function passes(clone: string): Promise<boolean> {
  for (const check of CHECKS) if (!(await run("sh", [check], clone)).ok) return false;
  return true;
}
