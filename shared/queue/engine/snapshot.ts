import type { QueueState } from "./types.ts";

/** The queue's fields and nothing else of whatever carries them; what is empty and optional is left out. */
export function snapshot(from: QueueState): QueueState {
  const { tipTestBroken = null, readsDue = [], reached = [] } = from;
  return {
    id: from.id,
    branch: from.branch,
    config: from.config,
    mode: from.mode,
    tip: from.tip,
    tipDoubted: from.tipDoubted,
    tipRead: from.tipRead,
    closed: from.closed,
    holds: from.holds,
    landing: from.landing,
    lineage: from.lineage,
    tipTestDue: from.tipTestDue,
    nextPlace: from.nextPlace,
    nextRun: from.nextRun,
    nextRead: from.nextRead,
    nextTargets: from.nextTargets,
    bisections: from.bisections,
    untold: from.untold,
    totals: from.totals,
    entries: from.entries,
    runs: from.runs,
    ...(tipTestBroken === null ? {} : { tipTestBroken }),
    ...(readsDue.length === 0 ? {} : { readsDue }),
    ...(reached.length === 0 ? {} : { reached }),
  };
}
