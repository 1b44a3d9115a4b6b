/** Processes of this machine, as /proc tells of them. */
import { readdirSync, readFileSync } from "node:fs";

const pids = (): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map(Number);

const read = (pid: number, what: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "utf8");
  } catch {
    return "";
  }
};

export type Process = {
  readonly pid: number;
  readonly command: string;
  readonly isCheck: boolean;
  readonly isTable: boolean;
};

/** Those that have to do with this data folder. */
export function processesOf(data: string): readonly Process[] {
  return pids().flatMap((pid) => {
    const command = read(pid, "cmdline").replaceAll("\0", " ");
    const environment = read(pid, "environ").split("\0");
    const isCheck = environment.some((one) => one.startsWith(`HOME=${data}/hosts/`) && one.endsWith(".work/home"));
    // Not what confines it, which has the same words behind its own.
    const isTable = /^\S*dynoxide /u.test(command) && command.includes(`${data}/table.db`);
    return isCheck || command.includes(data) ? [{ pid, command, isCheck, isTable }] : [];
  });
}

const parentOf = (pid: number): number => {
  const stat = read(pid, "stat");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
};

/** Children, their children, and so on. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = new Map(pids().map((one) => [one, parentOf(one)]));
  const found = [pid];
  for (const parent of found) for (const [child, its] of parents) if (its === parent) found.push(child);
  return found.slice(1);
}

export function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
