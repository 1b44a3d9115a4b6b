import { afterEach, describe, expect, it } from "vitest";
import { epochMs, HOUR_MS, later, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const QUIET = { testingTimeoutMinutes: 0, notReadyTimeoutHours: 0 };
/** In how many milliseconds it is to be looked at again, if nothing is heard. */
const sleep = (queue: ScriptedQueue): number | undefined => {
  const at = queue.last?.wakeAt;
  return at === undefined ? undefined : at - queue.now;
};

describe("the engine wakes", () => {
  it("for nothing where nothing can change by itself", () => {
    expect(sleep(testing([1], QUIET))).toBeUndefined();
    expect(sleep(testing([1, 2], { ...QUIET, retriesBeforeFailure: 0 }).fails(2))).toBeUndefined();
    expect(sleep(testing([1], QUIET).passes(1))).toBeUndefined();
  });

  it("for the earliest of all that can", () => {
    const queue = testing([1, 2], { ...QUIET, testingTimeoutMinutes: 60 });
    expect(sleep(queue)).toBe(HOUR_MS);
    expect(sleep(queue.after(30 * MINUTE_MS).breaks(2))).toBe(10_000);
    expect(sleep(queue.sleeps())).toBe(30 * MINUTE_MS - 10_000);
  });

  it("never for what has been due already", () => {
    const queue = testing([1, 2], { ...QUIET, testingTimeoutMinutes: 60 }).waits(HOUR_MS);
    expect(queue.effects()).toEqual(["read-statuses:q-1:0", "read-statuses:q-2:0"]);
    expect(sleep(queue)).toBeUndefined();
    const exactly = testing([1], QUIET).configures({
      windows: [
        {
          id: "w",
          action: "PAUSE",
          reason: null,
          allowUrgent: false,
          startsAt: later(testing([1]).now, -1000),
          endsAt: later(testing([1]).now, HOUR_MS),
        },
      ],
    });
    expect(sleep(exactly)).toBe(HOUR_MS);
  });

  it("when a failure stops waiting for a successor, only where one may clear it", () => {
    const settings = { ...QUIET, pendingFailureDepth: 2, retriesBeforeFailure: 0 };
    expect(sleep(testing([1, 2], { ...settings, canOptimisticallyMerge: true }))).toBeUndefined();
    expect(sleep(testing([1, 2], { ...settings, canOptimisticallyMerge: true }).fails(1))).toBe(300 * MINUTE_MS);
    expect(sleep(testing([1, 2, 3], settings).fails(2))).toBeUndefined();
  });

  it("when waiting to be ready has been long enough, as long as the queue admits", () => {
    const draft = aQueue({ ...QUIET, notReadyTimeoutHours: 3 })
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { draft: true }) });
    expect(sleep(draft)).toBe(3 * HOUR_MS);
    expect(sleep(draft.turns("DRAINING"))).toBeUndefined();
  });
});

describe("the target is read", () => {
  it("since what is known of it, and not while a landing may bring it", () => {
    const queue = testing([1, 2]).event({ type: "news", prNumbers: [], tip: { sha: null } });
    expect(queue.effect("read-tip")).toEqual({ type: "read-tip", key: "read-tip:1", read: 1, since: "T0" });
    expect(aQueue().submits(1).effect("read-tip")).toMatchObject({ since: null });
    const landing = testing([1, 2])
      .passes(1)
      .forgets()
      .event({ type: "news", prNumbers: [], tip: { sha: null } });
    expect(landing.effects()).toEqual([]);
    expect(landing.lands().effects()).toContain("read-tip:2");
  });

  it("again where it was missing only when somebody says that it may be back", () => {
    const queue = aQueue().submits(1);
    queue.event({ type: "tip-missing", read: queue.state.tipRead ?? -1, what: "no branch" }).forgets();
    expect([queue.waits(HOUR_MS).effects(), queue.state.holds.length]).toEqual([[], 1]);
    const held = aQueue().event({ type: "news", prNumbers: [], tip: null });
    expect(held.effects()).toEqual([]);
  });
});

describe("the landings", () => {
  it("are kept as long as a run has to be carried over them, and no longer", () => {
    const queue = testing([1, 2, 3]).passes(1).lands();
    expect(queue.state.lineage.map((step) => step.number)).toEqual([0]);
    queue.submits(4).builds(4).passes(2).lands();
    expect(queue.state.lineage.map((step) => step.number)).toEqual([0, 1]);
    queue.passes(3).lands();
    expect(queue.state.lineage.map((step) => step.number)).toEqual([1, 2]);
    queue.cancels(4);
    expect(queue.state.lineage).toEqual([]);
  });
});

describe("holds of the service", () => {
  it("are cleared by a person up to the time at which that was", () => {
    const queue = testing([1, 2, 3]).passes(1).lands({ trees: "DIFFERENT" });
    const before = epochMs(queue.now - 1);
    expect(queue.configures({ holdsClearedAt: before }).state.holds).toHaveLength(1);
    queue.after(1000);
    queue.event({ type: "news", prNumbers: [], tip: { sha: null } });
    queue.event({ type: "tip-missing", read: queue.state.tipRead ?? -1, what: "no branch" });
    expect(queue.state.holds.map((hold) => hold.kind)).toEqual(["LANDING_MISMATCH", "TARGET_MISSING"]);
    queue.configures({ holdsClearedAt: later(before, 500) });
    expect(queue.state.holds.map((hold) => hold.kind)).toEqual(["TARGET_MISSING"]);
  });
});

describe("a target that was never there", () => {
  it("is asked for once, and again when somebody says that it moved", () => {
    const queue = aQueue().submits(1);
    const missing = () => queue.event({ type: "tip-missing", read: queue.state.tipRead ?? -1, what: "no branch" });
    expect(queue.state.tipRead).not.toBeNull();
    missing();
    expect([queue.state.tip, queue.state.holds.map((hold) => hold.kind)]).toEqual([null, ["TARGET_MISSING"]]);
    expect([queue.state.tipRead, queue.waits(1).state.tipRead, queue.submits(2).state.tipRead]).toEqual([
      null,
      null,
      null,
    ]);
    queue.event({ type: "news", prNumbers: [], tip: { sha: null } });
    expect(queue.state.tipRead).not.toBeNull();
  });
});

describe("facts that may have changed", () => {
  it("are read of those that are there, once", () => {
    const queue = aLanedQueue().opens().submits(1, 2).forgets();
    queue.event({ type: "news", prNumbers: [2, 7, 2], tip: null });
    expect(queue.effects()).toEqual(["read-pr:2:1"]);
    expect([queue.waits(1).effects(), queue.state.readsDue]).toEqual([[], undefined]);
  });

  it("are read in steps that are bounded, each once", () => {
    const queue = aQueue({ concurrency: 1 }).opens();
    queue.fills(90, (number) => queue.submits(number));
    queue.forgets();
    const all = Array.from({ length: 90 }, (_, at) => at + 1);
    queue.once({ type: "news", prNumbers: all, tip: null });
    expect([queue.last?.more, queue.last?.effects.length, queue.state.readsDue?.length]).toEqual([true, 40, 50]);
    queue.event({ type: "wake" });
    expect(queue.effects().map((key) => Number(key.split(":")[1]))).toEqual(all);
  });
});
