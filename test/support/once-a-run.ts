/** What all workers of a run of the tests need and is dear to make: the first one makes it, the others wait for it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const LOOK_EVERY_MS = 50;

const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** True for the first alone. */
function isFirst(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/** The pid of whoever is making it; undefined while it is being written. */
const makerOf = (lock: string): number | undefined => Number(readFileSync(lock, "utf8")) || undefined;

/**
 * Blocks until it is made. What the first one throws, the others are told. Outside a run of the tests, which has a
 * folder of its own, nothing is kept.
 */
export function onceARun(name: string, make: () => string): string {
  const folder = tmpdir();
  if (!basename(folder).startsWith("mainline-run-")) return make();
  const [lock, path] = [join(folder, `${name}.lock`), join(folder, `${name}.json`)];
  if (isFirst(lock)) {
    try {
      // At once and whole.
      writeFileSync(`${path}.new`, make());
      renameSync(`${path}.new`, path);
    } catch (error) {
      writeFileSync(`${lock}.failed`, "");
      throw error;
    }
  }
  for (let maker = makerOf(lock); !existsSync(path); maker = makerOf(lock)) {
    const hasFailed = existsSync(`${lock}.failed`);
    if (hasFailed || (maker !== undefined && !isAlive(maker))) throw new Error(`${name}: whoever made it failed`);
    pause();
  }
  return readFileSync(path, "utf8");
}
