/** The server as a child process that dies and comes back on the same data. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { kill } from "./processes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READY = /^Mainline is ready: (\S+)$/mu;
/** Only what hangs takes so long. */
export const READY_MS_MAX = 600_000;

export type Life = {
  readonly child: ChildProcess;
  /** Resolves when it answers; rejects when it ended or did not come up in time. */
  readonly up: Promise<string>;
  readonly gone: Promise<void>;
  readonly isGone: () => boolean;
  readonly said: () => string;
};

export type Site = {
  readonly data: string;
  /** Waits until a server answers; its address. */
  readonly ready: () => Promise<string>;
  readonly start: (crashAt?: string) => Life;
  readonly killTable: () => boolean;
  /** From the start of a process to its answering. */
  readonly startsMs: readonly number[];
};

const identity = z.object({ pid: z.int() });

/** The pid in one of the data folder's files, when it is there. */
export function pidIn(path: string): number | undefined {
  try {
    return identity.safeParse(JSON.parse(readFileSync(path, "utf8"))).data?.pid;
  } catch {
    return undefined;
  }
}

/** `up` hears of each address, before anybody else does. */
export function aSite(data: string, args: readonly string[], isUp: (url: string) => void = () => {}): Site {
  const startsMs: number[] = [];
  let current = Promise.withResolvers<string>();
  const begin = (crashAt: string | undefined): Life => {
    const { MAINLINE_CRASH_AT: _, ...env } = process.env;
    const child = spawn(process.execPath, ["infra/local/start.ts", "--data", data, "--port", "0", ...args], {
      cwd: ROOT,
      env: crashAt === undefined ? env : { ...env, MAINLINE_CRASH_AT: crashAt },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // A run that fails half-way leaves no server behind.
    const end = (): void => void child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    return follow(child);
  };

  const follow = (child: ChildProcess): Life => {
    const since = performance.now();
    let said = "";
    let over = false;
    let heard = false;
    const up = Promise.withResolvers<string>();
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      const url = READY.exec(said)?.[1];
      if (url === undefined || heard || over) return;
      heard = true;
      startsMs.push(performance.now() - since);
      isUp(url);
      up.resolve(url);
      current.resolve(url);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    const late = setTimeout(() => up.reject(new Error(`the server did not come up: ${said}`)), READY_MS_MAX);
    const gone = new Promise<void>((resolve) => {
      child.once("exit", () => {
        over = true;
        clearTimeout(late);
        // Whoever asks from now on waits for the next life.
        const waiting = current;
        current = Promise.withResolvers<string>();
        current.promise.then(waiting.resolve, waiting.reject);
        up.reject(new Error(`the server ended: ${said}`));
        resolve();
      });
    });
    up.promise.then(
      () => clearTimeout(late),
      () => {},
    );
    return { child, up: up.promise, gone, isGone: () => over, said: () => said };
  };

  return {
    data,
    startsMs,
    ready: () => current.promise,
    start: begin,
    killTable: () => kill(pidIn(join(data, "table.json"))),
  };
}
