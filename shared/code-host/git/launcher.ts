/**
 * A small process that starts programs for a large one. Starting a program copies the page tables of the process that
 * starts it, and blocks it meanwhile: some 50 ms for a server of 300 MB on a virtual machine, 5 ms for this one.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Ending, Launch, Order } from "./launch.ts";

export type Launcher = { readonly launch: Launch; readonly stop: () => Promise<void> };

export type Request = { readonly id: number; readonly order: Order };
export type Reply = { readonly id: number; readonly ending: Ending };

const PROCESS = fileURLToPath(new URL("launcher-process.ts", import.meta.url));
const GONE: Ending = { kind: "NOT_STARTED", why: "the process that starts programs has ended" };

type Running = { readonly child: ChildProcess; readonly waiting: Map<number, (ending: Ending) => void> };

/** Starts the process with the first order, and again after it has ended: only the orders under way are lost. */
export function createLauncher(): Launcher {
  let running: Running | undefined;
  let requests = 0;

  const start = (): Running => {
    // A group of its own: Ctrl-C at the terminal is for the server, which still needs git to stop.
    const child = fork(PROCESS, { serialization: "advanced", execArgv: [], detached: true });
    const started: Running = { child, waiting: new Map() };
    const end = (): void => {
      if (running === started) running = undefined;
      for (const settle of started.waiting.values()) settle(GONE);
      started.waiting.clear();
    };
    child.on("message", (reply: Reply) => {
      started.waiting.get(reply.id)?.(reply.ending);
      started.waiting.delete(reply.id);
      keepAlive(started);
    });
    child.on("error", end);
    child.on("exit", end);
    return started;
  };

  const launch: Launch = (order) =>
    new Promise((resolve) => {
      running ??= start();
      const { child, waiting } = running;
      const request: Request = { id: (requests += 1), order };
      waiting.set(request.id, resolve);
      keepAlive(running);
      child.send(request, (error) => {
        if (error !== null && waiting.delete(request.id)) resolve(GONE);
      });
    });

  const stop = async (): Promise<void> => {
    const { child } = running ?? {};
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
    });
    child.disconnect();
    await gone;
  };
  return { launch, stop };
}

/** It keeps a process alive only while it works for it. */
function keepAlive({ child, waiting }: Running): void {
  const isNeeded = waiting.size > 0;
  if (isNeeded) child.ref();
  else child.unref();
  if (isNeeded) child.channel?.ref();
  else child.channel?.unref();
}
