/** Processes of a run of the tests: those whose environment, arguments or working folder name the run's folder. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export type Left = { readonly pid: number; readonly parent: number; readonly command: string };

const reading = (read: () => string): string => {
  try {
    return read();
  } catch {
    // It has ended, or is somebody else's.
    return "";
  }
};

function ofProcess(pid: number, folder: string): readonly Left[] {
  const file = (name: string): string => reading(() => readFileSync(`/proc/${pid}/${name}`, "utf8"));
  const command = file("cmdline").replaceAll("\0", " ").trim();
  const cwd = reading(() => readlinkSync(`/proc/${pid}/cwd`));
  const isOfRun = command.includes(folder) || cwd.startsWith(folder) || file("environ").includes(`=${folder}`);
  if (!isOfRun) return [];
  return [{ pid, parent: Number(/^PPid:\s+(\d+)$/mu.exec(file("status"))?.[1] ?? 0), command }];
}

export const ofRun = (folder: string): readonly Left[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => ofProcess(Number(name), folder));

/** Those that nobody of the run owns any more. */
export function leftBehind(folder: string): readonly Left[] {
  const all = ofRun(folder);
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const isOwned = (pid: number): boolean => pid === process.pid || (parents.has(pid) && isOwned(parents.get(pid) ?? 0));
  return all.filter(({ parent }) => !isOwned(parent));
}
