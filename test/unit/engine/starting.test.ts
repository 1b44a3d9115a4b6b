import { afterEach, describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

describe("what is started", () => {
  it("follows from all verdicts, also from those that follow from others in the same step", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(1);
    expect(queue.effects()).toEqual(["close-run:q-1", "close-run:q-2", "build-run:q-3"]);
  });

  it("is the parts of a part that failed, and not what stands behind it", () => {
    const batches = { batch: true, batchingMinSize: 4, bisectionConcurrency: 2, retriesBeforeFailure: 0 };
    const queue = aQueue(batches).opens().submits(1, 2, 3, 4).builds(1).fails(1).builds(1, 3).fails(1);
    expect([queue.contents(1), queue.contents(3)]).toEqual([["1"], ["1+2+3+4"]]);
  });

  it("is a batch that is not full, when its first has waited long enough, for which the queue wakes", () => {
    const queue = aQueue({ batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 }).opens().submits(1, 2);
    expect([queue.state.runs.size, queue.last?.wakeAt]).toEqual([0, (queue.entry(1).admittedAt ?? 0) + 5 * MINUTE_MS]);
    expect(queue.sleeps().contents(2)).toEqual(["1+2"]);
  });
});

const URGENT = { priority: { value: 0, byDefault: false } };

describe("an urgent test that is hardly needed", () => {
  it("takes a slot, and nobody takes it back", () => {
    const queue = aLanedQueue({ concurrency: 5, retriesBeforeFailure: 1 }).opens().brings(4, "");
    queue.brings(1, "a", URGENT).brings(2, "a", URGENT).brings(3, "a", URGENT);
    queue.builds(1, 2, 3).fails(1).fails(2).builds(2).fails(2);
    expect(queue.contents(3)).toContain("3");
    queue.after(1_000).event({ type: "wake" });
    expect([queue.run(3).phase, queue.runs(4)]).toEqual(["BUILDING", []]);
  });
});

describe("a test that is hardly needed", () => {
  it("is not stopped where its end would undo what it is stopped for", () => {
    const queue = aQueue({ concurrency: 1, retriesBeforeFailure: 0 }).opens();
    queue.state = { ...queue.state, totals: { ...queue.state.totals, failed: 1 } };
    // Nothing lands before #7 has been tested, which waits for its infrastructure.
    queue.submitsUrgently(7).breaks(7).submits(5, 4).builds(5).fails(5).builds(4).fails(4);
    expect([queue.states(), queue.contents(5)]).toEqual([
      { 4: "PENDING_FAILURE", 5: "PENDING_FAILURE", 7: "PENDING" },
      ["7+5", "5"],
    ]);
    // Tested so, #5 is likely to land, and #4 would be tested behind it; stopped for that, it is not.
    expect(queue.builds(5).states()[5]).toBe("TESTING");
  });
});

describe("a failure is held", () => {
  it("against the first that failed, and not against those whose tests held it", () => {
    const queue = testing([1, 2, 3], { concurrency: 9, retriesBeforeFailure: 1 }).fails(1).fails(2);
    expect(queue.states()).toMatchObject({ 1: "PENDING_FAILURE", 2: "PENDING_FAILURE" });
    expect([queue.contents(2), queue.contents(3)]).toEqual([
      ["1+2", "2"],
      ["1+2+3", "2+3"],
    ]);
  });

  it("against one of those as well, once it has failed without it", () => {
    const queue = testing([1, 2, 3], { concurrency: 9, retriesBeforeFailure: 1 }).fails(1).fails(2);
    expect(queue.builds(2, 3).fails(2).contents(3)).toEqual(["1+2+3", "2+3", "3"]);
  });

  it("against whoever failed without anybody that failed", () => {
    const queue = testing([1, 2, 3], { concurrency: 9, retriesBeforeFailure: 1 }).fails(2);
    expect(queue.contents(3)).toEqual(["1+2+3", "1+3"]);
  });
});
