/** The schedules of maintenance windows, on this machine: timers. Made anew at each start from the windows themselves. */
import { Cron } from "croner";
import type { Log } from "../../shared/kernel/log.ts";
import { type EpochMs, systemClock } from "../../shared/kernel/time.ts";
import { occurrences } from "../../shared/maintenance/occurrences.ts";
import { callOf, type Scheduler, type Waking } from "../../shared/scheduler/port.ts";
import { oneLine } from "./cannot-start.ts";

export type LocalScheduler = Scheduler & {
  /** No call begins any more; those that have begun are waited for. */
  readonly stop: () => Promise<void>;
};

type Ports = {
  /** Calls the function for maintenance windows. */
  readonly call: (event: unknown) => Promise<unknown>;
  readonly log: Log;
};

export function localScheduler({ call, log }: Ports): LocalScheduler {
  const timers = new Map<string, Cron>();
  const running = new Set<Promise<void>>();

  const work = async (waking: Waking): Promise<void> => {
    try {
      await call(callOf(waking));
    } catch (error) {
      log.error("the call of a schedule failed", { schedule: waking.name, error: oneLine(error) });
    }
  };
  const begin = (waking: Waking): void => {
    const one = work(waking).finally(() => running.delete(one));
    running.add(one);
  };
  const remove = (name: string): void => {
    timers.get(name)?.stop();
    timers.delete(name);
  };
  const arm = (waking: Waking): void => {
    remove(waking.name);
    const at = nextOf(waking, systemClock());
    if (at === undefined) return;
    const fire = (): void => {
      begin(waking);
      arm(waking);
    };
    timers.set(waking.name, new Cron(new Date(at), { unref: true }, fire));
  };
  return {
    put: async (waking) => arm(waking),
    remove: async (name) => remove(name),
    stop: async () => {
      for (const name of timers.keys()) remove(name);
      await Promise.all(running);
    },
  };
}

function nextOf({ when }: Waking, now: EpochMs): EpochMs | undefined {
  if (when.kind === "AT") return when.at > now ? when.at : undefined;
  for (const at of occurrences(when, now)) return at;
  return undefined;
}
