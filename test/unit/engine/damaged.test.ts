import { afterEach, describe, expect, it } from "vitest";
import { groupId, treeSha } from "../../../shared/kernel/ids.ts";
import { HOUR_MS, later } from "../../../shared/kernel/time.ts";
import { explain } from "../../../shared/queue/engine/explain.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type { Effect, Entry, QueueEvent, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import {
  aPullRequest,
  aQueue,
  aSubmission,
  aTip,
  id,
  type ScriptedQueue,
  sha,
  status,
  testing,
} from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

/*
 * A queue of which a part was lost, by whatever hand, still answers for the rest: the engine throws for no input, and
 * its steps come to an end. What it decides then is nobody's promise, but that nothing lands that was not built.
 */

const OPTIMISTIC: Partial<Settings> = { canOptimisticallyMerge: true, pendingFailureDepth: 2, retriesBeforeFailure: 0 };
const BATCHES: Partial<Settings> = { batch: true, batchingMinSize: 3, retriesBeforeFailure: 0 };
const batched = (change: Partial<Settings> = {}): ScriptedQueue =>
  aQueue({ ...BATCHES, ...change })
    .opens()
    .submits(1, 2, 3)
    .builds(1);

const queues: Readonly<Record<string, () => ScriptedQueue>> = {
  "in one lane": () => testing([1, 2, 3], { concurrency: 3 }).submits(4).passes(3).fails(2),
  "in lanes": () =>
    aLanedQueue().opens().brings(1, "a").brings(2, "a b").brings(3, "b").builds(1, 2, 3).passes(3).fails(1),
  "in lanes, being compared": () =>
    aLanedQueue()
      .opens()
      .brings(1, "a")
      .brings(2, "b")
      .asks(2, { targets: { kind: "ALL" } })
      .submits(3),
  "that lands": () => testing([1, 2]).passes(1, 2),
  "that lands two by one test": () => testing([1, 2, 3], OPTIMISTIC).passes(2),
  "whose landing broke": () => testing([1, 2]).passes(1).refuses({ kind: "INFRASTRUCTURE", what: "502" }),
  "that waits for a successor": () => testing([1, 2, 3], OPTIMISTIC).fails(1),
  "whose batch forms": () =>
    aQueue({ ...BATCHES, batchingMinSize: 4 })
      .opens()
      .submits(1, 2, 3),
  "whose batch forms in lanes": () =>
    aLanedQueue({ ...BATCHES, batchingMinSize: 4 })
      .opens()
      .brings(1, "a")
      .brings(2, "a b")
      .brings(3, "c"),
  "whose batches form under load": () =>
    aQueue({ ...BATCHES, batchingMaxWaitTimeMinutes: 0, concurrency: 1 })
      .opens()
      .submits(1, 2, 3),
  "with a batch that is tested": () => batched().fails(1),
  "with a batch that waits for its bisection": () => batched({ optimizationMode: "OFF" }).submits(4, 5, 6).fails(1),
  "with all parts of a batch": () =>
    batched({ optimizationMode: "BISECTION_SKIP_REDUNDANT_TESTS", retriesBeforeFailure: 1 }).fails(1).builds(1),
  "that merges directly": () => {
    const own = { tip: sha("T0"), tree: treeSha("tree"), statuses: [status("unit", "SUCCESS")] };
    return aQueue({ directMergeMode: "ALWAYS" })
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { own }) })
      .submits(2);
  },
  "whose tip is tested": () =>
    testing([1, 2])
      .passes(1)
      .lands({ onMovedTip: true, tip: aTip("X") }),
  "that has lost its target": () => testing([1]).event({ type: "news", prNumbers: [1], tip: { sha: null } }),
  "with a conflict": () =>
    aQueue()
      .opens()
      .submits(1, 2, 3)
      .cannotBuild(3, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] }),
  "that is not ready": () => aQueue().opens().submitsWith(1, { pr: null, factsAt: null }).submits(2).breaks(2),
};

const ENTRY: readonly Partial<Entry>[] = [
  { pr: null },
  { headSha: null },
  { lane: null },
  { targets: null },
  { lane: null, targets: null },
  { place: null },
  { group: null },
  { group: groupId("lost") },
  { admittedAt: null },
  { conflictsWith: "e99" as never },
  { state: "NOT_READY" },
  { state: "PENDING" },
  { state: "PENDING_FAILURE" },
  { state: "TESTING" },
  { state: "TESTS_PASSED" },
];
const RUN: readonly Partial<Run>[] = [
  { commit: null },
  { tree: null },
  { group: [] },
  { group: ["e99" as never] },
  { predecessors: ["e99" as never] },
  { assumedOut: ["e99" as never] },
  { failure: null },
  { statuses: [] },
  { phase: "FAILED", failure: null },
  { phase: "PASSED" },
  { landingsBefore: 7 },
  { kind: "TIP" },
];

const STEPS_MAX = 20;
const WAKE = { type: "wake" } as const;

function* damagedQueues(state: QueueState): Generator<QueueState> {
  yield { ...state, tip: null };
  yield { ...state, landing: null };
  yield { ...state, lineage: [] };
  yield { ...state, bisections: [] };
  yield { ...state, bisections: [{ group: groupId("lost"), parts: [{ members: [], depth: 0 }] }] };
  yield { ...state, bisections: state.bisections.map((one) => ({ ...one, parts: [] })) };
  yield { ...state, mode: state.mode === "SINGLE" ? "PARALLEL" : "SINGLE" };
  yield { ...state, untold: [{ entries: [id(99)], reason: "BISECTED", message: "", cause: "", run: null }] };
  if (state.landing !== null) {
    yield { ...state, landing: { ...state.landing, run: "q-99" as never } };
    yield { ...state, landing: { ...state.landing, run: null } };
    yield { ...state, landing: { ...state.landing, group: [] } };
    yield { ...state, landing: { ...state.landing, group: [id(99)] } };
    yield { ...state, landing: { ...state.landing, group: [id(99)], landed: true } };
    yield { ...state, landing: { ...state.landing, group: [id(99), ...state.landing.group], refused: "no" } };
  }
  for (const [key, entry] of state.entries) {
    yield { ...state, entries: new Map([...state.entries].filter(([other]) => other !== key)) };
    for (const change of ENTRY)
      yield { ...state, entries: new Map([...state.entries, [key, { ...entry, ...change }]]) };
  }
  for (const [key, run] of state.runs) {
    yield { ...state, runs: new Map([...state.runs].filter(([other]) => other !== key)) };
    for (const change of RUN) yield { ...state, runs: new Map([...state.runs, [key, { ...run, ...change }]]) };
  }
}

function eventsFor({ runs, landing, tipRead }: QueueState): readonly QueueEvent[] {
  const of = landing?.id ?? "q-1.1";
  const done = { type: "landed", landing: of, tip: aTip("T9"), trees: "EQUAL", onMovedTip: false } as const;
  const first = [...runs.keys()][0] ?? ("q-1" as never);
  return [
    WAKE,
    { ...done, entries: landing?.group ?? [id(1)] },
    { type: "not-landed", landing: of, why: { kind: "CONFLICT", what: "a.txt" } },
    { type: "not-landed", landing: of, why: { kind: "REFUSED", what: "no" } },
    { type: "tip", read: tipRead ?? 0, tip: aTip("T9"), reached: [sha("head2")] },
    { type: "news", prNumbers: [1, 2], tip: { sha: null } },
    { type: "statuses", run: first, repeats: 0, statuses: [], complete: true, readAt: null },
    { type: "run-not-built", run: first, why: { kind: "CONFLICT", entry: id(2), with: null, paths: [] } },
    { type: "asked", entry: id(1), asked: { cancel: { by: "ann", at: 0 as never } } },
  ];
}

describe.each(Object.keys(queues))("a queue %s that was damaged", (name) => {
  it("is still decided and explained", () => {
    const queue = queues[name]?.() ?? aQueue();
    const now = later(queue.now, HOUR_MS);
    const tellings = new Set<string>();
    const sent: Extract<Effect, { type: "land" }>[] = [];
    const events = eventsFor(queue.state);
    for (const [at, damaged] of [...damagedQueues(queue.state)].entries()) {
      const event = events[at % events.length] ?? WAKE;
      const decision = step(damaged, event, now);
      let { state, more } = decision;
      sent.push(...decision.effects.filter((effect) => effect.type === "land"));
      for (let count = 0; more; count += 1) {
        if (count === STEPS_MAX) throw new Error(`no end of steps after ${event.type}`);
        ({ state, more } = step(state, WAKE, now));
      }
      for (const entry of state.entries.values()) tellings.add(explain(state, entry, now).summary);
    }
    expect(tellings).not.toContain("");
    expect(sent.filter((effect) => ![effect.commit, effect.tree, effect.expectedTip].every(Boolean))).toEqual([]);
  });
});

describe("a pull request that is not known any more", () => {
  it("changes nothing, whatever is told of it", () => {
    const { state, now } = testing([1]);
    const facts = aPullRequest(9);
    const told: readonly QueueEvent[] = [
      { type: "asked", entry: id(9), asked: { restart: { by: "ann", at: now } } },
      { type: "pull-request", prNumber: 9, facts, readAt: now },
      { type: "pull-request-unknown", prNumber: 9, kind: "NOT_FOUND", what: "?" },
      { type: "targets-compared", entry: id(9), number: 1, overlaps: [], isolated: false },
      { type: "submitted", entry: aSubmission(1, now) },
      { type: "run-broken", run: "q-9" as never, what: "?" },
      { type: "landed", landing: "q-1.1", tip: aTip("T9"), trees: "EQUAL", entries: [], onMovedTip: false },
      { type: "not-landed", landing: "q-1.1", why: { kind: "TIP_MOVED" } },
    ];
    for (const event of told) expect(step(state, event, now).state).toEqual(state);
  });
});
