/** What happened to the target and to runs, kept beside the queue: the past by which the oracle judges evidence. */
import type { CommitSha, EntryId, RunId } from "../../../shared/kernel/ids.ts";
import type { Decision, QueueEvent, QueueState } from "../../../shared/queue/engine/types.ts";
import { type Names, namesOf } from "./names.ts";

/** One that landed: what it impacted then, and its head. */
export type LandedOne = { readonly id: EntryId; readonly head: string; readonly names: Names };

/** A movement of the target: by a landing of the queue, or by somebody else (then `landed` is null). */
export type Movement = {
  readonly from: CommitSha | null;
  readonly to: CommitSha;
  readonly landed: readonly LandedOne[] | null;
  /** What everybody impacted at that moment, and which of their targets that were. */
  readonly names: ReadonlyMap<EntryId, Names>;
  readonly numbers: ReadonlyMap<EntryId, number | undefined>;
  /** Which of those that landed had failed themselves, and not passed. */
  readonly failed: readonly EntryId[];
};

export class History {
  readonly movements: Movement[] = [];
  /** How many movements there had been when the run was started. */
  readonly startedAt = new Map<RunId, number>();
  /** All that the queue ever landed, by head. */
  readonly landed = new Map<string, LandedOne>();

  record(before: QueueState, event: QueueEvent, { state }: Decision): void {
    const names = new Map([...before.entries.values()].map((entry) => [entry.id, namesOf(entry.targets)]));
    const numbers = new Map([...before.entries.values()].map((entry) => [entry.id, entry.lane?.number]));
    const runs = [...before.runs.values()];
    const passed = runs.flatMap((run) => (run.phase === "PASSED" ? run.group : []));
    const broken = runs.flatMap((run) => (run.failure === null ? [] : run.group));
    const failed = (before.landing?.group ?? []).filter((id) => broken.includes(id) && !passed.includes(id));
    const then = { names, numbers, failed };
    if (event.type === "landed" && state.totals.landings > before.totals.landings && before.landing !== null) {
      const landed = before.landing.group
        .filter((id) => event.entries.includes(id))
        .map((id) => ({ id, head: before.entries.get(id)?.headSha ?? "", names: names.get(id) ?? "ALL" }));
      for (const one of landed) this.landed.set(one.head, one);
      const movement = { from: before.landing.expectedTip, to: event.tip.sha, landed, ...then };
      this.movements.push(event.onMovedTip ? { ...movement, landed: null } : movement);
    } else if (state.tip !== null && state.tip.sha !== before.tip?.sha)
      this.movements.push({ from: before.tip?.sha ?? null, to: state.tip.sha, landed: null, ...then });
    for (const run of state.runs.keys()) if (!before.runs.has(run)) this.startedAt.set(run, this.movements.length);
  }
}
