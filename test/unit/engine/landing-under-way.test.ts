import { afterEach, describe, expect, it } from "vitest";
import { step } from "../../../shared/queue/engine/step.ts";
import type { PullRequestFacts, QueueEvent, Settings } from "../../../shared/queue/engine/types.ts";
import { treeSha } from "../../../shared/kernel/ids.ts";
import { aLanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, aTip, id, sha, status, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const OPTIMISTIC: Partial<Settings> = { canOptimisticallyMerge: true, pendingFailureDepth: 2 };
const green: PullRequestFacts["own"] = {
  tip: sha("T0"),
  tree: treeSha("tree"),
  statuses: [status("unit", "SUCCESS")],
};

describe("what may begin to land", () => {
  it("in one lane does not wait for targets that are compared for the lanes to come", () => {
    const queue = aLanedQueue({ mode: "SINGLE" })
      .opens()
      .submitsWith(1, { targets: targetsOf("a") })
      .builds(1)
      .sets({ mode: "PARALLEL" });
    expect(queue.entry(1).comparing).not.toBeNull();
    expect(queue.passes(1).state.landing?.group).toEqual([id(1)]);
  });

  it("is not merged directly once its test is being built", () => {
    const queue = aQueue({ directMergeMode: "ALWAYS" }).opens().submits(1).facts(1, { own: green });
    expect([queue.state.landing, queue.runs(1).length]).toEqual([null, 1]);
    expect(queue.builds(1).passes(1).state.landing?.run).toBe("q-1");
  });

  it("stands in front from then on: what starts in the same step is tested on it first", () => {
    const queue = aLanedQueue({ concurrency: 2 }).opens().brings(1, "a").brings(2, "b").brings(3, "a b");
    queue.builds(1, 2).passes(2);
    expect([queue.state.landing?.group, queue.contents(3)]).toEqual([[id(2)], ["2+1+3"]]);
  });
});

describe("what is told of a landing", () => {
  it("is the commit that it brought, also of the third in a row", () => {
    const queue = testing([1, 2, 3, 4]).passes(1, 2, 3).lands().lands().lands();
    expect(queue.state.lineage.length).toBeGreaterThan(2);
    expect([1, 2, 3].map((number) => queue.entry(number).conclusion?.message)).toEqual([
      "merged into main as commit-q-1",
      "merged into main as commit-q-2",
      "merged into main as commit-q-3",
    ]);
  });

  it("is not that a successor proved it where its own test had passed", () => {
    // #2 passes without #1, which failed; the older test of #3 on both then proves #1, and all three land.
    const queue = testing([1, 2, 3], { ...OPTIMISTIC, concurrency: 8 })
      .fails(1)
      .builds(2);
    queue.reportsOn(queue.run(2, "TESTING").id, { unit: "SUCCESS" });
    queue.reportsOn(queue.runs(3)[0]?.id ?? ("none" as never), { unit: "SUCCESS" });
    expect(queue.state.landing?.group).toEqual([id(1), id(2), id(3)]);
    queue.lands();
    expect(queue.state.totals).toMatchObject({ merged: 3, mergedByOptimism: 1 });
    expect(queue.entry(2).conclusion?.message).toBe("merged into main as commit-q-3");
  });
});

describe("a refusal", () => {
  it("ends its tests as cancelled", () => {
    const queue = testing([1]).passes(1).refuses({ kind: "REFUSED", what: "a review is missing" });
    expect(queue.last?.endedRuns).toMatchObject([{ outcome: "CANCELLED" }]);
    expect(queue.state.totals).toMatchObject({ runsCancelled: 1, runsPassed: 0 });
  });

  it("that is still being told is not overtaken by another answer", () => {
    const queue = testing([1]).passes(1);
    const { landing } = queue.state;
    if (landing === null) throw new Error("nothing is landing");
    const state = { ...queue.state, landing: { ...landing, refused: "no" } };
    const late: readonly QueueEvent[] = [
      {
        type: "landed",
        landing: landing.id,
        tip: aTip("T9"),
        trees: "EQUAL",
        entries: landing.group,
        onMovedTip: false,
      },
      { type: "not-landed", landing: landing.id, why: { kind: "TIP_MOVED" } },
      { type: "wake" },
    ];
    const [landed, moved, nothing] = late.map((event) => step(state, event, queue.now).state);
    expect([landed, moved]).toEqual([nothing, nothing]);
    expect(nothing?.entries.get(id(1))).toMatchObject({ state: "NOT_READY", refusal: "no" });
  });
});

describe("a landing whose test is not there any more", () => {
  it("is forgotten", () => {
    const queue = testing([1]).passes(1);
    const { state } = step({ ...queue.state, runs: new Map() }, { type: "wake" }, queue.now);
    expect([state.landing, [...state.runs.keys()]]).toEqual([null, ["q-2"]]);
  });
});

describe("who or what moved a pull request", () => {
  const causesOf = (queue: ReturnType<typeof aQueue>): readonly string[] =>
    (queue.last?.moves ?? []).map((move) => `${move.reason} by ${move.cause}`);

  it("is the queue, a test, the code host, time, or a person", () => {
    const queue = aQueue().opens().submits(1);
    expect(causesOf(queue)).toEqual(["SUBMITTED by user:ann", "ADMITTED by queue"]);
    expect(causesOf(queue.builds(1))).toEqual(["TEST_STARTED by run:q-1"]);
    expect(causesOf(queue.passes(1))).toEqual(["TESTS_PASSED by run:q-1"]);
    expect(causesOf(queue.lands())).toEqual(["MERGED by run:q-1"]);
    expect(causesOf(testing([1]).cancels(1))).toEqual(["CANCELLED_BY_USER by user:bob"]);
    expect(causesOf(testing([1]).restarts(1))).toEqual(["RESTARTED_BY_USER by user:bob"]);
    expect(causesOf(testing([1]).breaks(1))).toEqual(["NO_VERDICT by queue"]);
    expect(
      causesOf(
        testing([1])
          .sets({ requiredStatuses: ["x"] })
          .reports(1, { unit: "SUCCESS" }),
      ),
    ).toEqual(["REQUIRED_STATUSES_CHANGED by queue"]);
    expect(causesOf(testing([1, 2]).cancels(1))[1]).toBe("PREDECESSOR_LEFT by queue");
    expect(causesOf(testing([1]).pushes("T1"))).toEqual(["MANUAL_PUSH_TO_TARGET_BRANCH by queue"]);
    expect(causesOf(testing([1]).pushes("T1", ["head1"]))).toContain("MERGED_BY_HAND by host");
    expect(causesOf(testing([1]).facts(1, { state: "CLOSED" }))).toEqual(["PULL_REQUEST_CLOSED by host"]);
    expect(causesOf(testing([1]).facts(1, { mergeability: "NOT_MERGEABLE" })).at(-1)).toBe("READINESS_LOST by host");
    expect(causesOf(aQueue().opens().submitsWith(1, { pr: null, factsAt: null }).waitsHours(168))).toEqual([
      "NOT_READY_TIMEOUT by time",
    ]);
    const fails = testing([1], { retriesBeforeFailure: 0 }).fails(1);
    expect(causesOf(fails)).toEqual(["TESTS_FAILED by run:q-1", "TESTS_FAILED by run:q-1"]);
    expect(causesOf(testing([1]).passes(1).refuses({ kind: "REFUSED", what: "no" }))).toEqual([
      "LANDING_REFUSED by host",
    ]);
    expect(causesOf(testing([1]).passes(1).refuses({ kind: "CONFLICT", what: "no" }))).toEqual([
      "MERGE_CONFLICT by host",
    ]);
    const direct = aQueue({ directMergeMode: "ALWAYS" })
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { own: green }) });
    expect(causesOf(direct.lands())).toEqual(["MERGED_DIRECTLY by queue"]);
  });

  it("is named in a conflict and in what cannot be built, by the code host", () => {
    const queue = aQueue().opens().submits(1, 2).builds(1);
    queue.cannotBuild(2, { kind: "CONFLICT", entry: id(1), with: null, paths: [] });
    expect(causesOf(queue)).toContain("READINESS_LOST by host");
    const own = aQueue()
      .opens()
      .submits(1)
      .cannotBuild(1, { kind: "OWN", entry: id(1), what: "empty" });
    expect(causesOf(own)).toEqual(["CANNOT_BE_BUILT by run:q-1"]);
  });
});
