import type { Draft } from "./draft.ts";
import { isAdmitted } from "./order.ts";
import type { Entry, QueueEvent, QueueState, Targets } from "./types.ts";

type Of<T extends QueueEvent["type"]> = Extract<QueueEvent, { type: T }>;

/** Targets matter to a queue that makes lanes, or is about to. */
export const makesLanes = (state: Pick<QueueState, "config" | "mode">): boolean =>
  state.mode === "PARALLEL" || state.config.settings.mode === "PARALLEL";

/** Has an entry's targets computed where they can be, and compared where they have not been. Answers it as it is then. */
export function placeTargets(draft: Draft, entry: Entry): Entry {
  if (!makesLanes(draft)) return entry;
  if (entry.targets === null) computeTargets(draft, entry);
  else if (entry.lane === null && entry.comparing === null) compareTargets(draft, entry, entry.targets);
  return draft.entries.get(entry.id) ?? entry;
}

/** Once for each head: what the paths say is stored, and an upload overrides it. */
function computeTargets(draft: Draft, entry: Entry): void {
  const { headSha, pr } = entry;
  if (draft.tip?.targetsFromPaths !== true || headSha === null || pr === null || isAdmitted(entry)) return;
  if (entry.computedFor === headSha || pr.headSha !== headSha) return;
  draft.patch(entry.id, { computedFor: headSha });
  const key = `compute-targets:${entry.id}:${headSha}`;
  draft.add({ type: "compute-targets", key, entry: entry.id, prNumber: entry.prNumber, headSha });
}

/** Gives targets their number. ALL and the empty set need no comparing: what they are says whom they overlap. */
function compareTargets(draft: Draft, entry: Entry, targets: Targets): void {
  const number = draft.nextTargets;
  draft.nextTargets += 1;
  if (targets.kind === "ALL" || targets.count === 0) {
    const lane = { number, overlaps: [], since: draft.totals.landings, isolated: false };
    draft.patch(entry.id, { targets, lane, comparing: null });
    return;
  }
  draft.patch(entry.id, { comparing: { number, targets } });
  const { id, prNumber, headSha } = entry;
  if (headSha !== null)
    draft.add({
      type: "compare-targets",
      key: `compare-targets:${id}:${number}`,
      entry: id,
      prNumber,
      headSha,
      number,
    });
}

/** Until new targets have been compared, an entry that has a lane keeps the old ones. */
export function grantTargets(draft: Draft, entry: Entry, targets: Targets): void {
  const present = entry.comparing?.targets ?? entry.targets;
  if (present !== null && sameTargets(present, targets)) return;
  if (entry.lane === null || !makesLanes(draft)) draft.patch(entry.id, { targets, lane: null, comparing: null });
  else compareTargets(draft, entry, targets);
}

const sameTargets = (a: Targets, b: Targets): boolean =>
  a.kind === "SET" && b.kind === "SET" ? a.digest === b.digest : a.kind === b.kind;

export function foldCompared(draft: Draft, { entry: id, number, overlaps, isolated }: Of<"targets-compared">): void {
  const entry = draft.entries.get(id);
  if (entry === undefined || entry.comparing?.number !== number) return;
  const { targets } = entry.comparing;
  const lane = { number, overlaps: [...overlaps].sort((a, b) => a - b), since: draft.totals.landings, isolated };
  draft.patch(id, { targets, lane, comparing: null });
}

/** An upload that came meanwhile overrides what was computed. */
export function foldComputed(draft: Draft, { entry: id, headSha, targets }: Of<"targets-computed">): void {
  const entry = draft.entries.get(id);
  if (entry !== undefined && entry.headSha === headSha && entry.targets === null) grantTargets(draft, entry, targets);
}
