/**
 * One process owns a data folder: the server, or for a moment a command-line tool. The lock is a file that names its
 * owner; a lock whose owner is gone (`kill -9`) is replaced.
 */
import { randomUUID } from "node:crypto";
import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { isSystemError, PRIVATE_FILE, readJsonFile } from "./files.ts";
import { isRunning, ownIdentity, processIdentity } from "./process-identity.ts";

const owner = z.object({ ...processIdentity.shape, role: z.enum(["server", "tool"]), nonce: z.string() });
export type LockOwner = z.infer<typeof owner>;

export type DataLock = { readonly release: () => void };

const lockPath = (data: string): string => join(data, "lock");

/** Creates the lock whole or not at all: a link never shows a half-written file. */
function create(data: string, mine: LockOwner): boolean {
  const beside = `${lockPath(data)}.${mine.nonce}`;
  writeFileSync(beside, JSON.stringify(mine), { mode: PRIVATE_FILE });
  try {
    linkSync(beside, lockPath(data));
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(beside, { force: true });
  }
}

const holds = (data: string, nonce: string): boolean => readJsonFile(lockPath(data), owner)?.nonce === nonce;

/**
 * Moves a dead owner's lock away. Two processes may see the same dead lock; the slower one would move the faster one's
 * new lock, so it looks at what it moved and puts a living one back.
 */
function removeStale(data: string): void {
  const aside = `${lockPath(data)}.${randomUUID()}.stale`;
  try {
    renameSync(lockPath(data), aside);
    const moved = readJsonFile(aside, owner);
    if (moved !== undefined && isRunning(moved)) linkSync(aside, lockPath(data));
  } catch (error) {
    if (!isSystemError(error, "ENOENT") && !isSystemError(error, "EEXIST")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** The living owner, if there is one. */
export function lockOwner(data: string): LockOwner | undefined {
  const found = readJsonFile(lockPath(data), owner);
  return found !== undefined && isRunning(found) ? found : undefined;
}

/** The lock, or who holds it. */
export function tryLock(data: string, role: LockOwner["role"]): DataLock | LockOwner {
  const mine: LockOwner = { ...ownIdentity(), role, nonce: randomUUID() };
  for (;;) {
    const current = lockOwner(data);
    if (current !== undefined) return current;
    if (!create(data, mine)) removeStale(data);
    else if (holds(data, mine.nonce)) break;
  }
  return {
    release: () => {
      if (holds(data, mine.nonce)) rmSync(lockPath(data), { force: true });
    },
  };
}

/** A tool holds the lock for seconds at most: whoever finds one waits for it. A server is waited for by nobody. */
export async function lock(data: string, role: LockOwner["role"], patienceMs = 15_000): Promise<DataLock | LockOwner> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const outcome = tryLock(data, role);
    if ("release" in outcome || outcome.role === "server" || performance.now() > until) return outcome;
    await sleep(50);
  }
}
