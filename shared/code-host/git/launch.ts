/** Runs a program to its end and collects what it prints. */
import { spawn } from "node:child_process";

export type Order = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array;
  /** Of its standard output; a program that prints more is killed. */
  readonly capBytes: number;
  readonly timeoutMs: number;
};

export type Ending =
  | {
      readonly kind: "ENDED";
      /** Null when a signal ended it. */
      readonly code: number | null;
      readonly signal: string | null;
      readonly out: Uint8Array;
      /** The beginning of its standard error. */
      readonly err: string;
      /** It printed more than the cap. */
      readonly truncated: boolean;
    }
  | { readonly kind: "NOT_STARTED"; readonly why: string };

export type Launch = (order: Order) => Promise<Ending>;

const ERR_BYTES_MAX = 16 * 1024;

/** As a child of this process. */
export const launchHere: Launch = ({ file, args, cwd, env, input, capBytes, timeoutMs }) =>
  new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const out: Buffer[] = [];
    let size = 0;
    let err = "";
    let truncated = false;
    child.stdout.on("data", (chunk: Buffer) => {
      const room = capBytes - size;
      if (chunk.length > room) {
        truncated = true;
        child.kill("SIGKILL");
      }
      if (room > 0) out.push(chunk.subarray(0, room));
      size += Math.min(chunk.length, room);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (err.length < ERR_BYTES_MAX) err += chunk.toString("utf8");
    });
    // A program may stop reading early (a cap, a crash); its exit tells more than the broken pipe.
    child.stdin.on("error", () => {});
    child.on("error", (error) => resolve({ kind: "NOT_STARTED", why: error.message }));
    child.on("close", (code, signal) =>
      resolve({ kind: "ENDED", code, signal, out: Buffer.concat(out), err, truncated }),
    );
    child.stdin.end(input);
  });
