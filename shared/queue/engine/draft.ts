import type { EntryId, RunId } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { admittedInOrder, isAdmitted } from "./order.ts";
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
  Totals,
} from "./types.ts";

/**
 * Writes one step may make at most, counted as the items of the transaction that will carry it: an item per changed
 * entry, run, move and effect, four for an entry that ends. One action may run over by a dozen; a transaction holds 100.
 */
export const STEP_WRITES_MAX = 40;

const RESTARTS_KEPT = 20;

/** Why something moved: the closed reason, the sentence for people, and who or what caused it. */
export type Why = {
  readonly reason: Reason;
  readonly message: string;
  readonly cause: string;
  readonly run?: RunId | null;
};

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
  nextPlace;
  nextRun;
  nextRead;
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
  private order: readonly EntryId[] | undefined;

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
    this.nextPlace = state.nextPlace;
    this.nextRun = state.nextRun;
    this.nextRead = state.nextRead;
    this.totals = state.totals;
    this.entries = new Map(state.entries);
    this.runs = new Map(state.runs);
    this.now = now;
  }

  /** True while the step may do more; a part that stops for it says so with `cut`. */
  hasRoom(): boolean {
    if (this.writes < STEP_WRITES_MAX) return true;
    this.cut = true;
    return false;
  }

  /** The admitted entries as they are now, in queue order. */
  admitted(): readonly Entry[] {
    this.order ??= admittedInOrder(this).map((entry) => entry.id);
    return this.order.flatMap((id) => this.entries.get(id) ?? []);
  }

  isLanding(id: EntryId): boolean {
    return this.landing?.group.includes(id) ?? false;
  }

  runsOf(id: EntryId): readonly Run[] {
    return [...this.runs.values()].filter((run) => run.group.includes(id));
  }

  setEntry(entry: Entry): void {
    const before = this.entries.get(entry.id);
    this.entries.set(entry.id, entry);
    this.writes += 1;
    const reordered =
      before === undefined ||
      isAdmitted(before) !== isAdmitted(entry) ||
      before.priority.value !== entry.priority.value ||
      before.place !== entry.place;
    if (reordered) this.order = undefined;
  }

  /** Changes fields of a live entry; a no-op for one that has gone. */
  patch(id: EntryId, change: Partial<Entry>): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.setEntry({ ...entry, ...change });
  }

  setRun(run: Run): void {
    this.runs.set(run.id, run);
    this.writes += 1;
  }

  /** Takes a run out of the queue: it ends, its checks are stopped and its branch is removed. */
  closeRun(run: Run, outcome: RunOutcome, why: string): void {
    if (!this.runs.delete(run.id)) return;
    this.endedRuns.push({
      run: { ...run, endedAt: run.endedAt ?? this.now, deadline: null },
      outcome,
      why,
      at: this.now,
    });
    this.writes += 2;
    this.add({ type: "close-run", key: `close-run:${run.id}`, run: run.id, branch: run.branch });
    this.count({ runsCancelled: Number(outcome === "CANCELLED") });
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
    const moved: Entry = { ...entry, ...this.bookkeeping(entry, to), state: to, stateChangedAt: this.now };
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
    this.order = undefined;
    this.writes += 4;
    this.endedEntries.push({
      ...entry,
      ...this.bookkeeping(entry, to),
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
    return { state: this.state(), effects, moves, endedRuns, endedEntries, notes, wakeAt, more: this.cut };
  }

  private state(): QueueState {
    const { id, branch, config, mode, tip, tipDoubted, tipRead, closed, holds, landing, lineage } = this;
    const { tipTestDue, nextPlace, nextRun, nextRead, totals, entries, runs } = this;
    const head = { id, branch, config, mode, tip, tipDoubted, tipRead, closed, holds, landing, lineage };
    return { ...head, tipTestDue, nextPlace, nextRun, nextRead, totals, entries, runs };
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

  private bookkeeping(entry: Entry, to: EntryState): Partial<Entry> {
    const left = entry.state === "TESTING" ? { testedMs: entry.testedMs + (this.now - entry.stateChangedAt) } : {};
    switch (to) {
      case "TESTING":
        return { ...left, firstTestAt: entry.firstTestAt ?? this.now };
      case "PENDING":
        if (entry.state !== "TESTING") return { ...left, admittedAt: entry.admittedAt ?? this.now };
        return { ...left, restartedAt: [...entry.restartedAt, this.now].slice(-RESTARTS_KEPT) };
      case "NOT_READY":
        return {
          ...left,
          admittedAt: null,
          place: null,
          group: null,
          conflictsWith: null,
          closedMsBefore: this.closedMs(),
        };
      case "TESTS_PASSED":
      case "PENDING_FAILURE":
      case "MERGED":
      case "FAILED":
      case "CANCELLED":
        return left;
    }
  }

  /** Milliseconds for which the queue has admitted nobody, up to now. */
  closedMs(): number {
    return this.closed.totalMs + (this.closed.since === null ? 0 : this.now - this.closed.since);
  }
}
