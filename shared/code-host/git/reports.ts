/**
 * JUnit files that checks write: copied out of the worktree before it is removed, told to the service, and removed when
 * it has taken them. What a server that died left behind is told again: taking the same file twice counts once.
 */
import { constants } from "node:fs";
import { lstat, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckReport } from "../port.ts";
import { type Check, type Job, reportPath } from "./job.ts";

const MOST_BYTES = 20 * 1024 * 1024;

/** Copies what is there. A report that is missing, a link, or too large is none: the check's own result stands. */
export async function keepReports(tree: string, folder: string, check: Check): Promise<void> {
  for (const [at, path] of check.reports.entries()) {
    const bytes = await readPlainFile(tree, path);
    if (bytes !== undefined) await writeFile(reportPath(folder, check, at), bytes);
  }
}

/**
 * A file that lies below the folder by real folders only: what a check has linked elsewhere is none of its. Nothing of
 * the check runs any more, so nothing changes between the looks.
 */
async function readPlainFile(tree: string, path: string): Promise<Buffer | undefined> {
  const parts = path.split("/");
  try {
    for (let depth = 1; depth < parts.length; depth += 1)
      if (!(await lstat(join(tree, ...parts.slice(0, depth)))).isDirectory()) return undefined;
    const file = await open(join(tree, ...parts), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const about = await file.stat();
      return about.isFile() && about.size <= MOST_BYTES ? await file.readFile() : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** Tells of every report that is kept, and forgets those that were taken. */
export async function tellReports(
  job: Job,
  folder: string,
  take: (report: CheckReport) => Promise<boolean>,
): Promise<void> {
  for (const check of job.checks)
    for (let attempt = 1; attempt <= check.attempt; attempt += 1)
      for (const at of check.reports.keys()) {
        const path = reportPath(folder, { ...check, attempt }, at);
        const bytes = await readFile(path).catch(() => undefined);
        if (bytes === undefined) continue;
        const { run, branch, commit, prNumbers } = job;
        if (await take({ run, branch, commit, prNumbers, check: check.context, attempt, bytes }))
          await rm(path, { force: true });
      }
}
