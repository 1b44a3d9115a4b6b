import { afterEach, describe, expect, it } from "vitest";
import { commitSha, entryId, type RunId, runId } from "../../../shared/kernel/ids.ts";
import { breachesOf, unexplained } from "../../../shared/queue/engine/invariants.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type { Decision, Effect, Entry, Move, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, id, run, type ScriptedQueue, sha, status, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

/*
 * Decisions that no engine makes: each is forged from one that was made, and every promise must speak up by itself.
 */

const nothing = { type: "wake" } as const;

/** A decision that changes nothing, from the queue as it is. */
const decided = (queue: ScriptedQueue): Decision => step(queue.state, nothing, queue.now);

/** The same with another outcome. */
const forged = (queue: ScriptedQueue, change: Partial<QueueState>, effects: readonly Effect[] = []): Decision => {
  const decision = decided(queue);
  return { ...decision, effects, state: { ...decision.state, ...change } };
};

const breaches = (queue: ScriptedQueue, decision: Decision, before: QueueState = queue.state): readonly string[] =>
  breachesOf(before, decision, queue.now);

const withRun = (state: QueueState, name: RunId, change: Partial<Run>): ReadonlyMap<RunId, Run> =>
  new Map([...state.runs].map(([key, one]) => [key, key === name ? { ...one, ...change } : one]));

const withEntry = (state: QueueState, number: number, change: Partial<Entry>): QueueState["entries"] =>
  new Map([...state.entries].map(([key, one]) => [key, key === id(number) ? { ...one, ...change } : one]));

type Land = Extract<Effect, { type: "land" }>;

describe("what lands", () => {
  /** #1 has just been sent to land by its run. */
  const landing = (settings: Partial<Settings> = {}) => testing([1, 2], settings).passes(1);
  const sent = (queue: ScriptedQueue): Land => {
    const effect = queue.effect("land");
    if (effect === undefined) throw new Error("nothing lands");
    return effect;
  };
  const judged = (queue: ScriptedQueue, change: Partial<QueueState> = {}, land: Partial<Land> = {}) =>
    breaches(queue, forged(queue, change, [{ ...sent(queue), ...land }]));

  it("is right as it is", () => expect(judged(landing())).toEqual([]));

  it.each<[string, Partial<Land>]>([
    ["the tip is another one", { expectedTip: commitSha("T9") }],
    ["the commit is not the tested one", { commit: commitSha("other") }],
    ["it is not what was tested", { changes: [] }],
  ])("not when %s", (said, land) => {
    expect(judged(landing(), {}, land)).toEqual([`land:q-1.1: ${said}`]);
  });

  it("not by a run that is not there", () => {
    expect(judged(landing(), {}, { run: runId("q-9") })).toContain("land:q-1.1: its run has not passed");
  });

  it.each<[string, (queue: ScriptedQueue) => Partial<QueueState>]>([
    ["its run has not passed", ({ state }) => ({ runs: withRun(state, run(1), { phase: "TESTING" }) })],
    [
      "its evidence is void (the target branch was moved by somebody else)",
      ({ state }) => ({ runs: withRun(state, run(1), { base: commitSha("T-old") }) }),
    ],
    ["nothing is required", ({ state }) => ({ tip: state.tip === null ? null : { ...state.tip, required: null } })],
    [
      "lint did not pass",
      ({ state }) => ({
        config: { ...state.config, settings: { ...state.config.settings, requiredStatuses: ["unit", "lint"] } },
      }),
    ],
    [
      "the queue is held",
      ({ state, now }) => ({ holds: [{ kind: "LANDING_MISMATCH", since: now, detail: "" }], landing: state.landing }),
    ],
    ["not all of it has passed", ({ state }) => ({ entries: withEntry(state, 1, { state: "PENDING" }) })],
  ])("not when %s", (said, change) => {
    const queue = landing();
    expect(judged(queue, change(queue))).toContain(`land:q-1.1: ${said}`);
  });

  it("not what holds one ahead that is still live, unless the queue merges optimistically", () => {
    const queue = testing([1, 2]).passes(2);
    const landing = sentBy(queue, 2, 1, 2);
    const land: Land = { ...landOf(queue, 2), changes: changes(1, 2) };
    const passed = {
      landing,
      entries: withEntry(queue.state, 1, { state: "TESTS_PASSED" as const }),
      runs: withRun(queue.state, run(1), { phase: "PASSED" }),
    };
    expect(breaches(queue, forged(queue, passed, [land]))).toEqual([`${land.key}: predecessors are still live`]);
    const settings = { ...queue.state.config.settings, canOptimisticallyMerge: true };
    const optimistic = { ...passed, config: { ...queue.state.config, settings } };
    expect(breaches(queue, forged(queue, optimistic, [land]))).toEqual([]);
    expect(breaches(queue, forged(queue, { ...optimistic, entries: queue.state.entries }, [land]))).toContain(
      `${land.key}: not all of it has passed`,
    );
    const again = { ...passed, landing: landing === null ? null : { ...landing, attempt: 2 } };
    expect(breaches(queue, forged(queue, again, [land]))).toEqual([]);
  });

  it("not what left out one ahead that is still live", () => {
    const queue = testing([1, 2]).passes(2);
    const land: Land = { ...landOf(queue, 2), changes: changes(2) };
    const runs = withRun(queue.state, run(2), { predecessors: [], assumedOut: [id(1)] });
    const landing = sentBy(queue, 2, 7);
    expect(breaches(queue, forged(queue, { landing, runs }, [land]))).toEqual([
      `${land.key}: predecessors that it left out are still live`,
    ]);
  });

  it("again when it may have landed, whatever has been braked or required since", () => {
    const queue = landing().turns("PAUSED").refuses({ kind: "INFRASTRUCTURE", what: "502" }).sleeps();
    expect(queue.state.landing?.attempt).toBe(2);
    expect(judged(queue)).toEqual([]);
    const config = { ...queue.state.config, settings: { ...queue.state.config.settings, requiredStatuses: ["lint"] } };
    expect(judged(queue, { config })).toEqual([]);
  });

  it("directly only what is one pull request, green, at its head, and where the queue does so", () => {
    const own = { tip: sha("T0"), tree: sha("tree") as never, statuses: [status("unit", "SUCCESS")] };
    const queue = aQueue({ directMergeMode: "ALWAYS" })
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { own }) });
    expect(judged(queue)).toEqual([]);
    const unproven = ["land:direct-e1.1: its own statuses do not prove it"];
    expect(judged(queue, {}, { commit: sha("other") })).toEqual(unproven);
    const settings = { ...queue.state.config.settings, directMergeMode: "OFF" } as const;
    expect(judged(queue, { config: { ...queue.state.config, settings } })).toEqual(unproven);
    const red = withEntry(queue.state, 1, { pr: aPullRequest(1, { own: { ...own, statuses: [] } }) });
    expect(judged(queue, { entries: red })).toEqual(unproven);
    const single = ["land:direct-e1.1: a direct merge is of one pull request"];
    expect(judged(queue, {}, { changes: changes(1, 2) })).toEqual(single);
    expect(judged(queue, {}, { changes: changes(7) })).toEqual(single);
    const again = queue.state.landing === null ? null : { ...queue.state.landing, attempt: 2 };
    expect(judged(queue, { entries: red, landing: again })).toEqual([]);
    expect(judged(queue, { entries: withEntry(queue.state, 1, { state: "TESTS_PASSED" }) })).toContain(
      "land:direct-e1.1: not all of it has passed",
    );
  });
});

const changes = (...numbers: readonly number[]): Land["changes"] =>
  numbers.map((number) => ({
    entry: id(number),
    prNumber: number,
    headSha: sha(`head${number}`),
    title: "",
    author: { name: "", email: "" },
    date: testing([1]).now,
  }));

const landOf = (queue: ScriptedQueue, number: number): Land => {
  const { id: of, commit, tree, base } = queue.run(number);
  if (commit === null || tree === null) throw new Error("not built");
  const key = `land:${of}.1`;
  const expectedTip = queue.state.tip?.sha ?? base;
  return {
    type: "land",
    key,
    landing: `${of}.1`,
    run: of,
    commit,
    tree,
    base,
    expectedTip,
    changes: [],
    mergeMethod: "SQUASH",
  };
};

const sentBy = (queue: ScriptedQueue, number: number, ...group: readonly number[]): QueueState["landing"] => {
  const { landing, run: of, commit, tree, base, expectedTip } = landOf(queue, number);
  const shared = { id: landing, of: `${of}`, run: of, group: group.map(id), commit, tree, base, expectedTip };
  return { ...shared, attempt: 1, sentAt: queue.now, landed: false, trouble: null };
};

describe("slots", () => {
  const started = (queue: ScriptedQueue, kind: Run["kind"], name = "q-99"): QueueState["runs"] => {
    const one = [...queue.state.runs.values()].at(-1);
    if (one === undefined) throw new Error("no run");
    const extra: Run = {
      ...one,
      id: runId(name),
      kind,
      group: kind === "TIP" ? [] : [id(9)],
      predecessors: [],
      phase: "BUILDING",
    };
    return new Map([...queue.state.runs, [extra.id, extra]]);
  };
  const full = "more test runs than slots in the main lane";

  it("of the main lane are kept; a test of the tip takes one, a bisection none", () => {
    const queue = testing([1, 2], { concurrency: 2 });
    expect(breaches(queue, forged(queue, { runs: started(queue, "MAIN") }))).toContain(full);
    expect(breaches(queue, forged(queue, { runs: started(queue, "TIP") }))).toEqual([full]);
    expect(breaches(queue, forged(queue, { runs: started(queue, "BISECTION") }))).not.toContain(full);
  });

  it("of bisections are kept", () => {
    const queue = testing([1, 2], { bisectionConcurrency: 0 });
    expect(breaches(queue, forged(queue, { runs: started(queue, "BISECTION") }))).toContain(
      "more bisection runs than slots",
    );
    const one = testing([1, 2], { bisectionConcurrency: 1 });
    expect(breaches(one, forged(one, { runs: started(one, "BISECTION") }))).not.toContain(
      "more bisection runs than slots",
    );
  });

  it("that were taken away stop nothing, and a run that goes on was started long ago", () => {
    const queue = testing([1, 2], { concurrency: 2 }).sets({ concurrency: 1 });
    expect(breaches(queue, decided(queue))).toEqual([]);
    const failing = testing([1, 2], { concurrency: 1 });
    const before = { ...failing.state, runs: withRun(failing.state, run(1), { phase: "FAILED" }) };
    expect(breaches(failing, decided(failing), before)).toEqual([]);
    const repeated = { ...failing.state, runs: withRun(failing.state, run(1), { phase: "REPEATING" }) };
    const two = new Map([...repeated.runs, ...started(failing, "TIP")]).set(run(1), {
      ...failing.run(1),
      phase: "REPEATING",
    });
    expect(breaches(failing, forged(failing, { runs: two }), before)).toContain(full);
  });

  it("a passed or failed run holds none", () => {
    const queue = testing([1, 2], { concurrency: 1 });
    const runs = started(queue, "TIP");
    for (const phase of ["PASSED", "FAILED"] as const)
      expect(
        breaches(queue, forged(queue, { runs: withRun({ ...queue.state, runs }, runId("q-99"), { phase }) })),
      ).toEqual([]);
  });
});

describe("a run that is started", () => {
  /** #1 is being tested and #2 waits; then a run of #2 is forged. */
  const waiting = () => testing([1, 2], { concurrency: 1 });
  const forgedRun = (queue: ScriptedQueue, change: Partial<Run>): Decision => {
    const one = queue.run(1);
    const group = [id(2)];
    const made: Run = { ...one, id: runId("q-9"), group, predecessors: [id(1)], phase: "BUILDING", ...change };
    const settings = { ...queue.state.config.settings, concurrency: 9 };
    return forged(queue, {
      config: { ...queue.state.config, settings },
      runs: new Map([...queue.state.runs, [made.id, made]]),
    });
  };
  const said = (change: Partial<Run>, queue = waiting()) => breaches(queue, forgedRun(queue, change));

  it("is right as it is", () => expect(said({})).toEqual([]));

  it("knows of everybody ahead", () => {
    expect(said({ predecessors: [] })).toEqual(["q-9 does not know of PR #1 ahead of it"]);
    expect(said({ predecessors: [], assumedOut: [id(1)] })).toEqual([]);
  });

  it("in another lane need not", () => {
    const queue = aLanedQueue({ concurrency: 1 }).opens().brings(1, "a").brings(2, "b");
    expect(said({ predecessors: [] }, queue)).toEqual([]);
  });

  it("tests a group of the queue, in the slots of its kind", () => {
    expect(said({ group: [id(1), id(2)], predecessors: [] })).toContain("q-9 does not test a group of the queue");
    expect(said({ group: [entryId("gone")], predecessors: [] })).toContain("q-9 does not test a group of the queue");
    expect(said({ group: [], predecessors: [] })).toContain("q-9 does not test a group of the queue");
    expect(said({ kind: "BISECTION" })).toEqual(["q-9 takes a slot of the other lane"]);
  });

  it("tests nothing that is tested already", () => {
    const queue = waiting();
    const same = { group: [id(1)], predecessors: [] };
    expect(said(same, queue)).toEqual(["q-9 tests what q-1 tests"]);
    expect(said({ ...same, assumedOut: [] }, queue.fails(1))).toEqual(["q-9 tests what q-1 tests"]);
  });

  it("waits while the queue is paused", () => {
    const queue = waiting().turns("PAUSED");
    expect(said({}, queue)).toEqual(["q-9 started while the queue is PAUSED"]);
    expect(said({}, waiting().turns("DRAINING"))).toEqual([]);
  });

  it("that tests the tip is none of this", () => {
    const queue = waiting().turns("PAUSED");
    expect(said({ kind: "TIP", group: [], predecessors: [] }, queue)).toEqual([]);
  });
});

describe("states", () => {
  it("somebody is admitted only while the queue admits", () => {
    const queue = aQueue().opens().turns("DRAINING").submits(1);
    const admitted = { entries: withEntry(queue.state, 1, { state: "PENDING" as const }) };
    expect(breaches(queue, forged(queue, admitted))).toEqual(["PR #1 was admitted while DRAINING"]);
    const open = aQueue()
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { draft: true }) });
    expect(breaches(open, forged(open, { entries: withEntry(open.state, 1, { state: "PENDING" }) }))).toEqual([]);
    const before = { ...queue.state, entries: new Map() };
    expect(breaches(queue, forged(queue, admitted), before)).toEqual(["PR #1 was admitted while DRAINING"]);
    const known = testing([1]).turns("DRAINING");
    expect(breaches(known, decided(known))).toEqual([]);
  });

  it("are those of the runs", () => {
    const queue = testing([1]);
    const as = (state: Entry["state"], phase: Run["phase"]) =>
      breaches(
        queue,
        forged(queue, { entries: withEntry(queue.state, 1, { state }), runs: withRun(queue.state, run(1), { phase }) }),
      );
    expect(as("TESTING", "TESTING")).toEqual([]);
    expect(as("TESTING", "PASSED")).toEqual(["PR #1 is TESTING without a run"]);
    expect(as("TESTS_PASSED", "TESTING")).toEqual(["PR #1 is TESTS_PASSED without a run that passed"]);
    expect(as("TESTS_PASSED", "PASSED")).toEqual([]);
    expect(as("NOT_READY", "TESTING")).toContain("PR #1 is NOT_READY and has a run");
    const none = { entries: withEntry(queue.state, 1, { state: "TESTING" as const }), runs: new Map() };
    expect(breaches(queue, forged(queue, none))).toEqual(["PR #1 is TESTING without a run"]);
    const untold = [{ entries: [id(1)], reason: "NO_VERDICT", message: "", cause: "queue", run: null } as const];
    expect(breaches(queue, forged(queue, { ...none, untold }))).toEqual([]);
  });

  it("may be passed by the pass of a successor", () => {
    const queue = testing([1, 2], { canOptimisticallyMerge: true, pendingFailureDepth: 1 }).turns("PAUSED").passes(2);
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED", 2: "TESTS_PASSED" });
    expect(breaches(queue, decided(queue))).toEqual([]);
  });

  it("nobody is tested who is not in the queue, but for those who have landed just now", () => {
    const queue = testing([1, 2]);
    const entries = new Map([...queue.state.entries].filter(([key]) => key !== id(2)));
    expect(breaches(queue, forged(queue, { entries }))).toEqual(["q-2 tests an entry that is gone"]);
    const landing = sentBy(testing([1, 2]).passes(1), 1, 1);
    if (landing === null) throw new Error("nothing lands");
    const landed = { entries, landing: { ...landing, landed: true } };
    expect(breaches(queue, forged(queue, landed))).toEqual([]);
    expect(breaches(queue, forged(queue, { entries, landing }))).toContain("q-2 tests an entry that is gone");
  });

  it("follow one another by the table", () => {
    const queue = testing([1]);
    const move = { prNumber: 1, from: "MERGED", to: "PENDING", reason: "ADMITTED" } as Move;
    const decision = { ...decided(queue), moves: [move, { ...move, from: null }] };
    expect(breaches(queue, decision)).toEqual([
      "PR #1 moved from MERGED to PENDING (ADMITTED)",
      "PR #1 moved from nowhere to PENDING (ADMITTED)",
    ]);
  });
});

describe("whoever is live", () => {
  it("is told why it is where it is", () => {
    const queue = testing([1, 2]);
    expect(unexplained(queue.state, queue.now)).toEqual([]);
    const ended = { ...queue.state, entries: withEntry(queue.state, 1, { state: "MERGED" }) };
    expect(unexplained(ended, queue.now)).toEqual(["PR #1 (MERGED) has no blocker"]);
  });
});
