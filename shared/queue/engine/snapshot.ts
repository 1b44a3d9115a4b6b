import type { CommitSha, EntryId, RunId } from "../../kernel/ids.ts";
import type { Broken, Entry, Hold, QueueState, Run, Totals } from "./types.ts";

/** A queue's fields, open to change: what is optional has a value, and entries and runs are copies. */
export class ThawedQueue implements QueueState {
  readonly id;
  readonly branch;
  config;
  mode;
  tip;
  tipDoubted;
  tipRead;
  closed;
  holds;
  landing;
  lineage;
  tipTestDue;
  tipTestBroken: Broken | null;
  readsDue: readonly number[];
  reached: readonly CommitSha[];
  nextPlace;
  nextRun;
  nextRead;
  nextTargets;
  bisections;
  untold;
  totals;
  readonly entries: Map<EntryId, Entry>;
  readonly runs: Map<RunId, Run>;

  constructor(state: QueueState) {
    this.id = state.id;
    this.branch = state.branch;
    this.config = state.config;
    this.mode = state.mode;
    this.tip = state.tip;
    this.tipDoubted = state.tipDoubted;
    this.tipRead = state.tipRead;
    this.closed = state.closed;
    this.holds = state.holds;
    this.landing = state.landing;
    this.lineage = state.lineage;
    this.tipTestDue = state.tipTestDue;
    this.tipTestBroken = state.tipTestBroken ?? null;
    this.readsDue = state.readsDue ?? [];
    this.reached = state.reached ?? [];
    this.nextPlace = state.nextPlace;
    this.nextRun = state.nextRun;
    this.nextRead = state.nextRead;
    this.nextTargets = state.nextTargets;
    this.bisections = state.bisections;
    this.untold = state.untold;
    this.totals = state.totals;
    this.entries = new Map(state.entries);
    this.runs = new Map(state.runs);
  }

  isLanding(id: EntryId): boolean {
    return this.landing?.group.includes(id) ?? false;
  }

  count(more: Partial<Totals>): void {
    const sum: Record<string, number> = { ...this.totals };
    for (const [name, by] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + by;
    this.totals = { ...this.totals, ...sum };
  }

  lift(kind: Hold["kind"]): void {
    this.holds = this.holds.filter((hold) => hold.kind !== kind);
  }
}

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
