import type { EntryId, RunId } from "../../kernel/ids.ts";
import { runId } from "../../kernel/ids.ts";
import type { Draft, Why } from "./draft.ts";
import type { Group } from "./line.ts";
import { isLikelyToLand, tellUntold } from "./states.ts";
import type { Change, Run, RunKind } from "./types.ts";
import { requiredNow } from "./verdict.ts";

/** Slots left for runs of this kind. */
export function freeSlots(draft: Draft, kind: RunKind): number {
  const { concurrency, bisectionConcurrency } = draft.config.settings;
  return kind === "BISECTION" ? bisectionConcurrency - draft.inProgress(true) : concurrency - draft.inProgress(false);
}

/** Ends a run without a verdict and tells its entries why. */
export function closeRun(draft: Draft, run: Run, why: Why): void {
  draft.closeRun(run, run.phase === "FAILED" ? "FAILED" : "CANCELLED", why);
  tellUntold(draft);
}

/** What a group is tested on: those of its predecessors that are assumed to land, in order, and those that are not. */
export type Assumptions = { readonly predecessors: readonly EntryId[]; readonly assumedOut: readonly EntryId[] };

/** The likeliest assumptions now. `landing` are assumed to land whatever is likely, and nobody that conflicts with them. */
export function assumptionsFor(draft: Draft, group: Group, landing: readonly EntryId[] = []): Assumptions {
  const predecessors: EntryId[] = [];
  const assumedOut: EntryId[] = [];
  for (const id of draft.line().predecessorsOf(group)) {
    const lands = landing.includes(id) || (isLikelyToLand(draft, id) && !conflictsWithOneOf(draft, id, landing));
    (lands ? predecessors : assumedOut).push(id);
  }
  return { predecessors, assumedOut };
}

/** It cannot be merged behind one of these: a test that contains both cannot be built. */
function conflictsWithOneOf(draft: Draft, id: EntryId, others: readonly EntryId[]): boolean {
  const opponent = draft.entries.get(id)?.conflictsWith ?? null;
  return opponent !== null && others.includes(opponent);
}

/** Two that the run would contain conflict in text. */
export const cannotBeBuilt = (draft: Draft, group: Group, { predecessors }: Assumptions): boolean =>
  [...predecessors, ...group.members].some((id) => conflictsWithOneOf(draft, id, predecessors));

/**
 * Whether it has a run on the same assumptions already; what the run contains follows from what it leaves out. What it
 * contains besides, and no longer depends on, must be likely to land as well.
 */
export function hasRunOn(draft: Draft, group: Group, { predecessors, assumedOut }: Assumptions): boolean {
  const [first] = group.members;
  if (first === undefined) return false;
  return draft.runsOf(first).some((run) => {
    const standing = draft.standing(run);
    if (standing.kind === "VOID" || standing.without.length !== assumedOut.length) return false;
    if (!assumedOut.every((id) => standing.without.includes(id))) return false;
    if (standing.before.length === predecessors.length) return true;
    return standing.before.every((id) => predecessors.includes(id) || isLikelyToLand(draft, id));
  });
}

/** Starts a run: takes a slot, keeps the places of all it contains, and asks the host to build it. */
export function startRun(draft: Draft, kind: RunKind, group: readonly EntryId[], on: Assumptions): void {
  if (draft.tip === null) return;
  const id = nextRunId(draft);
  const first = group[0] === undefined ? undefined : draft.entries.get(group[0]);
  const branch = first === undefined ? `mainline/tip/${id}` : `mainline/pr-${first.prNumber}/${id}`;
  const required = requiredNow(draft);
  const base = draft.tip.sha;
  draft.setRun({
    id,
    kind,
    group,
    predecessors: on.predecessors,
    assumedOut: on.assumedOut,
    base,
    landingsBefore: draft.totals.landings,
    phase: "BUILDING",
    branch,
    commit: null,
    tree: null,
    required: required.statuses,
    requiredSource: required.source,
    startedAt: draft.now,
    testingSince: null,
    deadline: null,
    lateRead: "NONE",
    statuses: [],
    complete: false,
    repeats: 0,
    failure: null,
    endedAt: null,
  });
  keepPlaces(draft, [...group, ...on.predecessors, ...on.assumedOut]);
  for (const member of group) if (draft.hasRoom()) draft.patch(member, { lastRun: id });
  draft.add({
    type: "build-run",
    key: `build-run:${id}`,
    run: id,
    base,
    branch,
    changes: changesOf(draft, [...on.predecessors, ...group]),
    mergeMethod: draft.config.settings.mergeMethod,
    required: required.statuses,
  });
  const batches = Number(kind === "MAIN" && group.length > 1);
  draft.count({ runsStarted: 1, bisectionRunsStarted: Number(kind === "BISECTION"), batches });
}

function nextRunId(draft: Draft): RunId {
  const id = runId(`${draft.id}-${draft.nextRun}`);
  draft.nextRun += 1;
  return id;
}

/** In the order of the queue. Those that a run leaves out keep theirs as well: it knows of them where they are now. */
export function keepPlaces(draft: Draft, ids: readonly EntryId[]): void {
  const known = new Set(ids.filter((id) => draft.entries.get(id)?.place === null));
  if (known.size === 0) return;
  for (const id of draft.line().entries) {
    if (!known.has(id)) continue;
    draft.patch(id, { place: draft.nextPlace });
    draft.nextPlace += 1;
  }
}

/** All that is needed to build the entries' commits; one whose facts are not known is never tested. */
export const changesOf = (draft: Pick<Draft, "entries">, ids: readonly EntryId[]): readonly Change[] =>
  ids.flatMap((id): readonly Change[] => {
    const entry = draft.entries.get(id);
    if (entry === undefined || entry.pr === null || entry.headSha === null) return [];
    const { title, author } = entry.pr;
    return [{ entry: id, prNumber: entry.prNumber, headSha: entry.headSha, title, author, date: entry.submittedAt }];
  });
