/**
 * What is known of a run, in `<work>/runs/<run>/job.json`: written before anybody is told, so that a server that died
 * goes on where it was. Beside it lie the checks' logs, and while they run their worktrees.
 */
import { createHash } from "node:crypto";
import { open, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { commitSha, runId, type RunId, treeSha } from "../../kernel/ids.ts";
import { epochMs } from "../../kernel/time.ts";

const checkSchema = z.object({
  context: z.string(),
  /** Null for a required status that the tested content does not define: nothing to run. */
  command: z.string().nullable(),
  /** Which time it runs: 1, and one more for each repeat. */
  attempt: z.int(),
  state: z.enum(["PENDING", "SUCCESS", "FAILURE", "ERROR"]),
  description: z.string().nullable(),
  /** Paths of the JUnit files that it writes. */
  reports: z.array(z.string()).default([]),
});
export type Check = z.infer<typeof checkSchema>;

const jobSchema = z.object({
  run: z.string().transform(runId),
  repo: z.object({ host: z.string(), owner: z.string(), name: z.string() }),
  branch: z.string(),
  base: z.string().transform(commitSha),
  commit: z.string().transform(commitSha),
  tree: z.string().transform(treeSha),
  prNumbers: z.array(z.int()),
  repeats: z.int(),
  checks: z.array(checkSchema),
  /** What broke, when the run was ended by infrastructure. */
  broken: z.string().nullable(),
  closedAt: z.number().transform(epochMs).nullable(),
  /** The testing branch was removed. False on a closed run whose repository was away. */
  branchGone: z.boolean(),
});
export type Job = z.infer<typeof jobSchema>;

export type Jobs = {
  readonly read: (run: RunId) => Promise<Job | undefined>;
  readonly write: (job: Job) => Promise<void>;
  readonly remove: (run: RunId) => Promise<void>;
  readonly all: () => Promise<readonly RunId[]>;
  readonly folder: (run: RunId) => string;
};

export function createJobs(work: string): Jobs {
  const root = join(work, "runs");
  const folder = (run: RunId): string => join(root, run);
  return {
    folder,
    read: async (run) => {
      const text = await readFile(join(folder(run), "job.json"), "utf8").catch(() => undefined);
      return text === undefined ? undefined : jobSchema.safeParse(parsed(text)).data;
    },
    write: async (job) => {
      await mkdir(folder(job.run), { recursive: true });
      await replaceDurably(folder(job.run), "job.json", `${JSON.stringify(job, null, 1)}\n`);
    },
    remove: (run) => rm(folder(run), { recursive: true, force: true }),
    all: async () => (await readdir(root).catch(() => [])).map(runId),
  };
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** On the disk when it returns, whole or not at all. */
async function replaceDurably(folder: string, name: string, text: string): Promise<void> {
  const next = join(folder, `${name}.new`);
  const file = await open(next, "w");
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(next, join(folder, name));
  const parent = await open(folder, "r");
  await parent.sync();
  await parent.close();
}

/** A check's name may hold anything printable; its file's name holds what every file system takes. */
export function fileName(context: string): string {
  const plain = context.replaceAll(/[^A-Za-z0-9_-]+/gu, "-").slice(0, 60);
  if (plain === context) return plain;
  return `${plain}-${createHash("sha256").update(context).digest("hex").slice(0, 8)}`;
}

/** A report of a check, from when it was written until the service has taken it. */
export const reportPath = (folder: string, check: Check, at: number): string =>
  join(folder, `${fileName(check.context)}.${check.attempt}.${at}.report`);

export const logPath = (folder: string, check: Check): string =>
  join(folder, `${fileName(check.context)}.${check.attempt}.log`);

/** Stands in for the commit of a run that was closed before it was built. */
export const TOMBSTONE = commitSha("");

export const tombstone = (run: RunId, repo: Job["repo"], branch: string): Job => ({
  run,
  repo,
  branch,
  base: TOMBSTONE,
  commit: TOMBSTONE,
  tree: treeSha(""),
  prNumbers: [],
  repeats: 0,
  checks: [],
  broken: null,
  closedAt: null,
  branchGone: false,
});
