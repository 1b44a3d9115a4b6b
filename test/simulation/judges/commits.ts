/** Looks at every decision in the moment in which it is stored, and remembers what was decided. */
import { queueLabel } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { Folded, LoadedQueue, QueueStore } from "../../../shared/queue/app/ports.ts";
import { unexplained } from "../../../shared/queue/engine/invariants.ts";
import type { Entry, Move, QueueState, Run } from "../../../shared/queue/engine/types.ts";
import { invocation } from "../machine/process.ts";
import { textOf, type Written } from "../machine/written.ts";
import type { Book } from "./book.ts";

export type Commit = { readonly loaded: LoadedQueue; readonly folded: Folded; readonly now: EpochMs };

/** Looks at each decision that was stored, in the moment in which it was. */
export type Judge = { readonly decided: (commit: Commit) => void };

/** What the writer had in hand when it wrote: taken from the same invocation. */
const HELD = "commit";

const holdsSlot = (run: Run): boolean =>
  run.phase === "BUILDING" || run.phase === "TESTING" || run.phase === "REPEATING";

export class CommitJudge {
  readonly moves = new Map<Entry["id"], Move[]>();
  readonly ended = new Map<Entry["id"], Entry>();
  /** Every run that was ever started. */
  readonly runs = new Set<Run["id"]>();
  /** The state that was stored last, and the version under which. */
  last: { readonly version: number; readonly state: QueueState } | undefined;
  private readonly book: Book;
  private readonly others: readonly Judge[];

  constructor(book: Book, others: readonly Judge[]) {
    this.book = book;
    this.others = others;
  }

  watch(queues: QueueStore): QueueStore {
    return {
      ...queues,
      commit: (loaded, folded, now) => {
        invocation()?.notes.set(HELD, { loaded, folded, now } satisfies Commit);
        return queues.commit(loaded, folded, now);
      },
      degrade: (key, what, retryAt) => {
        this.book.problem(`the queue ${queueLabel(key)} cannot be advanced: ${what}`);
        return queues.degrade(key, what, retryAt);
      },
    };
  }

  written({ puts }: Written): void {
    const meta = puts.find((item) => textOf(item, "entity") === "QUEUE_META");
    if (meta === undefined) return;
    const held = invocation()?.notes.get(HELD) as Commit | undefined;
    // Version 1 is the queue's creation.
    if (held === undefined || Number(meta["version"]?.N) === 1) return;
    this.committed(held);
  }

  private committed(commit: Commit): void {
    const { loaded, folded, now } = commit;
    const { decision } = folded;
    const version = loaded.version + 1;
    this.book.count("commits");
    this.tell(commit);
    if (this.last !== undefined && this.last.version !== loaded.version)
      this.book.problem(`version ${version} was committed on ${loaded.version}, and ${this.last.version} was there`);
    this.last = { version, state: decision.state };
    for (const move of decision.moves) {
      this.moves.set(move.entry, [...(this.moves.get(move.entry) ?? []), move]);
      this.book.count(`moves: ${move.reason}`);
    }
    for (const hold of decision.state.holds)
      if (!loaded.state.holds.some((one) => one.kind === hold.kind)) this.book.count(`holds: ${hold.kind}`);
    for (const entry of decision.endedEntries) this.end(entry);
    for (const run of decision.state.runs.values()) this.start(run);
    // Started and ended between two commits.
    for (const { run } of decision.endedRuns) this.start(run);
    for (const what of unexplained(decision.state, now)) this.book.problem(`at version ${version}: ${what}`);
    this.slots(loaded.state, decision.state, version);
    for (const judge of this.others) judge.decided(commit);
  }

  private tell({ loaded, folded }: Commit): void {
    const { moves, effects } = folded.decision;
    const events = folded.taken.map((one) => one.event.type).join(" ");
    const moved = moves.map((move) => `#${move.prNumber} ${move.from ?? "-"}>${move.to} ${move.reason}`);
    const keys = effects.map((effect) => effect.key);
    this.book.say(`v${loaded.version + 1} [${events}] ${[...moved, ...keys].join(", ")}`);
  }

  private end(entry: Entry): void {
    if (this.ended.has(entry.id)) this.book.problem(`#${entry.prNumber} (${entry.id}) ended twice`);
    this.ended.set(entry.id, entry);
    this.book.count(entry.state.toLowerCase());
  }

  private start({ id, kind, group }: Run): void {
    if (this.runs.has(id)) return;
    this.runs.add(id);
    this.book.count("runs");
    this.book.count(`runs: ${kind}${group.length > 1 ? " of several" : ""}`);
  }

  /** Nothing starts beyond the slots; lowering their number stops nothing. */
  private slots(before: QueueState, after: QueueState, version: number): void {
    const { concurrency, bisectionConcurrency } = after.config.settings;
    for (const [isBisection, max] of [[false, concurrency] as const, [true, bisectionConcurrency] as const]) {
      const holding = (state: QueueState): readonly Run[] =>
        [...state.runs.values()].filter((run) => holdsSlot(run) && (run.kind === "BISECTION") === isBisection);
      const now = holding(after);
      const isNew = (run: Run): boolean =>
        !before.runs.has(run.id) || (run.phase === "REPEATING" && before.runs.get(run.id)?.phase === "FAILED");
      const started = now.filter(isNew).length;
      // One that gives way to another when there are too many already makes them no more.
      if (now.length > max && started > 0 && now.length > holding(before).length)
        this.book.problem(`version ${version} starts ${started} runs, and ${now.length} hold ${max} slots`);
    }
  }
}
