import type { EntryId, RunId } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { bookkeeping, leaving, shownOf } from "./bookkeeping.ts";
import { clearedBy, type Standing, standingOf, type Track, trackOf } from "./evidence.ts";
import { type Group, Line } from "./line.ts";
import { isAdmitted } from "./order.ts";
import { RunIndex } from "./run-index.ts";
import { snapshot, ThawedQueue } from "./snapshot.ts";
import type {
  Decision,
  Effect,
  EndedRun,
  Entry,
  EntryState,
  Hold,
  Move,
  Note,
  QueueState,
  Reason,
  Run,
  RunOutcome,
} from "./types.ts";

/**
 * Items that one step may put into the transaction that will carry it. The last action may run over by a dozen, other
 * events of the same commit bring theirs, and a transaction holds 100.
 */
export const STEP_ITEMS_MAX = 40;

/** What each thing costs there: an entry with its pointer, one that ends with its copies, a run that moves to history. */
const ITEMS = { entry: 2, run: 1, move: 1, effect: 1, endedEntry: 3, endedRun: 2 } as const;

/** Why something moved: the closed reason, the sentence for people, and who or what caused it. */
export type Why = {
  readonly reason: Reason;
  readonly message: string;
  readonly cause: string;
  readonly run?: RunId | null;
};

/** The fields of an entry that the order, and who depends on whom, follow from. */
const STANDING = ["priority", "place", "group", "targets", "lane"] as const;

/** A queue while a step is being decided. The one mutable thing in the engine; it never leaves `step()`. */
export class Draft extends ThawedQueue {
  readonly now: EpochMs;
  readonly effects: Effect[] = [];
  readonly moves: Move[] = [];
  readonly endedRuns: EndedRun[] = [];
  readonly endedEntries: Entry[] = [];
  readonly notes: Note[] = [];
  /** Set when a part of the step stopped at its bound with work left. */
  cut = false;
  private writes = 0;
  private readonly changedEntries = new Set<EntryId>();
  private readonly changedRuns = new Set<RunId>();
  /** The queue in order; undefined while it has to be found anew. */
  private lined: Line | undefined;
  private track: Track | undefined;
  private clearing: ReadonlyMap<EntryId, Run> | undefined;
  private readonly standings = new Map<RunId, Standing>();
  /** Who is likely to land: found by states.ts, forgotten when an entry or a run changes. */
  readonly likely = new Map<EntryId, boolean>();
  private index: RunIndex;

  constructor(state: QueueState, now: EpochMs) {
    super(state);
    this.now = now;
    this.index = new RunIndex(this.runs.values());
  }

  /** True while the step may do more; a part that stops for it says so with `cut`. */
  hasRoom(): boolean {
    if (this.items < STEP_ITEMS_MAX) return true;
    this.cut = true;
    return false;
  }

  private get items(): number {
    const { changedEntries, changedRuns, moves, effects, endedEntries, endedRuns } = this;
    const live = changedEntries.size * ITEMS.entry + changedRuns.size * ITEMS.run;
    const ended = endedEntries.length * ITEMS.endedEntry + endedRuns.length * ITEMS.endedRun;
    return live + ended + moves.length * ITEMS.move + effects.length * ITEMS.effect;
  }

  /** The queue in order, as it is now. */
  line(): Line {
    this.lined ??= new Line(this);
    return this.lined;
  }

  groupOf(id: EntryId): Group | undefined {
    return this.line().groupOf(id);
  }

  /** What the run says about the queue as it is now. Remembered until the order, or the target, changes. */
  standing(run: Run): Standing {
    const line = this.line();
    const known = this.standings.get(run.id);
    if (known !== undefined) return known;
    const standing = standingOf(this, run, line, this.trackNow());
    this.standings.set(run.id, standing);
    return standing;
  }

  /** What landed since it was started leaves its failure without meaning: see `doubtedBy`. */
  isDoubted(run: Run): boolean {
    return this.trackNow().doubted.has(run.id);
  }

  /** It clears nobody any more: see `staledBy`. */
  isStale(run: Run): boolean {
    return this.trackNow().stale.has(run.id);
  }

  private trackNow(): Track {
    if (this.track?.lineage !== this.lineage) this.track = trackOf(this.lineage);
    return this.track;
  }

  /** With optimistic merging: the run of a successor that passed and contains the entry with all it depends on. */
  clearingRun(id: EntryId): Run | undefined {
    this.clearing ??= clearedBy(this, this);
    return this.clearing.get(id);
  }

  /** To be said after every change of the landing, the target or a bisection: order and standings follow from them. */
  reorder(): void {
    this.lined = undefined;
    this.clearing = undefined;
    this.standings.clear();
    this.likely.clear();
  }

  runsOf(id: EntryId): readonly Run[] {
    return this.index.of(id);
  }

  /** Runs in progress, by whether their slot is one of the bisection lane. */
  inProgress(bisection: boolean): number {
    return this.index.inProgress(bisection);
  }

  setEntry(entry: Entry): void {
    const before = this.entries.get(entry.id);
    this.entries.set(entry.id, entry);
    this.likely.clear();
    this.writes += 1;
    this.changedEntries.add(entry.id);
    if (
      before === undefined ||
      isAdmitted(before) !== isAdmitted(entry) ||
      !STANDING.every((name) => before[name] === entry[name])
    )
      this.reorder();
  }

  /** Changes fields of a live entry; a no-op for one that has gone. */
  patch(id: EntryId, change: Partial<Entry>): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.setEntry({ ...entry, ...change });
  }

  setRun(run: Run): void {
    this.index.put(run, this.runs.get(run.id));
    this.runs.set(run.id, run);
    this.changedRuns.add(run.id);
    this.clearing = undefined;
    this.likely.clear();
    this.writes += 1;
  }

  /** Gives a run to other entries of its content: the last part of a batch that is taken apart. */
  regroup(run: Run): void {
    this.standings.delete(run.id);
    this.setRun(run);
    // Its place among the runs stays: what is decided must not depend on which of two equals was touched last.
    this.index = new RunIndex(this.runs.values());
  }

  private forget(run: Run): boolean {
    const known = this.runs.get(run.id);
    if (known !== undefined) this.index.drop(known);
    this.standings.delete(run.id);
    this.clearing = undefined;
    this.likely.clear();
    return this.runs.delete(run.id);
  }

  /**
   * Takes a run out of the queue: it ends, its checks are stopped and its branch is removed. What its entries are now
   * is told after that, one by one.
   */
  closeRun(run: Run, outcome: RunOutcome, why: Why): void {
    if (!this.forget(run)) return;
    this.changedRuns.delete(run.id);
    const { reason, message, cause } = why;
    if (run.group.length > 0)
      this.untold = [...this.untold, { entries: run.group, reason, message, cause, run: run.id }];
    this.endedRuns.push({
      run: { ...run, endedAt: run.endedAt ?? this.now, deadline: null },
      tested: run.group.flatMap((id) => shownOf(this.entries.get(id))),
      outcome,
      why: message,
      at: this.now,
    });
    this.add({ type: "close-run", key: `close-run:${run.id}`, run: run.id, branch: run.branch });
    this.count({
      runsPassed: Number(outcome === "SUCCEEDED"),
      runsFailed: Number(outcome === "FAILED"),
      runsCancelled: Number(outcome === "CANCELLED"),
    });
  }

  add(effect: Effect): void {
    this.effects.push(effect);
    this.writes += 1;
  }

  note(entry: EntryId | null, text: string): void {
    this.notes.push({ entry, text });
  }

  /** Puts a new entry into the queue, with the first line of its timeline. */
  announce(entry: Entry, why: Why): void {
    this.tell({ ...entry, moves: 0 }, entry.state, why, null);
    this.setEntry({ ...entry, moves: 1 });
  }

  /** Asks the host for a pull request's facts. */
  readPullRequest(prNumber: number): void {
    this.add({ type: "read-pull-request", key: `read-pr:${prNumber}:${this.nextRead}`, prNumber });
    this.nextRead += 1;
  }

  /** Puts the service's own brake on, once per kind. */
  hold(kind: Hold["kind"], detail: string): void {
    if (this.holds.some((hold) => hold.kind === kind)) return;
    this.holds = [...this.holds, { kind, since: this.now, detail }];
    this.note(null, `hold ${kind}: ${detail}`);
  }

  /** Grows whenever something is decided: a pass that leaves it as it was found nothing to do. */
  get decisions(): number {
    return this.writes;
  }

  /** Moves a live entry to another state of the queue, with the bookkeeping that the change of state implies. */
  move(entry: Entry, to: EntryState, why: Why): Entry {
    if (to === "NOT_READY") this.leaves(entry);
    const moved: Entry = {
      ...entry,
      ...bookkeeping(entry, to, this.now, this.closedMs(), why.run ?? null),
      state: to,
      stateChangedAt: this.now,
    };
    if (entry.state === "TESTING" && to === "PENDING") this.count({ restarts: 1 });
    this.tell(entry, to, why);
    const counted = { ...moved, moves: entry.moves + 1 };
    this.setEntry(counted);
    return counted;
  }

  /** Ends a submission. Its runs are closed; it leaves the queue. */
  end(entry: Entry, to: "MERGED" | "FAILED" | "CANCELLED", why: Why): void {
    for (const run of this.runsOf(entry.id)) {
      const outcome = run.phase === "PASSED" ? "SUCCEEDED" : run.phase === "FAILED" ? "FAILED" : "CANCELLED";
      this.closeRun(run, to === "MERGED" || run.phase === "FAILED" ? outcome : "CANCELLED", leaving(entry, to, why));
    }
    if (to === "CANCELLED") this.leaves(entry);
    this.tell(entry, to, why);
    this.entries.delete(entry.id);
    this.changedEntries.delete(entry.id);
    this.reorder();
    this.endedEntries.push({
      ...entry,
      ...bookkeeping(entry, to, this.now, this.closedMs(), why.run ?? null),
      state: to,
      stateChangedAt: this.now,
      endedAt: this.now,
      lane: null,
      comparing: null,
      moves: entry.moves + 1,
      conclusion: { reason: why.reason, message: why.message },
      verifiedBy: to === "CANCELLED" ? null : (why.run ?? entry.verifiedBy),
      asked: {},
    });
    this.count({
      merged: Number(to === "MERGED"),
      failed: Number(to === "FAILED"),
      cancelled: Number(to === "CANCELLED"),
    });
  }

  /** A batch that is being taken apart and loses a member, not to its own verdict, is one batch again. */
  leaves({ group }: Entry): void {
    if (group === null || !this.bisections.some((one) => one.group === group)) return;
    this.bisections = this.bisections.filter((one) => one.group !== group);
    this.reorder();
  }

  decision(wakeAt: EpochMs | undefined): Decision {
    const { effects, moves, endedRuns, endedEntries, notes } = this;
    return { state: snapshot(this), effects, moves, endedRuns, endedEntries, notes, wakeAt, more: this.cut };
  }

  private tell(entry: Entry, to: EntryState, why: Why, from: EntryState | null = entry.state): void {
    this.moves.push({
      entry: entry.id,
      prNumber: entry.prNumber,
      number: entry.moves,
      from,
      to,
      reason: why.reason,
      message: why.message,
      cause: why.cause,
      run: why.run ?? null,
      at: this.now,
    });
    this.writes += 1;
  }

  /** Milliseconds for which the queue has admitted nobody, up to now. */
  closedMs(): number {
    return this.closed.totalMs + (this.closed.since === null ? 0 : this.now - this.closed.since);
  }
}
