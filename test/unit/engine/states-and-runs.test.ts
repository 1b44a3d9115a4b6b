import { afterEach, describe, expect, it } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";
import { aQueue, id, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

describe("a pull request's way", () => {
  it("goes from submission to the target, each move with its reason", () => {
    const queue = aQueue().submits(1);
    expect(queue.effects()).toEqual(["read-tip:1"]);
    queue.answersTip("T0");
    expect(queue.effects()).toEqual(["build-run:q-1"]);
    queue.builds(1).passes(1);
    expect(queue.effects()).toEqual(["land:q-1.2"]);
    queue.lands();
    expect(queue.effects()).toEqual(["close-run:q-1"]);
    expect(queue.moves()).toEqual([
      "#1 new > NOT_READY (SUBMITTED)",
      "#1 NOT_READY > PENDING (ADMITTED)",
      "#1 PENDING > TESTING (TEST_STARTED)",
      "#1 TESTING > TESTS_PASSED (TESTS_PASSED)",
      "#1 TESTS_PASSED > MERGED (MERGED)",
    ]);
    expect(queue.state.entries.size + queue.state.runs.size + queue.state.lineage.length).toBe(0);
    expect(queue.entry(1)).toMatchObject({ verifiedBy: "q-1", conclusion: { reason: "MERGED" } });
  });

  it("is tested on all that is ahead of it", () => {
    const queue = aQueue().opens().submits(1, 2, 3);
    expect([1, 2, 3].flatMap((number) => queue.contents(number))).toEqual(["1", "1+2", "1+2+3"]);
    expect(queue.effect("build-run")).toMatchObject({ base: "T0", branch: "mainline/pr-3/q-3", required: ["unit"] });
    expect(queue.effect("build-run")?.changes.map((change) => change.prNumber)).toEqual([1, 2, 3]);
  });

  it("lands in order, whoever passes first, and later evidence is carried over", () => {
    const queue = testing([1, 2, 3]).passes(3, 2);
    expect(queue.effects()).toEqual([]);
    queue.passes(1).lands().lands().lands();
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED" });
    expect(queue.outbox.filter((effect) => effect.type === "build-run")).toHaveLength(3);
  });
});

describe("slots", () => {
  it("are never exceeded, and the next in order gets a free one", () => {
    const queue = aQueue({ concurrency: 2 }).opens().submits(1, 2, 3);
    expect(queue.runs(3)).toEqual([]);
    queue.builds(1, 2).passes(2);
    expect(queue.contents(3)).toEqual(["1+2+3"]);
  });

  it("that are taken away stop nothing, and start nothing before there is room", () => {
    const queue = testing([1, 2, 3], { concurrency: 3 }).submits(4).sets({ concurrency: 1 });
    expect(queue.state.runs.size).toBe(3);
    queue.passes(1, 2);
    expect(queue.runs(4)).toEqual([]);
    queue.passes(3);
    expect(queue.contents(4)).toEqual(["1+2+3+4"]);
  });
});

describe("priorities", () => {
  it("being equal, the earlier submission goes first, whatever its number", () => {
    expect(aQueue({ concurrency: 1 }).opens().submits(9, 5, 7).order()).toEqual([9, 5, 7]);
  });

  it("order those that wait; a place once tested is kept", () => {
    const queue = aQueue({ concurrency: 1 }).opens().submits(1, 2, 3).prioritises(3, 10);
    expect(queue.order()).toEqual([1, 3, 2]);
    expect(queue.prioritises(1, 255).order()).toEqual([1, 3, 2]);
  });

  it("urgent goes ahead of tested ones, which restart on top of it", () => {
    const queue = testing([1, 2]).submitsUrgently(9);
    expect(queue.order()).toEqual([9, 1, 2]);
    expect(queue.moves()).toEqual([
      "#9 new > NOT_READY (SUBMITTED)",
      "#9 NOT_READY > PENDING (ADMITTED)",
      "#1 TESTING > PENDING (SKIP_THE_LINE_INTERRUPTED)",
      "#2 TESTING > PENDING (SKIP_THE_LINE_INTERRUPTED)",
    ]);
    expect([9, 1, 2].flatMap((number) => queue.contents(number))).toEqual(["9", "9+1", "9+1+2"]);
  });

  it("urgent takes the slot of the last where slots are short", () => {
    const queue = testing([1, 2], { concurrency: 2 }).submitsUrgently(9);
    expect([9, 1, 2].map((number) => queue.contents(number))).toEqual([["9"], ["9+1"], []]);
  });

  it("urgent takes a slot back from the last when it had to wait for its infrastructure", () => {
    const queue = aQueue({ concurrency: 2 }).opens().submitsUrgently(9).breaks(9).submits(1, 2).builds(1, 2).forgets();
    expect(queue.sleeps().moves()).toEqual(["#2 TESTING > PENDING (SKIP_THE_LINE_INTERRUPTED)"]);
    expect([queue.contents(9), queue.contents(1)]).toEqual([["9"], ["9+1"]]);
  });

  it("urgent goes behind other urgent ones and behind what is landing", () => {
    const queue = testing([1, 2]).passes(1).submitsUrgently(8).submitsUrgently(9);
    expect(queue.order()).toEqual([1, 8, 9, 2]);
    expect(queue.contents(8)).toEqual(["1+8"]);
    queue.lands();
    expect(queue.contents(8)).toEqual(["e1+8"]);
    expect(queue.run(8).phase).toBe("BUILDING");
  });

  it("re-submission makes an entry urgent at any time, and never less urgent once it is tested", () => {
    const queue = testing([1, 2]).prioritises(2, 0);
    expect(queue.order()).toEqual([2, 1]);
    expect(queue.prioritises(2, 200).order()).toEqual([2, 1]);
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("no other priority interrupts a run", () => {
    const queue = testing([1, 2], { concurrency: 2 }).submitsWith(3, { priority: { value: 1, byDefault: false } });
    expect(queue.order()).toEqual([1, 2, 3]);
    expect(queue.effects()).toEqual([]);
  });
});

describe("required statuses", () => {
  it("none at all is a failure, never a pass", () => {
    const queue = aQueue().opens("T0", null).submits(1).builds(1);
    expect(queue.states()).toEqual({ 1: "FAILED" });
    expect(queue.moves().at(-1)).toBe("#1 PENDING_FAILURE > FAILED (NO_REQUIRED_STATUSES)");
  });

  it("an own list that is empty is no list", () => {
    const queue = aQueue({ requiredStatuses: [] }).opens().submits(1).builds(1).passes(1);
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED" });
  });

  it("that vanish altogether void what has passed", () => {
    const queue = testing([1, 2], { requiredStatuses: ["unit"] })
      .passes(2)
      .pushes("T0");
    queue
      .event({ type: "news", prNumbers: [], tip: { sha: null } })
      .answersTip("T0", [], null)
      .sets({ requiredStatuses: null });
    expect(queue.moves()).toContain("#2 TESTS_PASSED > PENDING (REQUIRED_STATUSES_CHANGED)");
  });

  it("the queue's own list is pinned to the run, and only what it names counts", () => {
    const queue = testing([1], { requiredStatuses: ["deploy"] });
    expect(queue.run(1)).toMatchObject({ required: ["deploy"], requiredSource: "MERGE_INSTANCE" });
    expect(queue.reports(1, { unit: "FAILURE", deploy: "SUCCESS" }).states()).toEqual({ 1: "TESTS_PASSED" });
  });

  it("one that the tested content no longer defines fails", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"], retriesBeforeFailure: 0 }).reports(1, {
      unit: "SUCCESS",
    });
    expect(queue.entry(1).conclusion?.message).toBe("lint failed");
  });

  it("newly required, it voids unlanded evidence that lacks it", () => {
    const queue = testing([1, 2])
      .passes(2)
      .sets({ requiredStatuses: ["unit", "lint"] });
    expect(queue.moves()).toContain("#2 TESTS_PASSED > PENDING (REQUIRED_STATUSES_CHANGED)");
    expect(queue.run(2)).toMatchObject({ phase: "BUILDING", required: ["unit", "lint"] });
    expect(queue.states()).toMatchObject({ 1: "TESTING" });
  });

  it("newly required and passed in the run all the same, it keeps the evidence", () => {
    const queue = testing([1, 2])
      .reports(2, { unit: "SUCCESS", lint: "SUCCESS" })
      .sets({ requiredStatuses: ["unit", "lint"] });
    expect(queue.states()).toMatchObject({ 2: "TESTS_PASSED" });
  });

  it("struck, a failure of it is none any more", () => {
    const queue = testing([1, 2], { requiredStatuses: ["unit", "lint"], retriesBeforeFailure: 0 });
    queue.reports(2, { unit: "SUCCESS", lint: "FAILURE" }).sets({ requiredStatuses: ["unit"] });
    expect(queue.moves()).toEqual([
      "#2 TESTING > PENDING_FAILURE (TESTS_FAILED)",
      "#2 PENDING_FAILURE > TESTS_PASSED (REQUIRED_STATUSES_CHANGED)",
    ]);
  });

  it("struck while the rest is still to come, the run goes on", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"] });
    queue.reports(1, { lint: "FAILURE" }, { complete: false }).sets({ requiredStatuses: ["unit"] });
    expect(queue.states()).toEqual({ 1: "TESTING" });
    expect(queue.passes(1).states()).toEqual({ 1: "TESTS_PASSED" });
  });

  it("newly required while a failure waits, it makes a full run instead of a repeat", () => {
    const queue = testing([1])
      .sets({ requiredStatuses: ["unit", "lint"] })
      .reports(1, { unit: "FAILURE" });
    expect(queue.effects()).toEqual(["close-run:q-1", "build-run:q-2"]);
  });
});

describe("a timeout", () => {
  const late = () => testing([1], { testingTimeoutMinutes: 30, retriesBeforeFailure: 0 }).waits(30 * MINUTE_MS);

  it("is decided only by a read made after the deadline", () => {
    const queue = late();
    expect(queue.effects()).toEqual(["read-statuses:q-1:0"]);
    queue.reports(1, {}, { complete: false, readAt: queue.run(1).startedAt });
    expect(queue.states()).toEqual({ 1: "TESTING" });
    queue.reports(1, {}, { complete: false, readAt: queue.now });
    expect(queue.entry(1)).toMatchObject({ state: "FAILED", conclusion: { reason: "TESTING_TIMEOUT" } });
  });

  it("fails nobody when the late read shows a pass", () => {
    const queue = late();
    expect(queue.reports(1, { unit: "SUCCESS" }, { readAt: queue.now }).states()).toEqual({ 1: "TESTS_PASSED" });
  });

  it("wakes at the deadline, and never where there is none", () => {
    const queue = testing([1], { testingTimeoutMinutes: 30 });
    expect(queue.last?.wakeAt).toBe(queue.run(1).deadline);
    expect(testing([1], { testingTimeoutMinutes: 0, notReadyTimeoutHours: 0 }).last?.wakeAt).toBeUndefined();
  });

  it("repeats what has no result, with a time of its own", () => {
    const queue = testing([1], { testingTimeoutMinutes: 30, requiredStatuses: ["unit", "lint"] });
    queue.reports(1, { lint: "SUCCESS" }, { complete: false }).waits(30 * MINUTE_MS);
    queue.reports(1, { lint: "SUCCESS" }, { complete: false, readAt: queue.now });
    expect(queue.effect("repeat-checks")).toMatchObject({ contexts: ["unit"], repeat: 1 });
    expect(queue.run(1).deadline).toBe(queue.now + 30 * MINUTE_MS);
  });
});

describe("a run without a verdict", () => {
  it("is repeated after ten seconds, doubling to ten minutes, and harms nobody", () => {
    const queue = aQueue().opens().submits(1);
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      queue.breaks(1, "disk full");
      waits.push(((queue.last?.wakeAt ?? 0) - queue.now) / SECOND_MS);
      expect(queue.runs(1)).toEqual([]);
      queue.sleeps();
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
    expect(queue.builds(1).passes(1).entry(1)).toMatchObject({ broken: null, state: "TESTS_PASSED" });
  });

  it("moves a tested entry back to PENDING with what broke", () => {
    const queue = testing([1]).breaks(1, "disk full");
    expect(queue.moves()).toEqual(["#1 TESTING > PENDING (NO_VERDICT)"]);
    expect(queue.explains(1).summary).toContain("disk full");
  });
});

describe("statuses", () => {
  it("that come before the news of the build count once it is built", () => {
    const queue = aQueue().opens().submits(1);
    queue.reportsOn(queue.run(1).id, { unit: "SUCCESS" });
    expect(queue.states()).toEqual({ 1: "PENDING" });
    expect(queue.builds(1).states()).toEqual({ 1: "TESTS_PASSED" });
  });

  it("of an earlier attempt are stale", () => {
    const queue = testing([1]).fails(1).forgets();
    queue.reportsOn(queue.run(1).id, { unit: "SUCCESS" }, { repeats: 0 });
    expect([queue.states(), queue.moves()]).toEqual([{ 1: "PENDING_FAILURE" }, []]);
  });

  it("of an unknown run change nothing", () => {
    const queue = testing([1]);
    const { state } = queue;
    queue.reportsOn("q-99" as never, { unit: "FAILURE" });
    expect(queue.state).toEqual(state);
  });
});

describe("a text conflict", () => {
  it("with a predecessor waits, named, until that one is settled", () => {
    const queue = aQueue().opens().submits(1, 2);
    queue.cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: ["a.txt"] });
    expect([queue.states(), queue.runs(2)]).toEqual([{ 1: "PENDING", 2: "PENDING" }, []]);
    expect(queue.explains(2).blockers).toMatchObject([{ kind: "CONFLICT", prNumber: 1 }]);
    expect(queue.cancels(1).contents(2)).toEqual(["2"]);
  });

  it("leaves those behind to be tested without it", () => {
    const queue = aQueue().opens().submits(1, 2, 3);
    queue.cannotBuild(3, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    expect(queue.contents(3)).toEqual(["1+3"]);
  });

  it("with the target itself makes it not ready, in words for its author", () => {
    const queue = aQueue().opens().submits(1);
    queue.cannotBuild(1, { kind: "CONFLICT", entry: id(1), with: null, paths: ["a.txt"] });
    expect(queue.moves().at(-1)).toBe("#1 PENDING > NOT_READY (READINESS_LOST)");
    expect(queue.explains(1).summary).toContain("it conflicts with main in a.txt: rebase it and push");
  });

  it("is forgotten when the order turns round, so that nobody waits in a circle", () => {
    const queue = aQueue().opens().submits(1, 2);
    queue.cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] }).prioritises(2, 0);
    expect(queue.entry(2).conflictsWith).toBeNull();
    expect([queue.contents(2), queue.contents(1)]).toEqual([["2"], ["2+1"]]);
  });
});

describe("what cannot be built", () => {
  it("for a reason of its own has failed", () => {
    const queue = aQueue()
      .opens()
      .submits(1, 2)
      .cannotBuild(1, { kind: "OWN", entry: id(1), what: "unrelated history" });
    expect(queue.entry(1)).toMatchObject({ state: "FAILED", conclusion: { reason: "CANNOT_BE_BUILT" } });
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("because infrastructure broke, or for a reason nobody can follow, is tried again later", () => {
    const queue = aQueue()
      .opens()
      .submits(1)
      .cannotBuild(1, { kind: "OWN", entry: id(7), what: "?" });
    expect(queue.entry(1)).toMatchObject({ state: "PENDING", broken: { count: 1 } });
  });
});
