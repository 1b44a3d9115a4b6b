/**
 * Which process a number in a file meant. A pid alone comes round again; with the moment the process started, and the
 * boot it started in, it does not.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import * as z from "zod";

export const processIdentity = z.object({ pid: z.int().positive(), started: z.string() });
export type ProcessIdentity = z.infer<typeof processIdentity>;

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

/** Field 22 of `/proc/<pid>/stat`; the name in field 2 may hold spaces and brackets, so what follows it is counted. */
function startedOnLinux(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie holds nothing any more.
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return `${read("/proc/sys/kernel/random/boot_id")?.trim() ?? ""} ${fields[19] ?? ""}`;
}

function startedElsewhere(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** When that process started, in this system's own words; undefined when there is none. */
export const startedOf = (pid: number): string | undefined =>
  process.platform === "linux" ? startedOnLinux(pid) : startedElsewhere(pid);

/** Undefined when the process is gone already. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const started = startedOf(pid);
  return started === undefined ? undefined : { pid, started };
}

export const isRunning = ({ pid, started }: ProcessIdentity): boolean => startedOf(pid) === started;

export function ownIdentity(): ProcessIdentity {
  const own = identityOf(process.pid);
  if (own === undefined) throw new Error("this system does not tell when a process started (neither /proc nor ps)");
  return own;
}
