/** Runs one check, once: checks the content out, runs the command confined, keeps its log, ends all its processes. */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkOut, ContentFault, objectsOf, removeFolder } from "./checkout.ts";
import type { Git } from "./git.ts";
import { type Check, fileName, type Job, logPath } from "./job.ts";
import { type LogFile, openLog } from "./log-file.ts";
import { listen, messengerFor, type Outcome, type Said, verdict } from "./messenger.ts";
import { endGroup, endMarked, endStragglers, markOf } from "./processes.ts";
import { keepReports } from "./reports.ts";
import type { Repository } from "./repository.ts";
import type { Sandbox } from "./sandbox.ts";

export type Task = {
  readonly repo: Repository;
  readonly job: Job;
  readonly check: Check;
  readonly command: string;
  /** The run's folder. */
  readonly folder: string;
  readonly hidden: readonly string[];
  readonly stop: AbortSignal;
};

/** The engine decides about timeouts; this only keeps what is forgotten from running for ever. */
const LONGEST_MS = 24 * 60 * 60 * 1_000;
const FLUSH_MS = 1_500;
const GRACE_MS = 2_000;

export async function execute(git: Git, sandbox: Sandbox, task: Task): Promise<Outcome> {
  const own = ownFolder(task.folder, task.check);
  await removeFolder(own);
  await mkdir(join(own, "home"), { recursive: true });
  try {
    await checkOut(git, task.repo, task.job.branch, task.job.commit, join(own, "tree"));
    if (task.stop.aborted) return { kind: "STOPPED" };
    const log = openLog(logPath(task.folder, task.check));
    const outcome = await follow(sandbox, task, own, log).finally(log.close);
    // What it wrote is kept beside its log: the worktree goes.
    if (outcome.kind === "ENDED") await keepReports(join(own, "tree"), task.folder, task.check);
    return outcome;
  } catch (error) {
    if (error instanceof ContentFault) return cannotBeCheckedOut(task, error);
    throw error;
  } finally {
    // What cannot be removed costs disk, not the verdict.
    await removeFolder(own).catch(() => {});
    await rm(markPath(task.folder, task.check), { force: true });
  }
}

/** Nothing ran, and nothing ever will: that is this content's failure, which repeating for ever would only hide. */
function cannotBeCheckedOut(task: Task, fault: ContentFault): Outcome {
  const description = `the tested content cannot be checked out (${fault.message})`;
  const log = openLog(logPath(task.folder, task.check));
  log.write(Buffer.from(`${description}\n`));
  log.close();
  return { kind: "ENDED", state: "FAILURE", description };
}

const ownFolder = (folder: string, check: Check): string => join(folder, `${fileName(check.context)}.work`);
const markPath = (folder: string, check: Check): string => join(folder, `${fileName(check.context)}.pid`);

/** After a server was killed: ends what still runs of the check it started, and removes the worktree. */
export async function removeLeftovers(folder: string, check: Check): Promise<void> {
  const text = await readFile(markPath(folder, check), "utf8").catch(() => undefined);
  if (text !== undefined) {
    const mark = /^(\d+) (\w+)$/u.exec(text);
    if (mark?.[1] !== undefined && mark[2] !== undefined) await endMarked({ pid: Number(mark[1]), start: mark[2] });
  }
  await endStragglers(join(ownFolder(folder, check), "home"));
  await removeFolder(ownFolder(folder, check));
  await rm(markPath(folder, check), { force: true });
}

async function follow(sandbox: Sandbox, task: Task, own: string, log: LogFile): Promise<Outcome> {
  const { folder, check, hidden, stop } = task;
  const tree = join(own, "tree");
  const readable = [objectsOf(task.repo)];
  const inside = sandbox.wrap(messengerFor(task.command), { own, hidden, readable, cwd: tree });
  const child = spawn(inside.file, inside.args, {
    cwd: tree,
    env: environment(task, join(own, "home")),
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const said = listen(child, log);
  if (child.pid === undefined) return { kind: "NOT_STARTED", what: await said.failed };
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), LONGEST_MS);
  try {
    const { pid, start } = await markOf(child.pid);
    await writeFile(markPath(folder, check), `${pid} ${start}`);
    await Promise.race([said.ended, aborted(stop), aborted(overdue.signal)]);
  } finally {
    clearTimeout(timer);
    await endAll(child.pid, join(own, "home"), said, stop.aborted || overdue.signal.aborted);
    for (const stream of child.stdio) stream?.destroy();
  }
  return stop.aborted ? { kind: "STOPPED" } : verdict(said.lines(), said.complaint(), overdue.signal.aborted);
}

/**
 * A check that ended by itself is through with its output once the messenger is gone; what it left in the background
 * is not awaited for long. One that is stopped gets a moment to clean up.
 */
async function endAll(pid: number, home: string, said: Said, stopped: boolean): Promise<void> {
  if (!stopped) await Promise.race([said.closed, sleep(FLUSH_MS)]);
  await endGroup(pid, stopped ? GRACE_MS : 0);
  await endStragglers(home);
  await Promise.race([said.closed, sleep(FLUSH_MS)]);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** All that a check gets. Nothing of the server's own environment but PATH: that is where tokens live. */
const environment = ({ job, check }: Task, home: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  LANG: "C.UTF-8",
  CI: "true",
  MAINLINE_RUN: job.run,
  MAINLINE_COMMIT: job.commit,
  MAINLINE_BASE: job.base,
  MAINLINE_BRANCH: job.branch,
  MAINLINE_CHECK: check.context,
  MAINLINE_ATTEMPT: String(check.attempt),
  MAINLINE_PULL_REQUESTS: job.prNumbers.join(","),
});
