/**
 * The machines that run the tests. The queue starts runs by its own slots; where its lanes together have more slots
 * than there are workers, a run waits here: repeats first, then parts of batches, then the others as they were started.
 */
import type { RunId } from "../../../../shared/kernel/ids.ts";
import { first, newHeap, pop, push } from "../heap.ts";
import { type Ledger, noteEnded, noteStarted } from "../ledger.ts";

export type Job = {
  readonly run: RunId;
  readonly repeat: number;
  readonly rank: "REPEAT" | "BISECTION" | "MAIN";
  /** Whose cost it is. */
  readonly tested: readonly number[];
  readonly takesMs: number;
  /** Asked when a worker takes it: what flakes is drawn then. */
  readonly passes: () => boolean;
};

const RANKS = ["REPEAT", "BISECTION", "MAIN"] as const;

type Held = {
  readonly job: Job;
  readonly number: number;
  startedAt: number;
  endsAt: number;
  passed: boolean;
  phase: "WAITING" | "RUNNING" | "GONE";
};

export type Runners = {
  readonly begin: (job: Job, now: number) => void;
  /** Stops whatever runs or waits for this run. */
  readonly stop: (run: RunId, now: number) => void;
  /** When the next job ends; undefined when none is running. */
  readonly nextEnd: () => number | undefined;
  /** Ends the next job. */
  readonly end: (now: number) => { readonly job: Job; readonly passed: boolean } | undefined;
  readonly busy: () => number;
};

export function runnersOf(workers: number, ledger: Ledger): Runners {
  const waiting = newHeap<Held>((a, b) => rankOf(a) < rankOf(b) || (rankOf(a) === rankOf(b) && a.number < b.number));
  const running = newHeap<Held>((a, b) => a.endsAt < b.endsAt || (a.endsAt === b.endsAt && a.number < b.number));
  const current = new Map<RunId, Held>();
  let busy = 0;
  let number = 0;

  const fill = (now: number): void => {
    while (busy < workers) {
      const held = pop(waiting);
      if (held === undefined) return;
      if (held.phase !== "WAITING") continue;
      busy += 1;
      held.phase = "RUNNING";
      held.startedAt = now;
      held.endsAt = now + held.job.takesMs;
      held.passed = held.job.passes();
      noteStarted(ledger, held.job.tested);
      push(running, held);
    }
  };
  const release = (held: Held, now: number, isAborted: boolean): void => {
    if (held.phase === "RUNNING") {
      busy -= 1;
      noteEnded(ledger, held.job.tested, now - held.startedAt, isAborted);
    }
    held.phase = "GONE";
    current.delete(held.job.run);
  };
  const dropGone = (): void => {
    while (first(running)?.phase === "GONE") pop(running);
  };
  return {
    begin: (job, now) => {
      const known = current.get(job.run);
      if (known !== undefined) release(known, now, true);
      number += 1;
      const held: Held = { job, number, startedAt: 0, endsAt: 0, passed: false, phase: "WAITING" };
      current.set(job.run, held);
      push(waiting, held);
      fill(now);
    },
    stop: (run, now) => {
      const held = current.get(run);
      if (held !== undefined) release(held, now, true);
      fill(now);
    },
    nextEnd: () => {
      dropGone();
      return first(running)?.endsAt;
    },
    end: (now) => {
      dropGone();
      const held = pop(running);
      if (held === undefined) return undefined;
      release(held, now, false);
      fill(now);
      return { job: held.job, passed: held.passed };
    },
    busy: () => busy,
  };
}

const rankOf = ({ job }: Held): number => RANKS.indexOf(job.rank);
