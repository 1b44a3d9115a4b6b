import type { CommitSha, EntryId, RunId } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { bookkeeping } from "./bookkeeping.ts";
import { type Standing, standingOf } from "./evidence.ts";
import { admittedInOrder, isAdmitted } from "./order.ts";
import { snapshot } from "./snapshot.ts";
import type {
  Broken,
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
  Totals,
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

const shownOf = (entry: Entry | undefined): EndedRun["tested"] =>
  entry === undefined ? [] : [{ prNumber: entry.prNumber, title: entry.pr?.title ?? null, url: entry.pr?.url ?? null }];

/** A queue while a step is being decided. The one mutable thing in the engine; it never leaves `step()`. */
export class Draft implements QueueState {
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
  /** The admitted entries in queue order, with where each stands; undefined while the order has to be found anew. */
  private order: { readonly entries: Entry[]; readonly at: ReadonlyMap<EntryId, number> } | undefined;
  private readonly standings = new Map<RunId, Standing>();
  private readonly runsByEntry = new Map<EntryId, Set<RunId>>();

  constructor(state: QueueState, now: EpochMs) {
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
    this.now = now;
    for (const run of this.runs.values()) this.index(run);
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

  /** The admitted entries as they are now, in queue order. */
  admitted(): readonly Entry[] {
    return this.ordered().entries;
  }

  private ordered() {
    if (this.order !== undefined) return this.order;
    this.standings.clear();
    const entries = admittedInOrder(this);
    this.order = { entries, at: new Map(entries.map((entry, at) => [entry.id, at])) };
    return this.order;
  }

  /** What the run says about the queue as it is now. Remembered until the order, or the target, changes. */
  standing(run: Run): Standing {
    const { entries } = this.ordered();
    const known = this.standings.get(run.id);
    if (known !== undefined) return known;
    const standing = standingOf(this, run, entries);
    this.standings.set(run.id, standing);
    return standing;
  }

  /** To be said after every change of the landing or the target: order and standings follow from them. */
  reorder(): void {
    this.order = undefined;
  }

  isLanding(id: EntryId): boolean {
    return this.landing?.group.includes(id) ?? false;
  }

  runsOf(id: EntryId): readonly Run[] {
    return [...(this.runsByEntry.get(id) ?? [])].flatMap((run) => this.runs.get(run) ?? []);
  }

  private index(run: Run): void {
    for (const id of run.group) {
      const runs = this.runsByEntry.get(id);
      if (runs === undefined) this.runsByEntry.set(id, new Set([run.id]));
      else runs.add(run.id);
    }
  }

  setEntry(entry: Entry): void {
    const before = this.entries.get(entry.id);
    this.entries.set(entry.id, entry);
    this.writes += 1;
    this.changedEntries.add(entry.id);
    const reordered =
      before === undefined ||
      isAdmitted(before) !== isAdmitted(entry) ||
      before.priority.value !== entry.priority.value ||
      before.place !== entry.place;
    const at = this.order?.at.get(entry.id);
    if (reordered) this.reorder();
    else if (this.order !== undefined && at !== undefined) this.order.entries[at] = entry;
  }

  /** Changes fields of a live entry; a no-op for one that has gone. */
  patch(id: EntryId, change: Partial<Entry>): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.setEntry({ ...entry, ...change });
  }

  setRun(run: Run): void {
    if (!this.runs.has(run.id)) this.index(run);
    this.runs.set(run.id, run);
    this.changedRuns.add(run.id);
    this.writes += 1;
  }

  /** Takes a run out of the queue: it ends, its checks are stopped and its branch is removed. */
  closeRun(run: Run, outcome: RunOutcome, why: string): void {
    if (!this.runs.delete(run.id)) return;
    for (const id of run.group) this.runsByEntry.get(id)?.delete(run.id);
    this.changedRuns.delete(run.id);
    this.endedRuns.push({
      run: { ...run, endedAt: run.endedAt ?? this.now, deadline: null },
      tested: run.group.flatMap((id) => shownOf(this.entries.get(id))),
      outcome,
      why,
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

  count(more: Partial<Totals>): void {
    const sum: Record<string, number> = { ...this.totals };
    for (const [name, by] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + by;
    this.totals = { ...this.totals, ...sum };
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

  lift(kind: Hold["kind"]): void {
    this.holds = this.holds.filter((hold) => hold.kind !== kind);
  }

  /** Grows whenever something is decided: a pass that leaves it as it was found nothing to do. */
  get decisions(): number {
    return this.writes;
  }

  /** Moves a live entry to another state of the queue, with the bookkeeping that the change of state implies. */
  move(entry: Entry, to: EntryState, why: Why): Entry {
    const moved: Entry = {
      ...entry,
      ...bookkeeping(entry, to, this.now, this.closedMs()),
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
      this.closeRun(run, to === "MERGED" || run.phase === "FAILED" ? outcome : "CANCELLED", why.message);
    }
    this.tell(entry, to, why);
    this.entries.delete(entry.id);
    this.changedEntries.delete(entry.id);
    this.reorder();
    this.endedEntries.push({
      ...entry,
      ...bookkeeping(entry, to, this.now, this.closedMs()),
      state: to,
      stateChangedAt: this.now,
      endedAt: this.now,
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
