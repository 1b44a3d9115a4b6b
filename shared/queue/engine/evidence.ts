import type { CommitSha, EntryId, RunId } from "../../kernel/ids.ts";
import { overlaps } from "./lanes.ts";
import type { Line } from "./line.ts";
import { isAdmitted, isUrgent } from "./order.ts";
import type { Entry, LandedStep, QueueState, Reason, Run } from "./types.ts";

/**
 * What a run says about the queue as it is now. Derived each time and never stored, so that no message can be missed:
 * a run is good as long as its base leads to the present tip by landings that do not contradict it, everything it
 * contains and has not landed is still live, and nothing has come ahead of its group that it does not know of.
 */
export type Standing =
  | {
      readonly kind: "GOOD";
      /** Contained entries that are to land before the group. */
      readonly before: readonly EntryId[];
      /** Live predecessors that the run assumes will not land: while there is one, the group cannot land on it. */
      readonly without: readonly EntryId[];
    }
  | { readonly kind: "VOID"; readonly reason: Reason; readonly message: string };

type Judged = Pick<QueueState, "tip" | "lineage" | "entries" | "mode">;

const isVoid = (reason: Reason, message: string): Standing => ({ kind: "VOID", reason, message });
const isLive = (entry: Entry | undefined): boolean => entry !== undefined && isAdmitted(entry);

export function standingOf(state: Judged, run: Run, line: Line, track = trackOf(state.lineage)): Standing {
  const carried = carriedToTip(state, run, track);
  if ("kind" in carried) return carried;
  if (run.kind === "TIP") return { kind: "GOOD", before: [], without: [] };
  const { remaining } = carried;
  const left = run.group.filter((id) => remaining.includes(id));
  if (left.length > 0 && left.length < run.group.length)
    return isVoid("PREDECESSORS_CHANGED", "a part of its batch landed without the rest");
  const gone = remaining.find((id) => !isLive(state.entries.get(id)));
  if (gone !== undefined)
    return isVoid("PREDECESSOR_LEFT", "a pull request that was tested together with it left the queue");
  const before = remaining.filter((id) => !run.group.includes(id));
  return left.length === 0 ? { kind: "GOOD", before, without: [] } : againstLine(state, run, before, line);
}

/** The lineage, ready to be asked about many runs: which landing brought an entry, and which contradicts a run. */
export type Track = {
  readonly lineage: readonly LandedStep[];
  readonly landedBy: ReadonlyMap<EntryId, LandedStep>;
  readonly voidedBy: ReadonlyMap<RunId, LandedStep>;
  /** Runs whose failure proves nothing any more: see `doubtedBy`. */
  readonly doubted: ReadonlySet<RunId>;
  /** Runs that clear nobody any more: see `staledBy`. */
  readonly stale: ReadonlySet<RunId>;
};

export function trackOf(lineage: readonly LandedStep[]): Track {
  const landedBy = new Map<EntryId, LandedStep>();
  const voidedBy = new Map<RunId, LandedStep>();
  for (const step of lineage) {
    for (const id of step.entries) landedBy.set(id, step);
    for (const id of step.voids) if (!voidedBy.has(id)) voidedBy.set(id, step);
  }
  const doubted = new Set(lineage.flatMap((step) => step.doubts));
  const stale = new Set(lineage.flatMap((step) => step.stale));
  return { lineage, landedBy, voidedBy, doubted, stale };
}

/** From the run's base to the present tip, along landings that do not contradict it. Each step begins where one ended. */
function carriedToTip(
  state: Judged,
  run: Run,
  { lineage, landedBy, voidedBy }: Track,
): Standing | { readonly remaining: readonly EntryId[] } {
  const first = lineage[0]?.number ?? run.landingsBefore;
  const since = lineage.slice(Math.max(0, run.landingsBefore - first));
  if ((since[0]?.from ?? state.tip?.sha) !== run.base || endOf(lineage, state) !== state.tip?.sha)
    return isVoid("MANUAL_PUSH_TO_TARGET_BRANCH", "the target branch was moved by somebody else");
  const against = voidedBy.get(run.id);
  if (against !== undefined)
    return against.entries.some((id) => run.assumedOut.includes(id))
      ? isVoid("PREDECESSOR_LANDED", "a pull request ahead landed that this test had left out")
      : isVoid("PREDECESSORS_CHANGED", "a pull request landed that this test does not contain");
  const contained = [...run.predecessors, ...run.group];
  const hasLanded = (id: EntryId): boolean => (landedBy.get(id)?.number ?? -1) >= run.landingsBefore;
  if (isUncompared(state, run, contained, since))
    return isVoid("TARGETS_CHANGED", "impacted targets changed after a landing that this test does not contain");
  return { remaining: contained.filter((id) => !hasLanded(id)) };
}

const endOf = (lineage: readonly LandedStep[], { tip }: Judged): CommitSha | undefined =>
  lineage.at(-1)?.to ?? tip?.sha;

/** Something landed that the run lacks, and something the run contains got targets since that were never compared with it. */
function isUncompared(state: Judged, run: Run, contained: readonly EntryId[], since: readonly LandedStep[]): boolean {
  if (state.mode === "SINGLE") return false;
  const latest = Math.max(...contained.map((id) => state.entries.get(id)?.lane?.since ?? 0));
  if (latest <= run.landingsBefore) return false;
  return since.some((step) => step.number < latest && step.entries.some((id) => !contained.includes(id)));
}

function againstLine(state: Judged, run: Run, before: readonly EntryId[], line: Line): Standing {
  const first = run.group[0];
  const group = first === undefined ? undefined : line.groupOf(first);
  if (group === undefined || !same(group.members, run.group))
    return isVoid("BATCH_CHANGED", "it is tested together with others now");
  const ahead = line.predecessorsOf(group);
  const out = new Set(run.assumedOut);
  const expected = ahead.filter((id) => !out.has(id));
  const without = ahead.filter((id) => out.has(id));
  if (same(expected, before)) return { kind: "GOOD", before, without };
  const known = new Set(before);
  const intruder = expected.find((id) => !known.has(id));
  if (intruder !== undefined) return intruded(state, state.entries.get(intruder), run);
  if (!keepsOrder(state, before, expected) || before.some((id) => (line.groupOf(id)?.at ?? group.at) >= group.at))
    return isVoid("PREDECESSORS_CHANGED", "the order of the pull requests ahead changed");
  return { kind: "GOOD", before, without };
}

const same = (a: readonly EntryId[], b: readonly EntryId[]): boolean =>
  a.length === b.length && a.every((id, at) => id === b[at]);

function intruded(state: Judged, intruder: Entry | undefined, run: Run): Standing {
  const number = intruder?.prNumber ?? 0;
  if (intruder !== undefined && isUrgent(intruder))
    return isVoid("SKIP_THE_LINE_INTERRUPTED", `PR #${number}, which is urgent, came ahead`);
  // In a queue of lanes who came first can only become a predecessor because of other targets.
  const knew = run.group.some((id) => (state.entries.get(id)?.submittedAt ?? 0) > (intruder?.submittedAt ?? 0));
  return state.mode === "PARALLEL" && knew
    ? isVoid("TARGETS_CHANGED", `PR #${number}, which is ahead, now shares impacted targets`)
    : isVoid("PREDECESSORS_CHANGED", `PR #${number} came ahead`);
}

/** What a run contains beyond its predecessors is kept, and pairs that overlap stand in the run as they stand in the queue. */
function keepsOrder(state: Judged, contained: readonly EntryId[], order: readonly EntryId[]): boolean {
  if (state.mode === "SINGLE") return false;
  const at = new Map(order.map((id, index) => [id, index]));
  const placed = contained.filter((id) => at.has(id));
  return placed.every((id, index) =>
    placed.slice(index + 1).every((later) => (at.get(id) ?? 0) < (at.get(later) ?? 0) || !meet(state, id, later)),
  );
}

function meet(state: Pick<QueueState, "entries" | "mode">, a: EntryId, b: EntryId): boolean {
  const [first, second] = [state.entries.get(a), state.entries.get(b)];
  return first === undefined || second === undefined || overlaps(first, second, state.mode);
}

/**
 * Runs that a landing contradicts: it lands something that they lack and that overlaps their group, or something that
 * they contain behind another that overlaps it. Asked while what lands is still live.
 */
export function contradictedBy(
  state: Pick<QueueState, "entries" | "mode" | "runs">,
  landed: readonly EntryId[],
  standing: (run: Run) => Standing,
): readonly RunId[] {
  return runsBeside(state, landed).flatMap((run) => {
    if (run.kind === "TIP") return [run.id];
    const remaining = remainingOf(run, standing(run));
    for (const id of landed) {
      const at = remaining.indexOf(id);
      const against = at < 0 ? run.group : remaining.slice(0, at);
      if (remaining.length > 0 && against.some((other) => meet(state, other, id))) return [run.id];
      if (at >= 0) remaining.splice(at, 1);
    }
    return [];
  });
}

/**
 * Runs that lack something that landed and that overlaps what they contain ahead of their group: what they say of that
 * is stale, and they clear nobody. Asked while what lands is still live.
 */
export function staledBy(
  state: Pick<QueueState, "entries" | "mode" | "runs">,
  landed: readonly EntryId[],
  standing: (run: Run) => Standing,
): readonly RunId[] {
  return runsBeside(state, landed).flatMap((run) => {
    const before = remainingOf(run, standing(run)).slice(0, -run.group.length);
    const others = before.filter((id) => !landed.includes(id));
    const isStale = landed.some((id) => !before.includes(id) && others.some((other) => meet(state, other, id)));
    return isStale ? [run.id] : [];
  });
}

/**
 * Runs whose failure proves nothing any more: they contain something that landed although its own test had failed, and
 * lack the successor that proved it. A pass is worth what it was: that successor shares nothing with their group. What
 * landed while its own test was in progress casts no doubt: a change that fails alone and not with its successor is too
 * rare to test again all that failed with it, and whoever waits for them would wait as long.
 */
export function doubtedBy(
  state: Pick<QueueState, "runs">,
  landed: readonly EntryId[],
  standing: (run: Run) => Standing,
): readonly RunId[] {
  if (landed.length < 2) return [];
  const membersWhere = (is: (run: Run) => boolean): ReadonlySet<EntryId> =>
    new Set([...state.runs.values()].flatMap((run) => (is(run) ? run.group : [])));
  const passed = membersWhere((run) => run.phase === "PASSED");
  const failed = membersWhere((run) => run.failure !== null);
  const doubtful = landed.filter((id) => failed.has(id) && !passed.has(id));
  if (doubtful.length === 0) return [];
  return runsBeside(state, landed).flatMap((run) => {
    const remaining = remainingOf(run, standing(run));
    return doubtful.some((id) => remaining.includes(id)) && landed.some((id) => !remaining.includes(id))
      ? [run.id]
      : [];
  });
}

const runsBeside = ({ runs }: Pick<QueueState, "runs">, landed: readonly EntryId[]): readonly Run[] =>
  [...runs.values()].filter((run) => !run.group.some((id) => landed.includes(id)));

/** What of the run is still to land; nothing of one that is void already. */
const remainingOf = (run: Run, standing: Standing): EntryId[] =>
  standing.kind === "VOID" ? [] : [...standing.before, ...run.group];

/**
 * Which entries a run of a successor clears: one that passed, stands on the present tip, leaves nobody out, and
 * contains the entry with everything that it depends on. The shortest such run for each. Empty without optimistic
 * merging. All that the run holds lands at once: where that may not be, it clears nobody.
 */
export function clearedBy(
  state: Pick<QueueState, "config" | "entries" | "runs">,
  known: {
    readonly line: () => Line;
    readonly standing: (run: Run) => Standing;
    readonly isStale: (run: Run) => boolean;
  },
): ReadonlyMap<EntryId, Run> {
  const cleared = new Map<EntryId, Run>();
  if (!state.config.settings.canOptimisticallyMerge) return cleared;
  const shortest = new Map<EntryId, number>();
  for (const run of state.runs.values()) {
    if (run.phase !== "PASSED" || run.kind === "TIP" || known.isStale(run)) continue;
    const now = known.standing(run);
    if (now.kind === "VOID" || now.without.length > 0 || now.before.length === 0) continue;
    if (!landsAtOnce(state, known.line(), run, now.before)) continue;
    const size = now.before.length + run.group.length;
    for (const id of now.before) {
      if ((shortest.get(id) ?? Number.POSITIVE_INFINITY) <= size) continue;
      shortest.set(id, size);
      cleared.set(id, run);
    }
  }
  return cleared;
}

/**
 * Nobody in it depends on somebody who is not in it. And nobody was refused before: whoever was lands alone, so that it
 * is known whom the host refuses.
 */
function landsAtOnce(
  { entries }: Pick<QueueState, "entries">,
  line: Line,
  { group }: Run,
  before: readonly EntryId[],
): boolean {
  const contained = new Set([...before, ...group]);
  return [...contained].every((id) => {
    if ((entries.get(id)?.refusal ?? null) !== null) return false;
    const own = line.groupOf(id);
    return own === undefined || [...own.members, ...line.predecessorsOf(own)].every((one) => contained.has(one));
  });
}
