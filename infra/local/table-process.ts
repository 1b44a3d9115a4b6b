/**
 * The embedded DynamoDB as a child process: started, kept alive while its server lives, stopped with it.
 * Every write it acknowledged is in its SQLite file (WAL, flushed at each commit), so killing it loses nothing.
 *
 * It obeys every program that can connect. On data it therefore runs in a network namespace, and its only door is a
 * Unix socket in a folder that only its owner can read; where this machine has no namespaces, it listens on loopback and `isOpen` says so. In
 * memory, for tests, it always listens on loopback.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Log } from "../../shared/kernel/log.ts";
import { CannotStart } from "./cannot-start.ts";
import { PRIVATE_FILE, readJsonFile, writeFileAtomically } from "./files.ts";
import { answers, freePort, type Place } from "./ports.ts";
import { identityOf, isRunning, type ProcessIdentity, processIdentity } from "./process-identity.ts";
import { tableBinary } from "./table-binary.ts";
import { type Command, type FindNamespace, findNamespace, type Namespace } from "./table-namespace.ts";

export type TableProcess = {
  /** `http://127.0.0.1:<port>`, or `unix:<path>`. */
  readonly endpoint: string;
  /** Whether anybody on this machine can connect to it. */
  readonly isOpen: boolean;
  /** Changes when the process had to be started anew. */
  readonly pid: () => number | undefined;
  readonly stop: () => Promise<void>;
};

export type TableProcessOptions = {
  /** Its folder; null keeps everything in memory. */
  readonly data: string | null;
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
  /** This machine's, if not given. */
  readonly namespace?: FindNamespace | undefined;
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
const WATCHED = 'umask 177; exec 3<&0 </dev/null; (cat <&3 >/dev/null 2>&1; kill -TERM $$) & exec 3<&-; exec "$0" "$@"';

const DOORKEEPER = fileURLToPath(new URL("table-doorkeeper.ts", import.meta.url));

/** Where it will be reached, and the command that makes it so. */
type Door = { readonly place: Place; readonly command: Command; readonly remove: () => void };

async function onLoopback(binary: string, database: readonly string[]): Promise<Door> {
  const port = await freePort();
  const args = ["-c", WATCHED, binary, "serve", "--host", "127.0.0.1", "--port", String(port), ...database];
  return { place: { port, host: "127.0.0.1" }, command: { file: "/bin/sh", args }, remove: () => {} };
}

/** Of `sockaddr_un`, with some room. */
const SOCKET_PATH_BYTES_MAX = 100;

/** In the data folder; where its path is too long for a socket, in a private folder beside other temporary ones. */
function socketPath(data: string): { readonly path: string; readonly remove: () => void } {
  // Whole: command-line tools read it in folders of their own.
  const path = resolve(data, "table.sock");
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, remove: () => rmSync(path, { force: true }) };
  const folder = mkdtempSync(join(tmpdir(), "mainline-"));
  return { path: join(folder, "table.sock"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function behindSocket(within: Namespace, binary: string, data: string, database: readonly string[]): Door {
  const { path, remove } = socketPath(data);
  const command = within({ file: process.execPath, args: [DOORKEEPER, path, binary, ...database] });
  return { place: { path }, command, remove };
}

function spawnTable({ file, args }: Command, data: string | null): ChildProcess {
  const output = data === null ? "ignore" : openSync(join(data, "table.log"), "a", PRIVATE_FILE);
  try {
    // Its own group: Ctrl-C at the terminal goes to the server alone, which stops the table last.
    return spawn(file, args, {
      stdio: ["pipe", output, output],
      detached: true,
      // Nothing of ours but the way to its programs.
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

/** The table and what is around it. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) signalGroup(child.pid, signal);
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nothing of the group is left.
  }
}

/** Twice, so that a stranger who took the port before ours could is not mistaken for it: ours then ends at once. */
async function isUp(child: ChildProcess, place: Place): Promise<boolean> {
  if (!(await answers(place))) return false;
  await sleep(20);
  return !ended(child) && (await answers(place));
}

async function waitUntilUp(child: ChildProcess, place: Place): Promise<boolean> {
  const until = performance.now() + START_MS_MAX;
  while (!ended(child) && performance.now() < until) {
    if (await isUp(child, place)) return true;
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
  signalGroup(orphan.pid, "SIGTERM");
  if (await waitUntilGone(orphan, STOP_MS_MAX)) return;
  signalGroup(orphan.pid, "SIGKILL");
  if (!(await waitUntilGone(orphan, STOP_MS_MAX)))
    throw new CannotStart(`Process ${orphan.pid} still holds the data and cannot be ended: end it yourself.`);
}

function record(data: string | null, child: ChildProcess): void {
  const identity = child.pid === undefined ? undefined : identityOf(child.pid);
  if (data !== null && identity !== undefined) writeFileAtomically(recordPath(data), JSON.stringify(identity));
}

export async function startTableProcess(options: TableProcessOptions): Promise<TableProcess> {
  const { data, log, env = process.env, namespace = findNamespace } = options;
  const binary = tableBinary(env);
  const database = data === null ? [] : ["--db-path", databasePath(data)];
  const within = data === null ? undefined : await namespace();
  if (data !== null) makePrivate(data);
  const launch = async ({ place, command }: Door): Promise<ChildProcess | undefined> => {
    const child = spawnTable(command, data);
    child.once("error", (error) => log.error("the table process cannot run", { why: error.message }));
    child.stdin?.on("error", () => {});
    record(data, child);
    if (await waitUntilUp(child, place)) return child;
    killGroup(child, "SIGKILL");
    return undefined;
  };

  const first = async (): Promise<{ door: Door; child: ChildProcess }> => {
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
      const door =
        within === undefined || data === null
          ? await onLoopback(binary, database)
          : behindSocket(within, binary, data, database);
      const child = await launch(door);
      if (child !== undefined) return { door, child };
      door.remove();
    }
    throw new CannotStart(
      `The table process ${binary} does not start${data === null ? "" : `: see ${data}/table.log`}.`,
    );
  };

  const { door, child } = await first();
  return keepAlive({ child, door, log, launch: () => launch(door) });
}

/** Makes the files of an existing database readable by their owner alone. */
function makePrivate(data: string): void {
  for (const path of [databasePath(data), `${databasePath(data)}-wal`, `${databasePath(data)}-shm`])
    if (existsSync(path)) chmodSync(path, PRIVATE_FILE);
}

type Kept = {
  readonly child: ChildProcess;
  readonly door: Door;
  readonly log: Log;
  readonly launch: () => Promise<ChildProcess | undefined>;
};

/** Always at the same place: clients keep their address and retry through the gap. */
function keepAlive({ child: firstChild, door, log, launch }: Kept): TableProcess {
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
    door.remove();
  };
  const { place } = door;
  const endpoint = "path" in place ? `unix:${place.path}` : `http://127.0.0.1:${place.port}`;
  return { endpoint, isOpen: !("path" in place), pid: () => child.pid, stop };
}
