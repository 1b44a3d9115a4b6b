/**
 * The embedded DynamoDB as a child process: started, kept alive while its server lives, stopped with it.
 * Every write it acknowledged is in its SQLite file (WAL, flushed at each commit), so killing it loses nothing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/kernel/log.ts";
import { CannotStart } from "./cannot-start.ts";
import { PRIVATE_FILE, readJsonFile, writeFileAtomically } from "./files.ts";
import { answers, freePort } from "./ports.ts";
import { identityOf, isRunning, type ProcessIdentity, processIdentity } from "./process-identity.ts";
import { tableBinary } from "./table-binary.ts";

export type TableProcess = {
  readonly endpoint: string;
  /** Changes when the process had to be started anew. */
  readonly pid: () => number | undefined;
  readonly stop: () => Promise<void>;
};

export type TableProcessOptions = {
  /** Its folder; null keeps everything in memory. */
  readonly data: string | null;
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
};

export const databasePath = (data: string): string => join(data, "table.db");
const recordPath = (data: string): string => join(data, "table.json");

const START_ATTEMPTS = 3;
const START_MS_MAX = 10_000;
const STOP_MS_MAX = 3_000;
const RESTART_AFTER_MS = [50, 100, 250, 500, 1_000, 2_000, 5_000];

/**
 * The shell turns into the table (same pid), beside a watcher that ends it when its standard input closes: a server
 * that is killed closes it without a word, and no table stays behind.
 */
const WATCHED = 'exec 3<&0 </dev/null; (cat <&3 >/dev/null 2>&1; kill -TERM $$) & exec 3<&-; exec "$0" "$@"';

function spawnTable(binary: string, port: number, data: string | null): ChildProcess {
  const output = data === null ? "ignore" : openSync(join(data, "table.log"), "a", PRIVATE_FILE);
  const place = data === null ? [] : ["--db-path", databasePath(data)];
  try {
    // Its own group: Ctrl-C at the terminal goes to the server alone, which stops the table last.
    return spawn("/bin/sh", ["-c", WATCHED, binary, "serve", "--host", "127.0.0.1", "--port", String(port), ...place], {
      stdio: ["pipe", output, output],
      detached: true,
      // Nothing of ours but the way to `cat`.
      env: { PATH: process.env["PATH"] },
    });
  } finally {
    if (typeof output === "number") closeSync(output);
  }
}

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const whenEnded = (child: ChildProcess): Promise<void> =>
  ended(child) || child.pid === undefined
    ? Promise.resolve()
    : new Promise((resolve) => {
        child.once("exit", () => resolve());
      });

/** The table and its watcher. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nothing of the group is left.
  }
}

/** Twice, so that a stranger who took the port before ours could is not mistaken for it: ours then ends at once. */
async function isUp(child: ChildProcess, port: number): Promise<boolean> {
  if (!(await answers(port))) return false;
  await sleep(20);
  return !ended(child) && (await answers(port));
}

async function waitUntilUp(child: ChildProcess, port: number): Promise<boolean> {
  const until = performance.now() + START_MS_MAX;
  while (!ended(child) && performance.now() < until) {
    if (await isUp(child, port)) return true;
    await sleep(10);
  }
  return false;
}

async function waitUntilGone(orphan: ProcessIdentity, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; performance.now() < until; await sleep(10))
    if (!isRunning(orphan)) return true;
  return !isRunning(orphan);
}

/** Ends a table process that a killed server left on this data. Only the lock's holder may: it belongs to nobody then. */
export async function endOrphan(data: string, log: Log): Promise<void> {
  const orphan = readJsonFile(recordPath(data), processIdentity);
  if (orphan === undefined || !isRunning(orphan)) return;
  log.warn("a table process of a killed server still runs on this data; ending it", { pid: orphan.pid });
  process.kill(orphan.pid, "SIGTERM");
  if (await waitUntilGone(orphan, STOP_MS_MAX)) return;
  process.kill(orphan.pid, "SIGKILL");
  if (!(await waitUntilGone(orphan, STOP_MS_MAX)))
    throw new CannotStart(`Process ${orphan.pid} still holds the data and cannot be ended: end it yourself.`);
}

function record(data: string | null, child: ChildProcess): void {
  const identity = child.pid === undefined ? undefined : identityOf(child.pid);
  if (data !== null && identity !== undefined) writeFileAtomically(recordPath(data), JSON.stringify(identity));
}

export async function startTableProcess({ data, log, env = process.env }: TableProcessOptions): Promise<TableProcess> {
  const binary = tableBinary(env);
  const launch = async (port: number): Promise<ChildProcess | undefined> => {
    const child = spawnTable(binary, port, data);
    child.once("error", (error) => log.error("the table process cannot run", { why: error.message }));
    child.stdin?.on("error", () => {});
    record(data, child);
    if (await waitUntilUp(child, port)) return child;
    killGroup(child, "SIGKILL");
    return undefined;
  };

  const first = async (): Promise<{ port: number; child: ChildProcess }> => {
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
      const port = await freePort();
      const child = await launch(port);
      if (child !== undefined) return { port, child };
    }
    throw new CannotStart(
      `The table process ${binary} does not start${data === null ? "" : `: see ${data}/table.log`}.`,
    );
  };

  const { port, child } = await first();
  return keepAlive({ child, port, log, launch: () => launch(port) });
}

type Kept = {
  readonly child: ChildProcess;
  readonly port: number;
  readonly log: Log;
  readonly launch: () => Promise<ChildProcess | undefined>;
};

/** Always on the same port: clients keep their address and retry through the gap. */
function keepAlive({ child: firstChild, port, log, launch }: Kept): TableProcess {
  const stopping = new AbortController();
  let child = firstChild;

  const again = async (): Promise<void> => {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      await sleep(RESTART_AFTER_MS[Math.min(attempt, RESTART_AFTER_MS.length - 1)], undefined, {
        signal: stopping.signal,
      }).catch(() => {});
      const next = stopping.signal.aborted ? undefined : await launch();
      if (next === undefined) continue;
      child = next;
      return;
    }
  };

  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await whenEnded(child);
      // Its watcher goes as well, before the pid it would signal can belong to another.
      killGroup(child, "SIGKILL");
      if (stopping.signal.aborted) return;
      log.error("the table process ended; starting it again", { code: child.exitCode, signal: child.signalCode });
      await again();
    }
  };
  const watched = watch();

  const stop = async (): Promise<void> => {
    stopping.abort();
    killGroup(child, "SIGTERM");
    const late = setTimeout(() => killGroup(child, "SIGKILL"), STOP_MS_MAX);
    await watched;
    await whenEnded(child);
    clearTimeout(late);
    child.stdin?.destroy();
  };
  return { endpoint: `http://127.0.0.1:${port}`, pid: () => child.pid, stop };
}
