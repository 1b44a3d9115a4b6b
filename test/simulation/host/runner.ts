/** Runs the checks: how long they take and how they end. */
import { MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";
import type { CheckState } from "../../../shared/queue/engine/types.ts";
import type { Random } from "../../crash/random.ts";
import type { Faults } from "../machine/faults.ts";
import { lognormal } from "../machine/random.ts";
import type { Scheduler } from "../machine/scheduler.ts";
import { CONTEXTS, type HostRun } from "./checks.ts";
import type { Truth } from "./truth.ts";

/** How checks behave on this host. */
export type Habits = {
  /** Probability that a check that should pass fails. */
  readonly flaky: number;
  readonly medianMs: number;
  /** Probability that a check takes hours. */
  readonly stuck: number;
};

export const HABITS: Habits = { flaky: 0, medianMs: 3 * MINUTE_MS, stuck: 0 };

export type RunnerParts = {
  readonly habits: Habits;
  readonly truth: () => Truth;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly random: Random;
};

const HOURS_MS = 4 * 60 * MINUTE_MS;

export type Runner = {
  /** The first time all of them, then those named. */
  readonly start: (run: HostRun, contexts: readonly string[]) => void;
  /** What would go on for hours ends within a minute, and nothing is late any more. */
  readonly hurry: () => void;
};

export function aRunner(parts: RunnerParts): Runner {
  const { habits, scheduler, faults, random } = parts;
  const all: HostRun[] = [];

  const outcomeOf = (run: HostRun, context: string): CheckState => {
    if (context === "lint") return random.chance(habits.flaky / 4) ? "ERROR" : "SUCCESS";
    if (run.required.length > 0 && parts.truth().flakesNow(run.content)) return "FAILURE";
    return parts.truth().isGood(run.content) && !random.chance(habits.flaky) ? "SUCCESS" : "FAILURE";
  };

  const durationOf = (context: string): number => {
    if (!isHurried && random.chance(habits.stuck)) return HOURS_MS;
    return context === "lint" ? random.int(20, 60) * SECOND_MS : lognormal(random, habits.medianMs, 0.6);
  };

  const breakLater = (run: HostRun): void => {
    scheduler.after(random.next() * habits.medianMs, () => {
      run.broken = "the machine that ran it is gone";
      run.ended();
    });
  };

  const start = (run: HostRun, contexts: readonly string[]): void => {
    if (contexts.length === 0) all.push(run);
    run.lagMs = faults.happens("host: late statuses") ? random.int(1, 10) * MINUTE_MS : 0;
    const now = scheduler.now();
    for (const context of contexts.length === 0 ? CONTEXTS : contexts)
      begin(run, context, now + Math.round(durationOf(context)), outcomeOf(run, context));
    if (faults.happens("host: run broken")) breakLater(run);
  };

  const begin = (run: HostRun, context: string, endsAt: number, outcome: CheckState): void => {
    run.checks.set(context, { endsAt, outcome });
    scheduler.after(endsAt - scheduler.now() + run.lagMs, () => {
      if (!run.isClosed) run.ended();
    });
  };

  let isHurried = false;
  const hurry = (): void => {
    isHurried = true;
    const soon = scheduler.now() + MINUTE_MS;
    for (const run of all) {
      if (run.isClosed) continue;
      run.lagMs = 0;
      for (const [context, { endsAt, outcome }] of run.checks) begin(run, context, Math.min(endsAt, soon), outcome);
    }
  };
  return { start, hurry };
}
