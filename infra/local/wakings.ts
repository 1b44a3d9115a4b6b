/** The schedules of maintenance windows, on this machine: timers. Made anew at each start from the windows themselves. */
import { Cron } from "croner";
import type { Log } from "../../shared/kernel/log.ts";
import type { Clock, EpochMs } from "../../shared/kernel/time.ts";
import { occurrences } from "../../shared/maintenance/occurrences.ts";
import { callOf, type Scheduler, type Waking } from "../../shared/scheduler/port.ts";
import { oneLine } from "./cannot-start.ts";

export type LocalScheduler = Scheduler & {
  /** Makes every call that is due by the clock, and returns when all that were made have ended. */
  readonly due: () => Promise<void>;
  /** No call begins any more; those that have begun are waited for. */
  readonly stop: () => Promise<void>;
};

type Ports = {
  /** Calls the function for maintenance windows. */
  readonly call: (event: unknown) => Promise<unknown>;
  readonly log: Log;
  readonly clock: Clock;
};

type Timer = { readonly at: EpochMs; readonly fire: () => void; readonly job: Cron };

export function localScheduler({ call, log, clock }: Ports): LocalScheduler {
  const timers = new Map<string, Timer>();
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
    timers.get(name)?.job.stop();
    timers.delete(name);
  };
  const arm = (waking: Waking): void => {
    remove(waking.name);
    const at = nextOf(waking, clock());
    if (at === undefined) return;
    const fire = (): void => {
      begin(waking);
      arm(waking);
    };
    timers.set(waking.name, { at, fire, job: new Cron(new Date(at), { unref: true }, fire) });
  };
  return {
    put: async (waking) => arm(waking),
    remove: async (name) => remove(name),
    due: async () => {
      for (const { at, fire } of timers.values()) if (at <= clock()) fire();
      await Promise.all(running);
    },
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
