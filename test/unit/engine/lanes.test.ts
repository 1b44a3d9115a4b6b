import { afterEach, describe, expect, it } from "vitest";
import { overlaps, overlapsAll, overlapsNobody } from "../../../shared/queue/engine/lanes.ts";
import type { Lane, Targets } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue, type LanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aPullRequest, aTip, id, sha } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const lane = (number: number, ...earlier: readonly number[]): Lane => ({
  number,
  overlaps: earlier,
  since: 0,
  isolated: false,
});
const one = (targets: Targets | null, of: Lane | null) => ({ targets, lane: of });
const ALL = one({ kind: "ALL" }, lane(1));
const NONE = one(targetsOf(""), lane(2));
const UNKNOWN = one(null, null);
const NEVER_COMPARED = one(targetsOf("x"), null);
const WEB = one(targetsOf("web"), lane(3));
const API = one(targetsOf("api"), lane(9));

describe("whether two overlap", () => {
  it.each([
    ["ALL and ALL", ALL, one({ kind: "ALL" }, lane(4)), true],
    ["ALL and a set", ALL, WEB, true],
    ["ALL and the empty set", ALL, NONE, false],
    ["the empty set and itself", NONE, one(targetsOf(""), lane(5)), false],
    ["the empty set and a set", NONE, WEB, false],
    ["the empty set and one that is unknown", NONE, UNKNOWN, false],
    ["one that is unknown and a set", UNKNOWN, WEB, true],
    ["one that was never compared and a set", NEVER_COMPARED, WEB, true],
    ["two that share nothing", WEB, API, false],
  ])("%s, either way round", (_, a, b, expected) => {
    expect([overlaps(a, b, "PARALLEL"), overlaps(b, a, "PARALLEL")]).toEqual([expected, expected]);
    expect([overlaps(a, b, "SINGLE"), overlaps(b, a, "SINGLE")]).toEqual([true, true]);
  });

  it("is what the later of them was told, wherever the number stands in its list", () => {
    const later = one(targetsOf("much"), lane(100, 2, 3, 5, 8, 13, 21));
    const meets = (number: number): boolean => {
      const earlier = one(targetsOf("x"), lane(number));
      expect(overlaps(later, earlier, "PARALLEL")).toBe(overlaps(earlier, later, "PARALLEL"));
      return overlaps(later, earlier, "PARALLEL");
    };
    const all = Array.from({ length: 24 }, (_, number) => number).filter(meets);
    expect(all).toEqual([2, 3, 5, 8, 13, 21]);
  });

  it.each([
    ["ALL", ALL, true, false],
    ["none", NONE, false, true],
    ["unknown", UNKNOWN, true, false],
    ["never compared", NEVER_COMPARED, true, false],
    ["a set", WEB, false, false],
    ["none, never compared", one(targetsOf(""), null), false, true],
  ])("%s: with everybody, with nobody", (_, standing, everybody, nobody) => {
    expect([overlapsAll(standing), overlapsNobody(standing)]).toEqual([everybody, nobody]);
  });
});

const aheadOf = (queue: LanedQueue, number: number): string => queue.contents(number).at(-1) ?? "";

describe("lanes", () => {
  it("are tested on those ahead that share a target with them, and not on those that these are tested on", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").brings(3, "a b").brings(4, "c").brings(5, "b");
    expect([1, 2, 3, 4, 5].map((number) => aheadOf(queue, number))).toEqual(["1", "2", "1+2+3", "4", "2+3+5"]);
  });

  it("ALL stands on everybody but those that impact nothing, and everybody but those stands on it", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "").brings(3, "ALL").brings(4, "z").brings(5, "");
    expect([1, 2, 3, 4, 5].map((number) => aheadOf(queue, number))).toEqual(["1", "2", "1+3", "3+4", "5"]);
  });

  it("keep a pass when somebody lands whom only those ahead share a target with", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "a b").brings(3, "b").builds(1, 2, 3).passes(3, 1);
    expect(queue.contents(3)).toEqual(["2+3"]);
    queue.lands().passes(2).lands();
    expect([queue.states(), queue.state.landing?.run]).toEqual([
      { 1: "MERGED", 2: "MERGED", 3: "TESTS_PASSED" },
      "q-3",
    ]);
    expect(queue.lands({ tip: aTip("all") }).states()).toMatchObject({ 3: "MERGED" });
  });

  it("fail by a test that lacks whom only those ahead share a target with", () => {
    const queue = aLanedQueue({ retriesBeforeFailure: 0 }).opens().brings(1, "a").brings(2, "a b").brings(3, "b");
    queue.builds(1, 2, 3).passes(1).lands().passes(2).lands().fails(3);
    expect(queue.states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "FAILED" });
  });

  it("are found in a queue of more than thirty-two, to its very end", () => {
    const queue = aLanedQueue({ concurrency: 80 }).opens();
    queue.fills(70, (number) => queue.brings(number, number % 35 === 1 ? "x" : `own-${number}`));
    expect([aheadOf(queue, 36), aheadOf(queue, 70)]).toEqual(["1+36", "70"]);
    queue.brings(71, "x own-33 own-64");
    expect(aheadOf(queue, 71)).toBe("1+33+36+64+71");
  });

  it("land in whatever order they pass, what was tested on nobody first", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).passes(2);
    expect(queue.state.landing?.group).toEqual([id(2)]);
    queue.lands().passes(1);
    expect(queue.effect("land")).toMatchObject({ run: "q-1", base: "T0", expectedTip: "commit-q-2" });
    expect(queue.lands({ tip: aTip("both") }).states()).toEqual({ 1: "MERGED", 2: "MERGED" });
    expect(queue.outbox.filter((effect) => effect.type === "build-run")).toHaveLength(2);
  });

  it("wait for the lane ahead that they stand on", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").brings(3, "a b").builds(1, 2, 3).passes(3, 2);
    expect(queue.state.landing?.group).toEqual([id(2)]);
    queue.lands();
    expect([queue.state.landing, queue.states()]).toEqual([null, { 1: "TESTING", 2: "MERGED", 3: "TESTS_PASSED" }]);
    expect(queue.passes(1).lands().lands().states()).toEqual({ 1: "MERGED", 2: "MERGED", 3: "MERGED" });
  });

  it("a failure in one is none of the other's business", () => {
    const queue = aLanedQueue({ retriesBeforeFailure: 0 }).opens().brings(1, "a").brings(2, "b").builds(1, 2).fails(2);
    expect(queue.states()).toEqual({ 1: "TESTING", 2: "FAILED" });
  });
});

describe("targets", () => {
  it("are waited for, and the explanation says so", () => {
    const queue = aLanedQueue().opens().submits(1);
    expect(queue.states()).toEqual({ 1: "NOT_READY" });
    expect(queue.explains(1).blockers).toMatchObject([{ kind: "NO_IMPACTED_TARGETS" }]);
    queue.asks(1, { targets: targetsOf("a") });
    expect(queue.explains(1).blockers).toMatchObject([{ kind: "COMPARING_TARGETS" }]);
    expect(queue.effects()).toEqual(["compare-targets:e1:1"]);
    expect(queue.compares().states()).toEqual({ 1: "PENDING" });
  });

  it("of ALL and of none need no comparing", () => {
    const queue = aLanedQueue()
      .opens()
      .submitsWith(1, { targets: targetsOf("ALL") })
      .submitsWith(2, { targets: targetsOf("") });
    expect(queue.states()).toEqual({ 1: "PENDING", 2: "PENDING" });
    expect(queue.effects()).toEqual(["build-run:q-1", "build-run:q-2"]);
    expect(queue.entry(2).lane).toEqual({ number: 2, overlaps: [], since: 0, isolated: false });
  });

  it("in one lane are kept and never compared", () => {
    const queue = aLanedQueue({ mode: "SINGLE" })
      .opens()
      .submitsWith(1, { targets: targetsOf("a") });
    expect([queue.effects(), queue.entry(1).targets]).toEqual([["build-run:q-1"], targetsOf("a")]);
    queue.asks(1, { targets: targetsOf("b") });
    expect([queue.effects(), queue.entry(1).targets, queue.entry(1).lane]).toEqual([[], targetsOf("b"), null]);
  });

  it("that are the same again change nothing", () => {
    const queue = aLanedQueue().opens().brings(1, "a").forgets();
    queue.asks(1, { targets: targetsOf("a") });
    expect([queue.effects(), queue.entry(1).lane?.number, queue.entry(1).asked]).toEqual([[], 1, {}]);
  });

  it("that are replaced keep the old lane until they have been compared", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).forgets();
    queue.asks(2, { targets: targetsOf("a") });
    expect([queue.effects(), queue.states()[2]]).toEqual([["compare-targets:e2:3"], "TESTING"]);
    queue.compares();
    expect(queue.moves()).toEqual(["#2 TESTING > PENDING (TARGETS_CHANGED)"]);
    expect(queue.contents(2)).toEqual(["1+2"]);
  });

  it("that make another one ahead a predecessor void its run, and their loss does not", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "a").builds(1, 2).forgets();
    queue.impacts(2, "b");
    expect([queue.moves(), queue.contents(2)]).toEqual([[], ["1+2"]]);
    expect(queue.passes(2).state.landing).toBeNull();
    expect(queue.passes(1).lands().lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
  });

  it("that one ahead takes on, and by which it overlaps one behind, void the test of that one", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).forgets();
    queue.impacts(1, "b");
    expect(queue.moves()).toEqual(["#2 TESTING > PENDING (TARGETS_CHANGED)"]);
    expect([queue.contents(1), queue.contents(2)]).toEqual([["1"], ["1+2"]]);
  });

  it("that were never held against what has landed since void a test that lacks it", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).passes(1).lands().forgets();
    queue.impacts(2, "a b");
    expect(queue.moves()).toEqual(["#2 TESTING > PENDING (TARGETS_CHANGED)"]);
    expect(queue.effect("build-run")?.base).toBe("commit-q-1");
    expect(queue.builds(2).passes(2).lands().states()).toEqual({ 1: "MERGED", 2: "MERGED" });
  });

  it("that are being compared keep it from landing: they may make it depend on somebody ahead", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2);
    queue.asks(2, { targets: targetsOf("a") }).passes(2);
    expect([queue.states()[2], queue.state.landing]).toEqual(["TESTS_PASSED", null]);
    queue.compares();
    expect([queue.states()[2], queue.contents(2)]).toEqual(["PENDING", ["1+2"]]);
    const other = aLanedQueue()
      .opens()
      .brings(1, "a")
      .builds(1)
      .asks(1, { targets: targetsOf("c") })
      .passes(1);
    expect([other.state.landing, other.compares().state.landing?.group]).toEqual([null, [id(1)]]);
  });

  it("that come again while they are compared start anew; the late answer is stale", () => {
    const queue = aLanedQueue()
      .opens()
      .submitsWith(1, { targets: targetsOf("a") });
    queue.impacts(1, "b");
    const late = { type: "targets-compared", entry: id(1), number: 1, overlaps: [], isolated: true } as const;
    expect(queue.event(late).entry(1)).toMatchObject({ targets: targetsOf("b"), lane: { isolated: false } });
    expect(queue.event({ ...late, entry: id(9) }).states()).toEqual({ 1: "PENDING" });
  });

  it("are kept in ascending order, however they come", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").brings(3, "c");
    queue.submitsWith(4, { targets: targetsOf("a c") });
    queue.event({ type: "targets-compared", entry: id(4), number: 4, overlaps: [3, 1], isolated: false });
    expect(queue.entry(4).lane?.overlaps).toEqual([1, 3]);
    expect(queue.contents(4)).toEqual(["1+3+4"]);
  });

  it("belong to a head: a push while it is not ready takes them away", () => {
    const queue = aLanedQueue()
      .opens()
      .brings(1, "a", { pr: aPullRequest(1, { draft: true }) });
    queue.facts(1, { headSha: sha("new") });
    expect(queue.entry(1)).toMatchObject({ headSha: "new", targets: null, lane: null, comparing: null });
  });

  it("end with the entry", () => {
    const queue = aLanedQueue().opens().brings(1, "a").cancels(1);
    expect(queue.entry(1)).toMatchObject({ lane: null, comparing: null, targets: targetsOf("a") });
  });
});

describe("targets from paths", () => {
  const mapped = (queue: LanedQueue): LanedQueue => {
    queue.state = { ...queue.state, tip: { ...aTip("T0"), targetsFromPaths: true } };
    return queue;
  };

  it("are asked for once for each head", () => {
    const queue = mapped(aLanedQueue().opens()).submits(1);
    expect(queue.effects()).toEqual(["compute-targets:e1:head1"]);
    expect(queue.explains(1).blockers[0]?.message).toContain("are being computed from the paths");
    expect(queue.waits(1000).effects()).toEqual([]);
    queue.facts(1, { headSha: sha("new") }).waits(1);
    expect(queue.effects()).toEqual(["compute-targets:e1:new"]);
  });

  it("come into force when they have been compared", () => {
    const queue = mapped(aLanedQueue().opens()).submits(1);
    queue.event({ type: "targets-computed", entry: id(1), headSha: sha("head1"), targets: targetsOf("a") });
    expect(queue.compares().states()).toEqual({ 1: "PENDING" });
  });

  it("are overridden by an upload, and stale for another head or an unknown pull request", () => {
    const queue = mapped(aLanedQueue().opens())
      .submits(1)
      .asks(1, { targets: targetsOf("mine") });
    const computed = {
      type: "targets-computed",
      entry: id(1),
      headSha: sha("head1"),
      targets: targetsOf("a"),
    } as const;
    expect(queue.event(computed).compares().entry(1).targets).toEqual(targetsOf("mine"));
    const other = mapped(aLanedQueue().opens()).submits(1);
    other.event({ ...computed, headSha: sha("old") }).event({ ...computed, entry: id(7) });
    expect(other.compares().entry(1).targets).toBeNull();
  });

  it("are not asked for where nothing is mapped, and not before the host named the head", () => {
    expect(aLanedQueue().opens().submits(1).effects()).toEqual([]);
    const unknown = mapped(aLanedQueue().opens()).submitsWith(1, { pr: null, factsAt: null });
    expect(unknown.effects().filter((key) => key.startsWith("compute"))).toEqual([]);
  });
});

describe("a change of modes", () => {
  it("waits for those that are admitted, and admits nobody meanwhile", () => {
    const queue = aLanedQueue({ mode: "SINGLE" }).opens().brings(1, "a").brings(2, "b").builds(1, 2).forgets();
    queue.sets({ mode: "PARALLEL" }).brings(3, "c");
    expect([queue.state.mode, queue.states()[3]]).toEqual(["SINGLE", "NOT_READY"]);
    expect(queue.explains(3).blockers.map((blocker) => blocker.kind)).toEqual(["SWITCHING_MODES"]);
    queue.passes(1).lands().passes(2).lands().compares();
    expect([queue.state.mode, queue.states()[3]]).toEqual(["PARALLEL", "PENDING"]);
  });

  it("has targets compared beforehand", () => {
    const queue = aLanedQueue({ mode: "SINGLE" }).opens().brings(1, "a").forgets();
    expect(queue.sets({ mode: "PARALLEL" }).effects()).toEqual(["compare-targets:e1:1"]);
  });

  it("back to one lane puts everybody behind everybody", () => {
    const queue = aLanedQueue().opens().sets({ mode: "SINGLE" }).brings(1, "a").brings(2, "b");
    expect([queue.state.mode, queue.contents(2)]).toEqual(["SINGLE", ["1+2"]]);
  });
});
