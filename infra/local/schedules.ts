import { Cron } from "croner";
import type { Log } from "../../shared/kernel/log.ts";
import { oneLine } from "./cannot-start.ts";

export type Schedule = {
  readonly name: string;
  /** Five fields, or six with seconds first. */
  readonly cron: string;
  readonly run: () => Promise<unknown>;
  /** Once at the start as well: what fell due while nothing ran. */
  readonly atStart?: boolean;
};

export type Schedules = { readonly stop: () => Promise<void> };

/** A run that takes longer than its interval is not joined by another. */
export function startSchedules(schedules: readonly Schedule[], log: Log): Schedules {
  const running = new Map<string, Promise<void>>();

  const run = async ({ name, run: work }: Schedule): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error("a scheduled run failed", { schedule: name, error: oneLine(error) });
    }
    running.delete(name);
  };
  const start = (schedule: Schedule): void => {
    if (!running.has(schedule.name)) running.set(schedule.name, run(schedule));
  };

  const jobs = schedules.map((schedule) => {
    if (schedule.atStart === true) start(schedule);
    return new Cron(schedule.cron, { unref: true }, () => start(schedule));
  });
  const stop = async (): Promise<void> => {
    for (const job of jobs) job.stop();
    await Promise.all(running.values());
  };
  return { stop };
}
