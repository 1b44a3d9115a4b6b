/**
 * Queues of up to six entries, made up and not played: any order, overlaps, batches, and runs on any assumptions. What
 * the engine makes of each is held against the oracle, which tries everything.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitSha, type EntryId, entryId, groupId, type RunId, runId, treeSha } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { breachesOf } from "../../../shared/queue/engine/invariants.ts";
import { Line } from "../../../shared/queue/engine/line.ts";
import { newEntry } from "../../../shared/queue/engine/new-entry.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type { EndedRun, Entry, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { aPullRequest, aState, aSubmission, aTip, START, status } from "../../support/queue.ts";
import { History } from "./history.ts";
import { type Names, shareOne, someNames, targetsOf } from "./names.ts";
import { type NaiveGroup, naiveGroups, naivePredecessors } from "./oracle-line.ts";
import { Oracle } from "./oracle-plan.ts";
import { judgeRest } from "./rest.ts";
import { settings } from "./settings.ts";
import { World } from "./world.ts";

const runs = 8 * Number(process.env["PROPERTY_RUNS"] ?? 160);
const NOW = epochMs(START + 60_000);

type Sketch = {
  readonly impact: number;
  readonly place: number | null;
  readonly priority: number;
  readonly submittedAt: number;
  readonly batch: number;
  readonly noBatch: boolean;
  readonly opponent: number;
};
/** Of which group, on which of those ahead, and how far. */
type RunSketch = {
  readonly group: number;
  readonly on: number;
  readonly phase: Run["phase"];
  readonly repeats: number;
};

const sketch: fc.Arbitrary<Sketch> = fc.record({
  impact: fc.nat(120),
  place: fc.option(fc.nat(20)),
  priority: fc.constantFrom(0, 50, 100, 100, 100),
  submittedAt: fc.nat(3),
  batch: fc.nat(5),
  noBatch: fc.nat(5).map((at) => at === 0),
  opponent: fc.nat(30),
});
const runSketch: fc.Arbitrary<RunSketch> = fc.record({
  group: fc.nat(5),
  on: fc.nat(63),
  phase: fc.constantFrom("BUILDING" as const, "TESTING" as const, "PASSED" as const, "FAILED" as const),
  repeats: fc.nat(3),
});

const headOf = (number: number): string => `${number}@1`;

function anEntry(
  { impact, priority, submittedAt, noBatch, opponent, ...sketched }: Sketch,
  at: number,
  all: readonly Sketch[],
): Entry {
  const number = at + 1;
  const names = someNames(impact);
  const overlaps = all.flatMap((other, index) =>
    index < at && !isKind(names) && !isKind(someNames(other.impact)) && shareOne(names, someNames(other.impact))
      ? [index + 1]
      : [],
  );
  const group = sketched.batch < 2 && priority > 0 ? groupId(`batch-${sketched.batch}`) : null;
  const waits = opponent < 6 && opponent !== at && opponent < all.length && group === null;
  const pr = aPullRequest(number, { headSha: commitSha(headOf(number)), judgedOn: commitSha("base") });
  const submission = aSubmission(number, epochMs(START + submittedAt), { pr, noBatch, targets: targetsOf(names) });
  return {
    ...newEntry({ ...submission, priority: { value: priority, byDefault: false } }, 0),
    state: "PENDING",
    admittedAt: START,
    place: placeOf(sketched, at, group !== null),
    group,
    // Whoever conflicts with another has left its batch.
    conflictsWith: waits ? entryId(`e${opponent + 1}`) : null,
    lane: { number, overlaps, since: 0, isolated: false },
  };
}

/** Two never have the same; and members of a batch have theirs next to each other. */
function placeOf({ place, batch }: Pick<Sketch, "place" | "batch">, at: number, isInBatch: boolean): number | null {
  if (isInBatch) return (batch * 9 + 2) * 10 + at;
  const isBatchs = place === 2 || place === 11;
  return place === null || isBatchs ? null : place * 10 + at;
}

/** What overlaps all or nobody is not compared. */
const isKind = (names: Names): boolean => names === "ALL" || names.length === 0;

function aRun(state: QueueState, groups: readonly NaiveGroup[], sketched: RunSketch, at: number): Run | undefined {
  const group = groups[sketched.group % Math.max(1, groups.length)];
  if (group === undefined) return undefined;
  const ahead = naivePredecessors(state, groups, group);
  const isIn = (_: EntryId, index: number): boolean => ((sketched.on >> index) & 1) === 0;
  const { phase, repeats } = sketched;
  const id = runId(`q-${at + 1}`);
  const isOver = phase === "PASSED" || phase === "FAILED";
  return {
    id,
    kind: group.bisected ? "BISECTION" : "MAIN",
    group: group.members,
    predecessors: ahead.filter(isIn),
    assumedOut: ahead.filter((one, index) => !isIn(one, index)),
    base: commitSha("base"),
    landingsBefore: 0,
    phase,
    branch: `mainline/${id}`,
    commit: phase === "BUILDING" ? null : commitSha(`commit-${id}`),
    tree: phase === "BUILDING" ? null : treeSha(`tree-${id}`),
    required: ["unit"],
    requiredSource: "CONFIG_FILE",
    startedAt: START,
    testingSince: START,
    deadline: null,
    lateRead: "NONE",
    statuses: isOver ? [status("unit", phase === "PASSED" ? "SUCCESS" : "FAILURE")] : [],
    complete: isOver,
    repeats: phase === "FAILED" ? repeats : 0,
    failure: phase === "FAILED" ? { kind: "CHECKS", contexts: ["unit"] } : null,
    endedAt: isOver ? START : null,
  };
}

function aQueueOf(chosen: Partial<Settings>, sketches: readonly Sketch[], cutAt: number): QueueState {
  const entries = new Map(sketches.map((one, at) => [entryId(`e${at + 1}`), anEntry(one, at, sketches)]));
  const blank = aState({ ...chosen, directMergeMode: "OFF" });
  const state = { ...blank, tip: aTip("base"), entries, nextPlace: 1000, nextRun: 100, nextTargets: 100 };
  if (cutAt > 5) return state;
  // One of the batches is being taken apart.
  const groups = naiveGroups(state);
  const whole = groups.find(({ members }) => members.length > 1);
  const group = entries.get(whole?.members[0] ?? entryId("none"))?.group ?? null;
  if (whole === undefined || group === null) return state;
  const at = 1 + (cutAt % (whole.members.length - 1));
  const parts = [whole.members.slice(0, at), whole.members.slice(at)].map((members) => ({ members, depth: 1 }));
  return { ...state, bisections: [{ group, parts }] };
}

const queued = [settings, fc.array(sketch, { minLength: 1, maxLength: 6 }), fc.nat(11)] as const;

function withRuns(state: QueueState, sketches: readonly RunSketch[]): QueueState {
  const groups = naiveGroups(state);
  const found = new Map<RunId, Run>();
  for (const [at, sketched] of sketches.entries()) {
    const run = aRun(state, groups, sketched, at);
    const same = (other: Run): boolean =>
      other.group.join() === run?.group.join() && other.assumedOut.join() === run.assumedOut.join();
    const all = [...(run?.predecessors ?? []), ...(run?.group ?? [])];
    const cannotBe = all.some((id) => all.includes(state.entries.get(id)?.conflictsWith ?? entryId("none")));
    if (run !== undefined && !cannotBe && ![...found.values()].some(same)) found.set(run.id, run);
  }
  return { ...state, runs: found };
}

describe("a queue of up to six", () => {
  it("stands in the order of the rules, and each depends on whom they say", () => {
    fc.assert(
      fc.property(...queued, fc.nat(7), fc.boolean(), (chosen, sketches, cutAt, landing, landed) => {
        const state = aQueueOf(chosen, sketches, cutAt);
        const group = [...state.entries.keys()].filter((_, at) => at === landing);
        const sent = {
          id: "l",
          of: "l",
          run: null,
          commit: commitSha("c"),
          tree: treeSha("t"),
          base: commitSha("base"),
        };
        const rest = { expectedTip: commitSha("base"), attempt: 1, sentAt: START, landed, trouble: null };
        const queue = group.length === 0 ? state : { ...state, landing: { ...sent, ...rest, group } };
        const line = new Line(queue);
        const groups = naiveGroups(queue);
        expect(line.groups.map((one) => one.members)).toEqual(groups.map((one) => one.members));
        expect(line.groups.map((one) => one.isBisected)).toEqual(groups.map((one) => one.bisected));
        for (const [at, one] of line.groups.entries()) {
          const naive = groups[at];
          const ahead = naive === undefined ? [] : naivePredecessors(queue, groups, naive);
          expect(line.predecessorsOf(one)).toEqual(ahead);
          expect([...line.eachPredecessor(one)]).toEqual(ahead);
          expect(line.hasPredecessors(one)).toBe(ahead.length > 0);
          for (const other of line.groups) {
            expect(line.dependsOn(one, other)).toBe(other.members.every((id) => ahead.includes(id)));
            expect(line.dependentsOf(other).includes(one)).toBe(line.dependsOn(one, other));
          }
        }
      }),
      { numRuns: runs },
    );
  });

  it("with any runs comes to rest where nothing is left that may start, land or be judged, and nothing has that may not", () => {
    fc.assert(
      fc.property(...queued, fc.array(runSketch, { maxLength: 5 }), (chosen, sketches, cutAt, started) => {
        expect(restOf(withRuns(aQueueOf(chosen, sketches, cutAt), started))).toEqual([]);
      }),
      { numRuns: runs },
    );
  });
});

/** Steps until nothing more is due, and everything that is wrong then or on the way. */
function restOf(made: QueueState): readonly string[] {
  const world = new World();
  for (const run of made.runs.values())
    world.runs.set(run.id, {
      content: ["base", ...[...run.predecessors, ...run.group].map((id) => String(made.entries.get(id)?.headSha))],
      statuses: new Map(),
      repeats: run.repeats,
    });
  const history = new History();
  const problems: string[] = [];
  const started: RunId[] = [];
  const ended: EndedRun[] = [];
  let hasEnded = false;
  for (let state = made, steps = 0; steps < 50; steps += 1) {
    const decision = step(state, { type: "wake" }, NOW);
    problems.push(...breachesOf(state, decision, NOW));
    history.record(state, { type: "wake" }, decision);
    for (const run of decision.state.runs.keys()) if (!state.runs.has(run)) started.push(run);
    ended.push(...decision.endedRuns);
    hasEnded ||= decision.endedEntries.length > 0;
    state = decision.state;
    if (decision.more) continue;
    const rest = { decision, state, world, history, now: NOW, started, ended, hasEnded };
    return [...problems, ...judgeRest(rest)];
  }
  return [...problems, "no end of steps"];
}

describe("the oracle itself", () => {
  it("finds what is wrong in a queue that has not been decided", () => {
    const sketched: Sketch = {
      impact: 2,
      place: null,
      priority: 100,
      submittedAt: 0,
      batch: 5,
      noBatch: true,
      opponent: 30,
    };
    const state = aQueueOf({ mode: "SINGLE" }, [sketched, sketched], 11);
    const groups = new Oracle(state, new History(), NOW).unstarted().map((group) => group.members);
    expect(groups).toEqual([[entryId("e1")], [entryId("e2")]]);
    const passed = withRuns(state, [{ group: 0, on: 0, phase: "PASSED", repeats: 0 }]);
    expect(new Oracle(passed, new History(), NOW).unlanded().map((group) => group.members)).toEqual([[entryId("e1")]]);
    const failed = withRuns(state, [{ group: 0, on: 0, phase: "FAILED", repeats: 3 }]);
    const failing = new Map(
      [...failed.entries].map(([id, one]) => [id, { ...one, state: "PENDING_FAILURE" as const }]),
    );
    const unjudged = new Oracle({ ...failed, entries: failing }, new History(), NOW).unjudged();
    expect(unjudged.map((run) => run.id)).toEqual([runId("q-1")]);
  });
});
