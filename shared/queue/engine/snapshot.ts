import type { QueueState } from "./types.ts";

/** The queue's fields and nothing else of whatever carries them; what is empty and optional is left out. */
export function snapshot(from: QueueState): QueueState {
  const { id, branch, config, mode, tip, tipDoubted, tipRead, closed, holds, landing, lineage, tipTestDue } = from;
  const { nextPlace, nextRun, nextRead, totals, entries, runs } = from;
  const { tipTestBroken = null, readsDue = [], reached = [] } = from;
  return {
    ...{ id, branch, config, mode, tip, tipDoubted, tipRead, closed, holds, landing, lineage, tipTestDue },
    ...{ nextPlace, nextRun, nextRead, totals, entries, runs },
    ...(tipTestBroken === null ? {} : { tipTestBroken }),
    ...(readsDue.length === 0 ? {} : { readsDue }),
    ...(reached.length === 0 ? {} : { reached }),
  };
}
