import type { EntryId, RunId } from "../../kernel/ids.ts";
import type { Run } from "./types.ts";

/** In progress: it holds a slot of its lane. */
export const isInProgress = (run: Run): boolean =>
  run.phase === "BUILDING" || run.phase === "TESTING" || run.phase === "REPEATING";

/** The runs by the entries that they test, in the order in which they were started, and how many hold a slot. */
export class RunIndex {
  private readonly byEntry = new Map<EntryId, readonly Run[]>();
  private readonly used = { main: 0, bisection: 0 };

  constructor(runs: Iterable<Run>) {
    for (const run of runs) this.put(run, undefined);
  }

  of(id: EntryId): readonly Run[] {
    return this.byEntry.get(id) ?? NONE;
  }

  /** Tests of the tip take a slot of the main lane as well, bisections have slots of their own. */
  inProgress(bisection: boolean): number {
    return bisection ? this.used.bisection : this.used.main;
  }

  put(run: Run, before: Run | undefined): void {
    if (before !== undefined) this.count(before, -1);
    this.count(run, 1);
    for (const id of run.group)
      this.byEntry.set(id, before === undefined ? [...this.of(id), run] : replaced(this.of(id), run));
  }

  drop(run: Run): void {
    this.count(run, -1);
    for (const id of run.group) this.byEntry.set(id, without(this.of(id), run.id));
  }

  private count(run: Run, by: 1 | -1): void {
    if (isInProgress(run)) this.used[run.kind === "BISECTION" ? "bisection" : "main"] += by;
  }
}

const NONE: readonly Run[] = [];
const replaced = (runs: readonly Run[], run: Run): readonly Run[] => runs.map((one) => (one.id === run.id ? run : one));
const without = (runs: readonly Run[], id: RunId): readonly Run[] => runs.filter((one) => one.id !== id);
