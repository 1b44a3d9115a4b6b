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
  return { pid, start: (await startOf(pid)) ?? "unknown" };
}

/** Field 22 of /proc/<pid>/stat, in clock ticks since boot; the name in field 2 may hold spaces and brackets. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
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
    for (let waited = 0; waited < graceMs && signal(-leader, 0); waited += 20) await sleep(20);
  signal(-leader, "SIGKILL");
}

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
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/u.test(name)).map(Number);
  const carries = async (pid: number): Promise<boolean> => {
    if (pid === process.pid) return false;
    const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    return environ.split("\0").includes(entry);
  };
  const marks = await Promise.all(pids.map(carries));
  return pids.filter((_, index) => marks[index]);
}
