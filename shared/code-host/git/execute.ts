/** Runs one check, once: checks the content out, runs the command confined, keeps its log, ends all its processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { checkOut, objectsOf, removeFolder } from "./checkout.ts";
import type { Git } from "./git.ts";
import { type Check, fileName, type Job, logPath } from "./job.ts";
import { type LogFile, openLog } from "./log-file.ts";
import { endGroup, endMarked, endStragglers, markOf } from "./processes.ts";
import type { Repository } from "./repository.ts";
import type { Sandbox } from "./sandbox.ts";

export type Outcome =
  | { readonly kind: "ENDED"; readonly state: "SUCCESS" | "FAILURE"; readonly description: string }
  | { readonly kind: "STOPPED" }
  | { readonly kind: "NOT_STARTED"; readonly what: string };

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
const FLUSH_MS = 500;

/**
 * Says on descriptor 3 that it began and how it ended, out of the check's reach, so that the end is known although
 * something in the background keeps the output open. `cat` stands between because node's own pipes are sockets, which
 * `> /dev/stderr` cannot open. The traps let a check's `kill 0` reach the check and not its messenger.
 */
const MESSENGER = `
trap : TERM INT HUP
echo started >&3
{ trap : TERM INT HUP; /bin/sh -c "$1" 3>&-; echo "exit $?" >&3; } 2>&1 | { trap '' TERM INT HUP; exec cat 3>&-; }
`;

export async function execute(git: Git, sandbox: Sandbox, task: Task): Promise<Outcome> {
  const own = ownFolder(task.folder, task.check);
  await removeLeftovers(task.folder, task.check);
  await mkdir(join(own, "home"), { recursive: true });
  try {
    await checkOut(git, task.repo, task.job.branch, task.job.commit, join(own, "tree"));
    if (task.stop.aborted) return { kind: "STOPPED" };
    const log = openLog(logPath(task.folder, task.check));
    return await follow(sandbox, task, own, log).finally(log.close);
  } finally {
    await removeLeftovers(task.folder, task.check);
  }
}

const ownFolder = (folder: string, check: Check): string => join(folder, `${fileName(check.context)}.work`);
const markPath = (folder: string, check: Check): string => join(folder, `${fileName(check.context)}.pid`);

/** Also after another process of this server was killed: ends what still runs of this check, removes its worktree. */
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
  const tree = join(own, "tree");
  const command = { file: "/bin/sh", args: ["-c", MESSENGER, "check", task.command] };
  const inside = sandbox.wrap(command, {
    own,
    hidden: task.hidden,
    readable: [objectsOf(task.repo)],
    cwd: tree,
  });
  const child = spawn(inside.file, inside.args, {
    cwd: tree,
    env: environment(task, join(own, "home")),
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const said = listen(child, log);
  if (child.pid === undefined) return { kind: "NOT_STARTED", what: (await said.failed) ?? "it could not be started" };
  const mark = await markOf(child.pid);
  await writeFile(markPath(task.folder, task.check), `${mark.pid} ${mark.start}`);
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), LONGEST_MS);
  await Promise.race([said.ended, aborted(task.stop), aborted(overdue.signal)]);
  clearTimeout(timer);
  const stopped = task.stop.aborted || overdue.signal.aborted;
  // What the check itself wrote is through once the messenger is gone; what it left in the background is not awaited.
  if (!stopped) await Promise.race([said.closed, sleep(FLUSH_MS)]);
  await endGroup(child.pid, stopped ? undefined : 0);
  await endStragglers(join(own, "home"));
  await Promise.race([said.closed, sleep(FLUSH_MS)]);
  for (const stream of child.stdio) stream?.destroy();
  return task.stop.aborted ? { kind: "STOPPED" } : verdict(said.lines(), said.complaint(), overdue.signal.aborted);
}

function verdict(lines: readonly string[], complaint: string, overdue: boolean): Outcome {
  if (overdue) return { kind: "ENDED", state: "FAILURE", description: "stopped after 24 hours" };
  if (!lines.includes("started")) return { kind: "NOT_STARTED", what: complaint || "it could not be started" };
  const code = lines.find((line) => line.startsWith("exit "))?.slice(5);
  if (code === undefined) return { kind: "ENDED", state: "FAILURE", description: "killed before it ended" };
  return { kind: "ENDED", state: code === "0" ? "SUCCESS" : "FAILURE", description: `exit status ${code}` };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

function listen(child: ChildProcess, log: LogFile) {
  let messages = "";
  let complaint = "";
  const lines = (): readonly string[] => messages.split("\n");
  child.stdout?.on("data", log.write);
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < 1_000) complaint += chunk.toString("utf8");
    log.write(chunk);
  });
  const failed = new Promise<string>((resolve) => child.on("error", (error) => resolve(error.message)));
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const messenger = child.stdio[3];
  const ended = new Promise<void>((resolve) => {
    child.on("exit", () => resolve());
    if (!(messenger instanceof Readable)) return;
    messenger.on("data", (chunk: Buffer) => {
      if (messages.length < 1_000) messages += chunk.toString("utf8");
      if (/^exit \d+\n/mu.test(messages)) resolve();
    });
  });
  return { lines, failed, closed, ended, complaint: () => complaint.trim().split("\n")[0] ?? "" };
}

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
