/** `npm start`, for real, on a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type ServerOptions = {
  /** A folder that is there already, as after a crash; a new one otherwise, which `stop()` removes. */
  readonly data?: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
};

export type TestServer = {
  /** With `/v1`. */
  readonly url: string;
  readonly data: string;
  readonly adminToken: string;
  /** Of the server itself, not of npm. */
  readonly pid: number;
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** POSTs JSON with the admin token, unless `init` says otherwise. */
  readonly call: (path: string, body?: unknown, init?: RequestInit) => Promise<Called>;
  /** The signal the server gets, and what npm exits with. */
  readonly signal: (signal: NodeJS.Signals) => Promise<number | null>;
  /** `kill -9` of the server alone. */
  readonly crash: () => Promise<void>;
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>;
};

export type Called = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** Where nothing confines a check, tests trust their own; a nearly full disk is none of their business. */
const TRUSTING = ["--trust-this-machine", "--min-free-mib", "0"];

const READY = /^Mainline is ready: (\S+)$/mu;
/** Only what hangs takes so long. */
const READY_MS_MAX = 300_000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export async function callApi(url: string, token: string, path: string, body: unknown = {}, init: RequestInit = {}) {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-token": token },
    body: JSON.stringify(body),
    ...init,
  });
  return { status: answer.status, headers: answer.headers, body: parsed(await answer.text()) };
}

const whenGone = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => {
        child.once("close", resolve);
      });

/** Runs `npm start` and collects what it says; nothing is waited for. */
export function spawnStart(data: string, { args = [], env = process.env }: ServerOptions = {}) {
  const said = { stdout: "", stderr: "" };
  const child = spawn("npm", ["start", "--silent", "--", "--data", data, "--port", "0", ...TRUSTING, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that a test that fails half-way leaves nothing behind.
    detached: true,
  });
  child.stdout.on("data", (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said.stderr += chunk.toString();
  });
  return { child, said, gone: () => whenGone(child) };
}

async function whenReady({ child, said }: ReturnType<typeof spawnStart>): Promise<string> {
  for (const until = performance.now() + READY_MS_MAX; performance.now() < until; await sleep(20)) {
    const url = READY.exec(said.stdout)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) break;
  }
  throw new Error(`npm start did not become ready: ${said.stdout}${said.stderr}`);
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

const serverPid = (data: string): number => {
  const found: { server: { pid: number } } = JSON.parse(readFileSync(join(data, "endpoint"), "utf8"));
  return found.server.pid;
};

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), "mainline-server-"));
  const started = spawnStart(data, options);
  const { child, said, gone } = started;
  try {
    const url = await whenReady(started);
    const pid = serverPid(data);
    const adminToken = readFileSync(join(data, "admin-token"), "utf8").trim();
    const signal = async (name: NodeJS.Signals): Promise<number | null> => {
      // To the server itself: npm passes a signal on to its shell, and the shell to nobody.
      if (child.exitCode === null) process.kill(pid, name);
      return gone();
    };
    return {
      url,
      data,
      adminToken,
      pid,
      output: () => ({ ...said }),
      call: (path, body, init) => callApi(url, adminToken, path, body, init),
      signal,
      crash: async () => {
        await signal("SIGKILL");
      },
      stop: async () => {
        await signal("SIGTERM");
        endGroup(child);
        if (options.data === undefined) rmSync(data, { recursive: true, force: true });
      },
    };
  } catch (error) {
    endGroup(child);
    throw error;
  }
}
