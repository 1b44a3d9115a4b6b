import type { EpochMs } from "../kernel/time.ts";
import { type CronText, nextWall } from "./cron.ts";
import { momentOf, wallAt } from "./time-zone.ts";

/** A cron expression by the clocks of a time zone. */
export type Schedule = { readonly cron: CronText; readonly timeZone: string };

/**
 * The moments after `after` at which the schedule holds, one by one. A local time that does not exist is skipped, and
 * one that comes twice counts once, the first time, as EventBridge Scheduler has it:
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time
 */
export function* occurrences({ cron, timeZone }: Schedule, after: EpochMs): Generator<EpochMs, void> {
  // What a clock showed before now for the first time is over: the walls to look at are later than the present one.
  let wall: EpochMs | undefined = wallAt(timeZone, after);
  for (;;) {
    wall = nextWall(cron, wall);
    if (wall === undefined) return;
    const at = momentOf(timeZone, wall);
    if (at !== undefined && at > after) yield at;
  }
}
