/** What must hold of a queue at rest: all that follows from the facts has been decided, and what is said of it is true. */
import type { RunId } from "../../../shared/kernel/ids.ts";
import { explain } from "../../../shared/queue/engine/explain.ts";
import { standingOf } from "../../../shared/queue/engine/evidence.ts";
import { Line } from "../../../shared/queue/engine/line.ts";
import type { EndedRun, QueueState, Run } from "../../../shared/queue/engine/types.ts";
import { isOfOtherLane, type Look } from "./judges.ts";
import { isLive, naiveAhead } from "./oracle-line.ts";
import { isStopped, Oracle, sameSet } from "./oracle-plan.ts";

export type Rest = Omit<Look, "before" | "event"> & {
  readonly state: QueueState;
  /** Of all steps since the last rest. */
  readonly started: readonly RunId[];
  readonly ended: readonly EndedRun[];
  readonly hasEnded: boolean;
};

export function judgeRest(rest: Rest): readonly string[] {
  const oracle = new Oracle(rest.state, rest.history, rest.now);
  return [
    ...sameLine(rest, oracle),
    ...sameStandings(rest, oracle),
    ...voidsOnlyTheVoid(rest, oracle),
    ...startsWhatItMay(rest, oracle),
    ...oracle.unstarted().map((group) => `${group.members.join()} may start and does not`),
    ...oracle.unlanded().map((group) => `${group.members.join()} may land and does not`),
    ...oracle.unjudged().map((run) => `the failure of ${run.id} counts and is not judged`),
    ...sameStates(rest, oracle),
    ...passedOnTheTip(rest),
    ...explainsTruly(rest, oracle),
  ];
}

function sameLine({ state }: Rest, oracle: Oracle): readonly string[] {
  const line = new Line(state);
  const shown = (groups: readonly { readonly members: readonly string[] }[]): string =>
    groups.map((group) => group.members.join("+")).join(" ");
  if (shown(line.groups) !== shown(oracle.groups))
    return [`the order is ${shown(oracle.groups)}, and the engine says ${shown(line.groups)}`];
  return line.groups.flatMap((group, at) => {
    const naive = oracle.groups[at];
    const expected = naive === undefined ? [] : oracle.ahead(naive);
    const found = line.predecessorsOf(group);
    const isSame = found.join() === expected.join() && line.hasPredecessors(group) === expected.length > 0;
    return isSame ? [] : [`${group.members.join("+")} depends on ${expected.join()}, the engine says ${found.join()}`];
  });
}

const isHeld = (state: QueueState, run: Run): boolean =>
  run.group.some((id) => state.landing?.group.includes(id) === true);

function sameStandings({ state }: Rest, oracle: Oracle): readonly string[] {
  const line = new Line(state);
  return [...oracle.standings].flatMap(([run, naive]) => {
    if (isHeld(state, run)) return [];
    if (naive.kind === "VOID") return [`${run.id} is kept although ${naive.why}`];
    const found = standingOf(state, run, line);
    if (naive.kind === "EITHER") return [];
    if (found.kind === "VOID") return [`${run.id} is void to the engine: ${found.message}`];
    const isSame = found.before.join() === naive.before.join() && sameSet(found.without, naive.without);
    return isSame ? [] : [`${run.id} waits for ${naive.before.join()} and not for ${found.before.join()}`];
  });
}

/** The engine's words for a run that proves nothing any more. */
const VOIDED =
  /without the rest$|left the queue$|had left out$|does not contain$|moved by somebody else$|together with others now$|ahead changed$|came ahead$|shares impacted targets$/u;

function voidsOnlyTheVoid({ ended, state, hasEnded }: Rest, oracle: Oracle): readonly string[] {
  return ended.flatMap(({ run, why }) => {
    // Whoever came ahead may have been judged in the same breath: then nothing of it can be seen any more.
    if (!VOIDED.test(why) || (hasEnded && /ahead(?: changed)?$/u.test(why))) return [];
    const naive = oracle.standingOf(run);
    return naive.kind === "GOOD" && !isHeld(state, run) ? [`${run.id} was good when it was closed: ${why}`] : [];
  });
}

/** A new run holds what is likeliest, or its opposite in one group, or all where it may clear somebody. */
function startsWhatItMay({ state, started, ended }: Rest, oracle: Oracle): readonly string[] {
  // Whoever gives way takes its failure with it: what was likely because of it was so when the run started.
  const forgotten = new Set(ended.flatMap(({ run, why }) => (why.startsWith("gave up its slot") ? run.group : [])));
  return started.flatMap((id) => {
    const run = state.runs.get(id);
    const naive = run === undefined ? undefined : oracle.standings.get(run);
    const group = oracle.groups.find((one) => one.members.join() === run?.group.join());
    if (run === undefined || run.kind === "TIP" || naive?.kind !== "GOOD" || group === undefined) return [];
    const twin = oracle.runsOf(group).find((other) => {
      const standing = oracle.standings.get(other);
      return other.id !== id && standing?.kind === "GOOD" && sameSet(standing.before, naive.before);
    });
    const out = oracle.likelyOut(group);
    const turned = naiveAhead(state, oracle.groups, group).filter((one) =>
      one.members.some((member) => !forgotten.has(member) && naive.without.includes(member) !== out.includes(member)),
    );
    const maySecond = !group.bisected && turned.length === 1;
    const mayClear = state.config.settings.canOptimisticallyMerge && naive.without.length === 0 && !group.bisected;
    return [
      ...(twin === undefined ? [] : [`${id} tests what ${twin.id} tests`]),
      ...(turned.length === 0 || maySecond || mayClear ? [] : [`${id} assumes what is not likely`]),
    ];
  });
}

function sameStates({ state }: Rest, oracle: Oracle): readonly string[] {
  return [...state.entries.values()].flatMap((entry) => {
    if (!isLive(entry) || oracle.isLanding(entry.id)) return [];
    const naive = oracle.stateOf(entry);
    return naive === undefined || naive === entry.state ? [] : [`#${entry.prNumber} is ${entry.state}, not ${naive}`];
  });
}

/**
 * Whoever has passed did so in a run that holds it, nothing but live ones besides the target, and all of the target
 * that overlaps what it holds.
 */
function passedOnTheTip({ state, world, history }: Rest): readonly string[] {
  const tip = (state.tip === null ? undefined : world.commits.get(state.tip.sha)) ?? [];
  const live = new Map([...state.entries.values()].filter(isLive).map((entry) => [String(entry.headSha), entry]));
  const passed = [...state.runs.values()].filter((run) => run.phase === "PASSED");
  return [...live].flatMap(([head, entry]) => {
    if (entry.state !== "TESTS_PASSED" || state.landing?.group.includes(entry.id) === true) return [];
    const proven = passed.some((run) => {
      const content = world.runs.get(run.id)?.content ?? [];
      const unlanded = content.filter((one) => !tip.includes(one));
      const lacking = tip.filter((one) => !content.includes(one));
      return (
        content.includes(head) &&
        unlanded.every((one) => live.has(one)) &&
        lacking.every((one) => isOfOtherLane(state, history, entry, one))
      );
    });
    return proven ? [] : [`#${entry.prNumber} is TESTS_PASSED, and no run that passed proves it on the tip`];
  });
}

/** Nothing is said to happen in a moment that does not; whoever is waited for is there, and whatever holds it does. */
function explainsTruly({ state, now, decision }: Rest, oracle: Oracle): readonly string[] {
  const order = oracle.groups.flatMap((group) => group.members);
  return [...state.entries.values()].flatMap((entry) => {
    const told = explain(state, entry, now);
    const at = order.indexOf(entry.id);
    const runs = [...state.runs.values()].filter((run) => run.group.includes(entry.id));
    const named = (...phases: readonly Run["phase"][]): boolean =>
      runs.some((run) => phases.includes(run.phase) && new RegExp(`${run.id}\\b`, "u").test(told.summary));
    const wrong: string[] = [];
    if (told.position !== (at < 0 ? null : at + 1)) wrong.push(`position ${told.position} is ${at + 1}`);
    if (entry.state === "TESTING" && !named("TESTING")) wrong.push("the test is not named");
    if (entry.state === "PENDING_FAILURE" && !named("FAILED", "REPEATING")) wrong.push("the failed run is not named");
    for (const { kind, message, prNumber } of told.blockers) {
      if (/in a moment|set anew/u.test(message)) wrong.push(`it says ${message}`);
      if (kind === "BUILDING" && !runs.some((run) => run.phase === "BUILDING")) wrong.push("nothing is built");
      if (kind === "SLOTS" && oracle.freeSlots(oracle.isBisected(entry.id)) > 0) wrong.push("a slot is free");
      if (kind === "TARGET_READ" && state.tipRead === null && state.landing === null) wrong.push("nothing is read");
      if (["INFRASTRUCTURE", "BATCH_FORMING", "SUCCESSOR"].includes(kind) && decision.wakeAt === undefined)
        wrong.push("nothing wakes it");
      if (kind === "PAUSED" && isLive(entry) && !isStopped(state, now, entry)) wrong.push("it is not paused");
      if (kind === "LANDING" && state.landing === null) wrong.push("nothing is landing");
      const other = [...state.entries.values()].find((one) => one.prNumber === prNumber);
      if (prNumber !== null && !isLive(other)) wrong.push(`#${prNumber} is not there`);
      if (["PREDECESSOR", "CONFLICT", "UNDECIDED_PREDECESSORS"].includes(kind) && other !== undefined)
        if (order.indexOf(other.id) >= at) wrong.push(`#${prNumber} is not ahead`);
    }
    return wrong.map((one) => `explanation of #${entry.prNumber} (${entry.state}): ${one}: ${told.summary}`);
  });
}
