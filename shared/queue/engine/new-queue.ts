import type { QueueId } from "../../kernel/ids.ts";
import type { QueueConfig, QueueState } from "./types.ts";

/** A queue before anything happened to it. */
export const newQueue = (id: QueueId, branch: string, config: QueueConfig): QueueState => ({
  id,
  branch,
  config,
  mode: config.settings.mode,
  tip: null,
  tipDoubted: false,
  tipRead: null,
  closed: { totalMs: 0, since: null },
  holds: [],
  landing: null,
  lineage: [],
  tipTestDue: null,
  nextPlace: 0,
  nextRun: 1,
  nextRead: 1,
  totals: {
    merged: 0,
    failed: 0,
    cancelled: 0,
    restarts: 0,
    runsStarted: 0,
    bisectionRunsStarted: 0,
    runsPassed: 0,
    runsFailed: 0,
    runsCancelled: 0,
    repeats: 0,
    landings: 0,
  },
  entries: new Map(),
  runs: new Map(),
});
