/**
 * Ends a check's processes, all of them: its process group, and whoever left the group but still carries the check's
 * own HOME in its environment. The same finds what a server that was killed left behind.
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A process id is used again; together with its start it means one process. */
export type ProcessMark = { readonly pid: number; readonly start: string };

const SWEEPS = 5;

export async function markOf(pid: number): Promise<ProcessMark> {
  return { pid, start: (await startOf(pid)) || "unknown" };
}

/** /proc/<pid>/stat from its third field, the state, on: the second, the name, may hold spaces and brackets. */
async function statOf(pid: number): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Field 22: when it started, in clock ticks since boot. */
const startOf = async (pid: number): Promise<string | undefined> => (await statOf(pid))[19];

/** Empty where there is no /proc. */
async function allPids(): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/u.test(name)).map(Number);
}

const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
};

/** SIGTERM to the group, and SIGKILL once it had its time. `graceMs` 0 kills at once. */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (graceMs > 0 && signal(-leader, "SIGTERM"))
    for (const until = Date.now() + graceMs; Date.now() < until && (await isAlive(leader)); ) await sleep(20);
  signal(-leader, "SIGKILL");
}

/** Whether more is left of the group than dead processes that nobody has collected: in a container often nobody does. */
async function isAlive(group: number): Promise<boolean> {
  if (!signal(-group, 0)) return false;
  const pids = await allPids();
  if (pids.length === 0) return true;
  const members = await Promise.all(pids.map(async (pid) => livesIn(await statOf(pid), group)));
  return members.includes(true);
}

const livesIn = ([state, , pgrp]: readonly string[], group: number): boolean =>
  Number(pgrp) === group && state !== "Z" && state !== "X";

/** Kills what a server before this one started and left, if the mark still means the same process. */
export async function endMarked(mark: ProcessMark): Promise<void> {
  if (mark.start !== "unknown" && (await startOf(mark.pid)) === mark.start) await endGroup(mark.pid, 0);
}

/** Kills every process whose HOME is this one. Where there is no /proc, there is nothing to find them by. */
export async function endStragglers(home: string): Promise<void> {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const found = await carriersOf(`HOME=${home}`);
    if (found.length === 0) return;
    for (const pid of found) signal(pid, "SIGKILL");
    await sleep(10);
  }
}

async function carriersOf(entry: string): Promise<readonly number[]> {
  const pids = await allPids();
  const carries = async (pid: number): Promise<boolean> => {
    if (pid === process.pid) return false;
    const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    return environ.split("\0").includes(entry);
  };
  const marks = await Promise.all(pids.map(carries));
  return pids.filter((_, index) => marks[index]);
}
