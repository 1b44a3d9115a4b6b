/** Shares simulations out among processes. */
import { type ChildProcess, fork } from "node:child_process";
import type { Outcome, Task } from "./tasks.ts";

export type Pool = {
  readonly processes: number;
  /** A simulation that takes longer is given up: its process is ended, and another takes its place. */
  readonly secondsMax: number;
  readonly done: (task: Task, outcome: Outcome) => void;
};

export async function performAll(tasks: readonly Task[], { processes, secondsMax, done }: Pool): Promise<void> {
  const waiting = tasks.values();
  const serve = async (): Promise<void> => {
    let worker = newWorker();
    for (const task of waiting) {
      const { outcome, isAlive } = await ask(worker, task, secondsMax);
      if (!isAlive) {
        worker.kill("SIGKILL");
        worker = newWorker();
      }
      done(task, outcome);
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: Math.min(processes, tasks.length) }, serve));
}

const newWorker = (): ChildProcess => fork(new URL("./worker.ts", import.meta.url), { serialization: "advanced" });

type Answer = { readonly outcome: Outcome; readonly isAlive: boolean };

function ask(worker: ChildProcess, task: Task, secondsMax: number): Promise<Answer> {
  return new Promise((resolve) => {
    const end = (outcome: Outcome, isAlive: boolean): void => {
      clearTimeout(timer);
      worker.removeAllListeners();
      resolve({ outcome, isAlive });
    };
    const fail = (problem: string): void => end({ figures: null, problem, seconds: secondsMax }, false);
    const timer = setTimeout(() => fail(`not done after ${secondsMax} s`), secondsMax * 1000);
    worker.once("message", (outcome) => end(outcome as Outcome, true));
    worker.once("error", (error) => fail(error.message));
    worker.once("exit", () => fail("its process ended"));
    worker.send(task);
  });
}
