import type { EntryId, RunId } from "../../kernel/ids.ts";
import { runId } from "../../kernel/ids.ts";
import type { Draft, Why } from "./draft.ts";
import { predecessorsOf } from "./lanes.ts";
import { isAdmitted } from "./order.ts";
import { isAssumedToLand } from "./policy.ts";
import type { Change, Entry, EntryState, Run, RunKind } from "./types.ts";
import { requiredNow } from "./verdict.ts";

/** In progress: it holds a slot of its lane. */
export const isInProgress = (run: Run): boolean =>
  run.phase === "BUILDING" || run.phase === "TESTING" || run.phase === "REPEATING";

/** Slots of the main lane in use; tests of the tip take one as well, bisections have slots of their own. */
export const mainSlotsUsed = (draft: Draft): number =>
  [...draft.runs.values()].filter((run) => run.kind !== "BISECTION" && isInProgress(run)).length;

/** Ends a run without a verdict and tells its entries why. */
export function closeRun(draft: Draft, run: Run, why: Why): void {
  draft.closeRun(run, run.phase === "FAILED" ? "FAILED" : "CANCELLED", why.message);
  for (const id of run.group) retell(draft, id, { run: run.id, ...why });
}

/** Sets an entry's state to what its runs say; a move with this reason if that is another one. */
export function retell(draft: Draft, id: EntryId, why: Why): void {
  const entry = draft.entries.get(id);
  if (entry === undefined || !isAdmitted(entry) || draft.isLanding(id)) return;
  const state = stateFromRuns(draft, entry);
  if (state !== entry.state) draft.move(entry, state, why);
}

/** The state of an admitted entry, from those of its runs that are not void (void ones are closed at once). */
export function stateFromRuns(draft: Draft, entry: Entry): EntryState {
  const runs = draft.runsOf(entry.id);
  if (runs.some((run) => run.phase === "PASSED" && isOnLikelyPath(draft, run))) return "TESTS_PASSED";
  if (runs.some((run) => run.phase === "TESTING")) return "TESTING";
  if (runs.some((run) => run.phase === "FAILED" || run.phase === "REPEATING")) return "PENDING_FAILURE";
  return "PENDING";
}

/** Whether what the run assumes of the live entries ahead is what is likeliest now. */
export function isOnLikelyPath(draft: Draft, run: Run): boolean {
  const standing = draft.standing(run);
  if (standing.kind === "VOID") return false;
  return (
    standing.before.every((id) => isLikelyToLand(draft, id)) &&
    !standing.without.some((id) => isLikelyToLand(draft, id))
  );
}

function isLikelyToLand(draft: Draft, id: EntryId): boolean {
  const entry = draft.entries.get(id);
  return draft.isLanding(id) || (entry !== undefined && isAssumedToLand(draft, entry));
}

/** What a group would be tested on now: the entries ahead of it that are assumed to land, and those that are not. */
export function assumptionsFor(
  draft: Draft,
  group: readonly Entry[],
  ahead: readonly Entry[],
): { readonly predecessors: readonly Entry[]; readonly assumedOut: readonly Entry[] } {
  const all = predecessorsOf(group, ahead, draft.mode);
  const predecessors: Entry[] = [];
  const assumedOut: Entry[] = [];
  for (const entry of all) (isLikelyToLand(draft, entry.id) ? predecessors : assumedOut).push(entry);
  return { predecessors, assumedOut };
}

/** Starts a run: takes a slot, keeps the places of all it contains, and asks the host to build it. */
export function startRun(
  draft: Draft,
  kind: RunKind,
  group: readonly Entry[],
  on: { readonly predecessors: readonly Entry[]; readonly assumedOut: readonly Entry[] },
): void {
  if (draft.tip === null) return;
  const id = nextRunId(draft);
  const first = group[0];
  const branch = first === undefined ? `mainline/tip/${id}` : `mainline/pr-${first.prNumber}/${id}`;
  const required = requiredNow(draft);
  const base = draft.tip.sha;
  draft.setRun({
    id,
    kind,
    group: group.map((entry) => entry.id),
    predecessors: on.predecessors.map((entry) => entry.id),
    assumedOut: on.assumedOut.map((entry) => entry.id),
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
  // Those left out keep theirs as well: the run knows of them where they are now.
  for (const entry of draft.admitted().filter(isAheadOrIn(group, on))) keepPlace(draft, entry);
  for (const entry of group) draft.patch(entry.id, { lastRun: id });
  draft.add({
    type: "build-run",
    key: `build-run:${id}`,
    run: id,
    base,
    branch,
    changes: [...on.predecessors, ...group].flatMap(changeOf),
    mergeMethod: draft.config.settings.mergeMethod,
    required: required.statuses,
  });
  draft.count({ runsStarted: 1, bisectionRunsStarted: Number(kind === "BISECTION") });
}

function isAheadOrIn(
  group: readonly Entry[],
  on: { readonly predecessors: readonly Entry[]; readonly assumedOut: readonly Entry[] },
): (entry: Entry) => boolean {
  const known = new Set([...on.predecessors, ...on.assumedOut, ...group].map((entry) => entry.id));
  return (entry) => entry.place === null && known.has(entry.id);
}

function nextRunId(draft: Draft): RunId {
  const id = runId(`${draft.id}-${draft.nextRun}`);
  draft.nextRun += 1;
  return id;
}

function keepPlace(draft: Draft, entry: Entry): void {
  if (draft.entries.get(entry.id)?.place !== null) return;
  draft.patch(entry.id, { place: draft.nextPlace });
  draft.nextPlace += 1;
}

/** All that is needed to build the entry's commit; empty for one whose facts are not known, which is never tested. */
export function changeOf(entry: Entry): readonly Change[] {
  if (entry.pr === null || entry.headSha === null) return [];
  const { title, author } = entry.pr;
  return [
    { entry: entry.id, prNumber: entry.prNumber, headSha: entry.headSha, title, author, date: entry.submittedAt },
  ];
}
