import type { EpochMs } from "../../kernel/time.ts";
import { standingOf } from "./evidence.ts";
import { explain } from "./explain.ts";
import { predecessorsOf } from "./lanes.ts";
import { admittedInOrder, isAdmitted } from "./order.ts";
import { permitsOf } from "./permits.ts";
import { isInProgress } from "./runs.ts";
import { isLegal } from "./transitions.ts";
import type { Decision, Effect, Entry, Move, QueueState, Run } from "./types.ts";
import { lackingNow, requiredNow } from "./verdict.ts";

/**
 * The queue's promises, checked on the decision of one step before it is committed: what breaks one is never written.
 * Answers one sentence per breach; none when all hold. Cost follows what the decision starts and lands.
 */
export function breachesOf(before: QueueState, decision: Decision, now: EpochMs): readonly string[] {
  const { effects, state } = decision;
  const order = admittedInOrder(state);
  const started = [...state.runs.values()].filter((run) => !before.runs.has(run.id));
  return [
    ...effects.flatMap((effect) => (effect.type === "land" ? landsOnlyEvidence(state, effect, order, now) : [])),
    ...slotsAreKept(before, state),
    ...started.flatMap((run) => startsBehindAll(state, run, order)),
    ...started.flatMap((run) => startsOnlyWhenAllowed(state, run, now)),
    ...started.flatMap((run) => startsNothingTwice(state, run, order)),
    ...admitsOnlyWhenOpen(before, state, now),
    ...statesFollowRuns(state),
    ...decision.moves.filter((move) => !isLegal(move)).map(illegal),
  ];
}

/** Every live entry can be explained; apart from the rest because its cost follows the queue's length squared. */
export function unexplained(state: QueueState, now: EpochMs): readonly string[] {
  return [...state.entries.values()].flatMap((entry) => {
    const told = explain(state, entry, now);
    return told.blockers.length === 0 || told.summary === ""
      ? [`PR #${entry.prNumber} (${entry.state}) has no blocker`]
      : [];
  });
}

const illegal = ({ prNumber, from, to, reason }: Move): string =>
  `PR #${prNumber} moved from ${from ?? "nowhere"} to ${to} (${reason})`;

type Land = Extract<Effect, { type: "land" }>;

/** What lands is what a run proved, at the tip that is there, with nothing of it still ahead. */
function landsOnlyEvidence(state: QueueState, land: Land, order: readonly Entry[], now: EpochMs): readonly string[] {
  const run = land.run === null ? undefined : state.runs.get(land.run);
  if (run === undefined || run.phase !== "PASSED") return [`${land.key}: its run has not passed`];
  const breaches: string[] = [];
  const standing = standingOf(state, run, order);
  if (standing.kind === "VOID") breaches.push(`${land.key}: its evidence is void (${standing.message})`);
  else if (standing.before.length + standing.without.length > 0)
    breaches.push(`${land.key}: predecessors are still live`);
  if (land.expectedTip !== state.tip?.sha) breaches.push(`${land.key}: the tip is another one`);
  if (land.commit !== run.commit) breaches.push(`${land.key}: the commit is not the tested one`);
  // A landing that was sent may have happened: it is finished, whatever brakes and requirements came after it.
  return state.landing?.attempt === 1 ? [...breaches, ...landsOnlyWhenAllowed(state, land, run, now)] : breaches;
}

function landsOnlyWhenAllowed(state: QueueState, land: Land, run: Run, now: EpochMs): readonly string[] {
  const required = requiredNow(state).statuses;
  const lacking = lackingNow(run, required);
  const permits = permitsOf(state, now);
  const members = run.group.flatMap((id) => state.entries.get(id) ?? []);
  return [
    ...(required.length === 0 ? [`${land.key}: nothing is required`] : []),
    ...(lacking.length > 0 ? [`${land.key}: ${lacking.join(", ")} did not pass`] : []),
    ...(members.every((entry) => permits.lands(entry)) ? [] : [`${land.key}: the queue is held`]),
    ...(members.every((entry) => entry.state === "TESTS_PASSED") ? [] : [`${land.key}: not all of it has passed`]),
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
function startsBehindAll(state: QueueState, run: Run, order: readonly Entry[]): readonly string[] {
  const at = order.findIndex((entry) => run.group.includes(entry.id));
  if (at < 0) return [];
  const group = order.filter((entry) => run.group.includes(entry.id));
  const known = new Set([...run.predecessors, ...run.assumedOut]);
  return predecessorsOf(group, order.slice(0, at), state.mode)
    .filter((entry) => !known.has(entry.id))
    .map((entry) => `${run.id} does not know of PR #${entry.prNumber} ahead of it`);
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
function startsNothingTwice(state: QueueState, run: Run, order: readonly Entry[]): readonly string[] {
  if (run.kind === "TIP") return [];
  return [...state.runs.values()].flatMap((other) => {
    if (other.id === run.id || !other.group.some((id) => run.group.includes(id))) return [];
    const standing = standingOf(state, other, order);
    if (standing.kind === "VOID" || standing.before.join() !== run.predecessors.join()) return [];
    return [`${run.id} tests what ${other.id} tests`];
  });
}

/** A state that needs a run has one, and nobody who is tested is missing from the queue. */
function statesFollowRuns(state: QueueState): readonly string[] {
  const breaches: string[] = [];
  const withRun = new Map<string, Set<Run["phase"]>>();
  for (const run of state.runs.values())
    for (const id of run.group) {
      withRun.set(id, (withRun.get(id) ?? new Set()).add(run.phase));
      if (!state.entries.has(id) && !state.landing?.landed) breaches.push(`${run.id} tests an entry that is gone`);
    }
  for (const entry of state.entries.values()) {
    const phases = withRun.get(entry.id);
    if (entry.state === "TESTING" && !phases?.has("TESTING"))
      breaches.push(`PR #${entry.prNumber} is TESTING without a run`);
    if (entry.state === "TESTS_PASSED" && !phases?.has("PASSED"))
      breaches.push(`PR #${entry.prNumber} is TESTS_PASSED without a run that passed`);
    if (entry.state === "NOT_READY" && phases !== undefined)
      breaches.push(`PR #${entry.prNumber} is NOT_READY and has a run`);
  }
  return breaches;
}
