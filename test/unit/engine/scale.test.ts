import { afterEach, describe, expect, it } from "vitest";
import type { QueueEvent, Settings } from "../../../shared/queue/engine/types.ts";
import { aQueue, aTip, itemsOf, ScriptedQueue, START, status } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const ITEMS_MAX = 55;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const ALL = numbers(60);
const BATCHES: Partial<Settings> = {
  batch: true,
  batchingMinSize: ALL.length,
  bisectionConcurrency: 4,
  retriesBeforeFailure: 0,
};

/** The size of the largest step that follows from the event. */
function largest(queue: ScriptedQueue, event: QueueEvent): number {
  let most = 0;
  let next: QueueEvent = event;
  for (let steps = 0; steps < 2000; steps += 1) {
    const before = queue.state;
    queue.once(next);
    if (queue.last === undefined) break;
    most = Math.max(most, itemsOf(before, queue.last));
    if (!queue.last.more) return most;
    next = { type: "wake" };
  }
  return Number.POSITIVE_INFINITY;
}

const reported = (queue: ScriptedQueue, number: number, state: "SUCCESS" | "FAILURE"): QueueEvent => {
  const { id, repeats } = queue.run(number, "TESTING");
  return { type: "statuses", run: id, repeats, statuses: [status("unit", state)], complete: true, readAt: null };
};

const all = (queue: ScriptedQueue): readonly string[] => [...new Set(Object.values(queue.states()))];

function filled(settings: Partial<Settings>, count: number): ScriptedQueue {
  const queue = aQueue(settings).opens();
  return queue.fills(count, (number) => queue.submits(number));
}

/** Formed and being tested. Made once for each of the settings: it takes a while. */
const made = new Map<string, ScriptedQueue>();
function tested(change: Partial<Settings> = {}): ScriptedQueue {
  const key = JSON.stringify(change);
  const first = made.get(key) ?? filled({ ...BATCHES, ...change }, ALL.length).builds(1);
  made.set(key, first);
  return new ScriptedQueue(first.state).after(first.now - START);
}

describe("a large batch", () => {
  it("forms and is tested in steps that are bounded", () => {
    const queue = filled(BATCHES, 59);
    const run = queue.submits(60).run(60);
    const event = { type: "run-built", run: run.id, commit: "c" as never, tree: "t" as never } as const;
    expect([run.group.length, largest(queue, event) <= ITEMS_MAX]).toEqual([60, true]);
    expect(all(queue)).toEqual(["TESTING"]);
  });

  it("passes and lands so", () => {
    const queue = tested();
    expect(largest(queue, reported(queue, 1, "SUCCESS"))).toBeLessThanOrEqual(ITEMS_MAX);
    const landing = queue.state.landing;
    const entries = landing?.group ?? [];
    expect([all(queue), entries.length]).toEqual([["TESTS_PASSED"], ALL.length]);
    const event = { type: "landed", landing: landing?.id ?? "", tip: aTip("T1"), trees: "EQUAL", entries } as const;
    expect(largest(queue, { ...event, onMovedTip: false })).toBeLessThanOrEqual(ITEMS_MAX);
    expect(all(queue)).toEqual(["MERGED"]);
  });

  it.each(["OFF", "BISECTION_SKIP_REDUNDANT_TESTS"] as const)("fails and is taken apart so, %s", (optimizationMode) => {
    const queue = tested({ optimizationMode });
    expect(largest(queue, reported(queue, 1, "FAILURE"))).toBeLessThanOrEqual(ITEMS_MAX);
    expect(queue.state.bisections[0]?.parts.map((part) => part.members.length)).toEqual([15, 15, 15, 15]);
    expect(queue.builds(1).states()).toMatchObject({ 1: "TESTING", 15: "TESTING", 16: "PENDING" });
    expect(largest(queue, reported(queue, 1, "FAILURE"))).toBeLessThanOrEqual(ITEMS_MAX);
    queue.builds(1);
    expect(largest(queue, reported(queue, 1, "SUCCESS"))).toBeLessThanOrEqual(ITEMS_MAX);
  });

  it("loses one of it so", () => {
    const queue = tested();
    const cancel = { by: "bob", at: queue.now };
    const event = { type: "asked", entry: queue.entry(30).id, asked: { cancel } } as const;
    expect(largest(queue, event)).toBeLessThanOrEqual(ITEMS_MAX);
    expect(queue.run(1).group).toHaveLength(59);
  });

  it("loses one of it while it is taken apart so", () => {
    const queue = tested().fails(1).builds(1, 16, 31, 46);
    const event = {
      type: "asked",
      entry: queue.entry(30).id,
      asked: { cancel: { by: "bob", at: queue.now } },
    } as const;
    expect(largest(queue, event)).toBeLessThanOrEqual(ITEMS_MAX);
    expect([queue.state.bisections, queue.run(1).group.length]).toEqual([[], 59]);
  });

  it("is tested again on another target so", () => {
    const queue = tested().event({ type: "news", prNumbers: [], tip: { sha: null } });
    const event: QueueEvent = { type: "tip", read: queue.state.tipRead ?? -1, tip: aTip("T9"), reached: [] };
    expect(largest(queue, event)).toBeLessThanOrEqual(ITEMS_MAX);
    expect(queue.run(60)).toMatchObject({ base: "T9", phase: "BUILDING" });
  });

  it("is refused so", () => {
    const queue = tested().passes(1);
    const why = { kind: "REFUSED", what: "#7 needs a review" } as const;
    const event: QueueEvent = { type: "not-landed", landing: queue.state.landing?.id ?? "", why };
    expect(largest(queue, event)).toBeLessThanOrEqual(ITEMS_MAX);
    expect(all(queue)).toEqual(["NOT_READY"]);
  });

  it("is cleared by a successor so", () => {
    const queue = tested({ canOptimisticallyMerge: true, pendingFailureDepth: 1 });
    queue.submitsWith(61, { noBatch: true }).fails(1).builds(61);
    expect(largest(queue, reported(queue, 61, "SUCCESS"))).toBeLessThanOrEqual(ITEMS_MAX);
    expect(queue.state.landing?.group).toHaveLength(61);
    queue.lands();
    expect(all(queue)).toEqual(["MERGED"]);
  });
});
