import type { EpochMs } from "../../kernel/time.ts";
import { clearedBy, standingOf, trackOf } from "./evidence.ts";
import { explainer } from "./explain.ts";
import { isGreen } from "./landing.ts";
import { Line } from "./line.ts";
import { isAdmitted } from "./order.ts";
import { permitsOf } from "./permits.ts";
import { isInProgress } from "./run-index.ts";
import { isLegal } from "./transitions.ts";
import type { Decision, Effect, Move, QueueState, Run } from "./types.ts";
import { lackingNow, requiredNow } from "./verdict.ts";

/**
 * The queue's promises, checked on the decision of one step before it is committed: what breaks one is never written.
 * Answers one sentence per breach; none when all hold. Cost follows what the decision starts and lands.
 */
export function breachesOf(before: QueueState, decision: Decision, now: EpochMs): readonly string[] {
  const { effects, state } = decision;
  const line = new Line(state);
  const started = [...state.runs.values()].filter((run) => !before.runs.has(run.id));
  return [
    ...effects.flatMap((effect) => (effect.type === "land" ? landsOnlyEvidence(state, effect, line, now) : [])),
    ...slotsAreKept(before, state),
    ...started.flatMap((run) => startsBehindAll(state, run, line)),
    ...started.flatMap((run) => startsOnlyWhenAllowed(state, run, now)),
    ...started.flatMap((run) => startsNothingTwice(state, run, line)),
    ...admitsOnlyWhenOpen(before, state, now),
    ...statesFollowRuns(state, line, decision.more),
    ...decision.moves.filter((move) => !isLegal(move)).map(illegal),
  ];
}

/** Every live entry can be explained. */
export function unexplained(state: QueueState, now: EpochMs): readonly string[] {
  const explain = explainer(state, now);
  return [...state.entries.values()].flatMap((entry) => {
    const told = explain(entry);
    return told.blockers.length === 0 || told.summary === ""
      ? [`PR #${entry.prNumber} (${entry.state}) has no blocker`]
      : [];
  });
}

const illegal = ({ prNumber, from, to, reason }: Move): string =>
  `PR #${prNumber} moved from ${from ?? "nowhere"} to ${to} (${reason})`;

type Land = Extract<Effect, { type: "land" }>;

/**
 * What lands is what a run proved, at the tip that is there, with nothing that it depends on still ahead; or the head of
 * a pull request that contains the tip and is green itself.
 */
function landsOnlyEvidence(state: QueueState, land: Land, line: Line, now: EpochMs): readonly string[] {
  const breaches = land.expectedTip === state.tip?.sha ? [] : [`${land.key}: the tip is another one`];
  // A landing that was sent may have happened: it is finished, whatever came after it, be it brakes, requirements,
  // other targets, or a batch that is one again.
  const evidence = land.run === null ? ownEvidence(state, land) : runEvidence(state, land, line);
  const isFirst = state.landing?.attempt === 1;
  return [...breaches, ...evidence, ...(isFirst ? landsOnlyWhenAllowed(state, land, now) : [])];
}

function runEvidence(state: QueueState, land: Land, line: Line): readonly string[] {
  const run = land.run === null ? undefined : state.runs.get(land.run);
  if (run === undefined || run.phase !== "PASSED") return [`${land.key}: its run has not passed`];
  const breaches = land.commit === run.commit ? [] : [`${land.key}: the commit is not the tested one`];
  if (state.landing?.attempt !== 1) return breaches;
  const standing = standingOf(state, run, line);
  if (standing.kind === "VOID") return [...breaches, `${land.key}: its evidence is void (${standing.message})`];
  const tested = [...standing.before, ...run.group];
  const lands = land.changes.map((change) => change.entry);
  if (standing.without.length > 0) breaches.push(`${land.key}: predecessors that it left out are still live`);
  if (lands.join() !== tested.join()) breaches.push(`${land.key}: it is not what was tested`);
  const isClearing = standing.before.length > 0;
  if (isClearing && !state.config.settings.canOptimisticallyMerge)
    breaches.push(`${land.key}: predecessors are still live`);
  return breaches;
}

function ownEvidence(state: QueueState, land: Land): readonly string[] {
  const [only] = land.changes;
  const entry = only === undefined ? undefined : state.entries.get(only.entry);
  if (entry === undefined || land.changes.length > 1) return [`${land.key}: a direct merge is of one pull request`];
  if (state.landing?.attempt !== 1) return [];
  const isAllowed = state.config.settings.directMergeMode === "ALWAYS" && isGreen(state, entry);
  return isAllowed && land.commit === entry.headSha ? [] : [`${land.key}: its own statuses do not prove it`];
}

function landsOnlyWhenAllowed(state: QueueState, land: Land, now: EpochMs): readonly string[] {
  const required = requiredNow(state).statuses;
  const run = land.run === null ? undefined : state.runs.get(land.run);
  const lacking = run === undefined ? [] : lackingNow(run, required);
  const permits = permitsOf(state, now);
  const members = land.changes.flatMap((change) => state.entries.get(change.entry) ?? []);
  const wanted = run === undefined ? "PENDING" : "TESTS_PASSED";
  return [
    ...(required.length === 0 ? [`${land.key}: nothing is required`] : []),
    ...(lacking.length > 0 ? [`${land.key}: ${lacking.join(", ")} did not pass`] : []),
    ...(members.every((entry) => permits.lands(entry)) ? [] : [`${land.key}: the queue is held`]),
    ...(members.every((entry) => entry.state === wanted) ? [] : [`${land.key}: not all of it has passed`]),
  ];
}

function slotsAreKept(before: QueueState, state: QueueState): readonly string[] {
  const { concurrency, bisectionConcurrency } = state.config.settings;
  return [
    ...(isOverfull(before, state, false, concurrency) ? ["more test runs than slots in the main lane"] : []),
    ...(isOverfull(before, state, true, bisectionConcurrency) ? ["more bisection runs than slots"] : []),
  ];
}

/**
 * Whether a start or a repeat went beyond the slots. Lowering their number stops nothing; and a run that failed and goes
 * on, because what failed is not required any more, was started long ago.
 */
function isOverfull(before: QueueState, state: QueueState, bisection: boolean, max: number): boolean {
  const holding = (of: QueueState): readonly Run[] =>
    [...of.runs.values()].filter((run) => isInProgress(run) && (run.kind === "BISECTION") === bisection);
  const now = holding(state);
  const goesOn = now.filter((run) => run.phase === "TESTING" && before.runs.get(run.id)?.phase === "FAILED").length;
  return now.length > max && now.length > holding(before).length + goesOn;
}

/** Nobody starts before one ahead that overlaps, unless the run contains that one or assumes that it will not land. */
function startsBehindAll(state: QueueState, run: Run, line: Line): readonly string[] {
  if (run.kind === "TIP") return [];
  const group = run.group[0] === undefined ? undefined : line.groupOf(run.group[0]);
  if (group?.members.join() !== run.group.join()) return [`${run.id} does not test a group of the queue`];
  const isWhole = group.isBisected === (run.kind === "BISECTION");
  const known = new Set([...run.predecessors, ...run.assumedOut]);
  return [
    ...(isWhole ? [] : [`${run.id} takes a slot of the other lane`]),
    ...line
      .predecessorsOf(group)
      .filter((id) => !known.has(id))
      .map((id) => `${run.id} does not know of PR #${state.entries.get(id)?.prNumber ?? "?"} ahead of it`),
  ];
}

function startsOnlyWhenAllowed(state: QueueState, run: Run, now: EpochMs): readonly string[] {
  if (run.kind === "TIP") return [];
  const permits = permitsOf(state, now);
  const members = run.group.flatMap((id) => state.entries.get(id) ?? []);
  return members.every((entry) => permits.starts(entry))
    ? []
    : [`${run.id} started while the queue is ${permits.state}`];
}

function admitsOnlyWhenOpen(before: QueueState, state: QueueState, now: EpochMs): readonly string[] {
  const permits = permitsOf(state, now);
  return [...state.entries.values()].flatMap((entry) => {
    const earlier = before.entries.get(entry.id);
    const isNew = isAdmitted(entry) && (earlier === undefined || !isAdmitted(earlier));
    return isNew && !permits.admits(entry) ? [`PR #${entry.prNumber} was admitted while ${permits.state}`] : [];
  });
}

/** The same content is not tested again while its evidence stands. */
function startsNothingTwice(state: QueueState, run: Run, line: Line): readonly string[] {
  if (run.kind === "TIP") return [];
  return [...state.runs.values()].flatMap((other) => {
    if (other.id === run.id || !other.group.some((id) => run.group.includes(id))) return [];
    const standing = standingOf(state, other, line);
    if (standing.kind === "VOID" || standing.before.join() !== run.predecessors.join()) return [];
    return [`${run.id} tests what ${other.id} tests`];
  });
}

/**
 * A state that needs a run has one, and nobody who is tested is missing from the queue. A step that was cut has not told
 * everybody yet what they are: the next one begins with that.
 */
function statesFollowRuns(state: QueueState, line: Line, isCut: boolean): readonly string[] {
  const breaches: string[] = [];
  const untold = new Set(state.untold.flatMap((one) => one.entries));
  const withRun = new Map<string, Set<Run["phase"]>>();
  for (const run of state.runs.values())
    for (const id of run.group) {
      withRun.set(id, (withRun.get(id) ?? new Set()).add(run.phase));
      if (!state.entries.has(id) && !state.landing?.landed) breaches.push(`${run.id} tests an entry that is gone`);
    }
  const track = trackOf(state.lineage);
  const cleared = clearedBy(state, {
    line: () => line,
    standing: (run) => standingOf(state, run, line, track),
    isStale: (run) => track.stale.has(run.id),
  });
  for (const entry of state.entries.values()) {
    const phases = withRun.get(entry.id);
    if (entry.state === "NOT_READY" && phases !== undefined)
      breaches.push(`PR #${entry.prNumber} is NOT_READY and has a run`);
    if (isCut || untold.has(entry.id)) continue;
    if (entry.state === "TESTING" && !phases?.has("TESTING"))
      breaches.push(`PR #${entry.prNumber} is TESTING without a run`);
    // What is landing is decided anew only when the result is known, whatever has become of its evidence.
    const isLanding = state.landing?.group.includes(entry.id) === true;
    if (entry.state === "TESTS_PASSED" && !phases?.has("PASSED") && !cleared.has(entry.id) && !isLanding)
      breaches.push(`PR #${entry.prNumber} is TESTS_PASSED without a run that passed`);
  }
  return breaches;
}
