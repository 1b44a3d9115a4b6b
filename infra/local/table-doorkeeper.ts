/**
 * `table-doorkeeper.ts <socket> <program> [argument ...]`, run inside the table's network namespace: runs the table
 * there, starts it again when it dies, and connects a Unix socket to it, which is its only door. Clients that come
 * while the table is away wait. Ends when its standard input closes: a server that is killed closes it without a word,
 * and no table stays behind.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { answers } from "./ports.ts";

/** Nothing else is in this namespace. */
const TABLE = { port: 8000, host: "127.0.0.1" };
const LOOK_AGAIN_MS = 10;
/** A table that dies so often before it answers anybody cannot run here. */
const STILLBORN_MAX = 3;

const [, , path = "", program = "", ...args] = process.argv;
let isStopping = false;
let table: ChildProcess | undefined;
let stillborn = 0;

function run(): void {
  const child = spawn(program, ["serve", "--host", TABLE.host, "--port", String(TABLE.port), ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {},
  });
  table = child;
  child.on("error", () => process.exit(1));
  child.on("exit", (code, signal) => {
    if (isStopping) process.exit(0);
    process.stderr.write(`the table ended (${signal ?? code})\n`);
    stillborn += 1;
    if (stillborn === STILLBORN_MAX) process.exit(1);
    run();
  });
}

function stop(): void {
  isStopping = true;
  table?.kill("SIGTERM");
}

/** One connection to the table, as soon as it takes one. */
async function reached(inside: Socket): Promise<Socket | undefined> {
  while (!inside.destroyed) {
    const outside = connect({ ...TABLE, allowHalfOpen: true });
    const isThere = await new Promise<boolean>((resolve) => {
      outside.once("connect", () => resolve(true));
      outside.once("error", () => resolve(false));
    });
    if (isThere) {
      stillborn = 0;
      return outside;
    }
    await sleep(LOOK_AGAIN_MS);
  }
  return undefined;
}

async function join(inside: Socket): Promise<void> {
  inside.on("error", () => inside.destroy());
  const outside = await reached(inside);
  if (outside === undefined) return;
  for (const [from, to] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    from.setNoDelay(true);
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to);
  }
  if (inside.destroyed) outside.destroy();
}

// The socket is its owner's alone.
process.umask(0o177);
process.on("SIGTERM", stop);
process.stdin.on("close", stop).on("error", stop).resume();
run();
while (!(await answers(TABLE))) await sleep(LOOK_AGAIN_MS);
// Moved into its place at once: until then clients are refused by the socket of an earlier table, and try again.
const beside = `${path}.new`;
rmSync(beside, { force: true });
createServer({ allowHalfOpen: true }, (inside) => void join(inside)).listen(beside, () => renameSync(beside, path));
