import { afterEach, describe, expect, it } from "vitest";
import { treeSha } from "../../../shared/kernel/ids.ts";
import { explain } from "../../../shared/queue/engine/explain.ts";
import { aLanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, id, type ScriptedQueue, sha, status, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const summary = (queue: ScriptedQueue, number: number): string => queue.explains(number).summary;

describe("the explanation of one that is", () => {
  it("not ready names all that is missing", () => {
    const queue = aQueue()
      .submitsWith(1, { pr: aPullRequest(1, { draft: true }) })
      .answersTip("T0");
    expect(summary(queue, 1)).toBe("PR #1 is not ready: it is a draft: mark it ready for review.");
    expect(queue.explains(1).position).toBeNull();
  });

  it("not ready because the queue is closed says who closed it", () => {
    const queue = aQueue()
      .opens()
      .configures({
        operator: { state: "DRAINING", reason: "release day", since: aQueue().now, allowUrgent: false },
      });
    expect(summary(queue.submits(1), 1)).toBe("PR #1 is not ready: the queue admits nobody: release day.");
  });

  it("not ready after a refusal says what the host said", () => {
    const queue = testing([1]).passes(1).refuses({ kind: "REFUSED", what: "a review is missing" });
    expect(summary(queue, 1)).toBe(
      "PR #1 is not ready: the code host refused to land it: a review is missing; it is asked again.",
    );
  });

  it("pending names who holds the slots", () => {
    const queue = testing([1, 2], { concurrency: 2 }).submits(3);
    expect(summary(queue, 3)).toBe("PR #3 waits to be tested: all 2 testing slots are in use by PR #1, PR #2.");
    expect(queue.explains(3).position).toBe(3);
  });

  it("pending behind a test of the target says so", () => {
    const queue = testing([1, 2], { concurrency: 1 }).passes(1).lands({ onMovedTip: true });
    expect(summary(queue, 2)).toBe(
      "PR #2 waits to be tested: the only testing slot is in use by a test of the target itself.",
    );
  });

  it("pending while its branch is built, or the target is read, says that", () => {
    const queue = aQueue().opens().submits(1);
    expect(summary(queue, 1)).toBe("PR #1 waits to be tested: its testing branch is being built.");
    queue
      .cancels(1)
      .event({ type: "news", prNumbers: [], tip: { sha: null } })
      .submits(2);
    expect(summary(queue, 2)).toContain("main moved and is being read again");
  });

  it("pending although it passed names who failed since", () => {
    const queue = testing([1, 2], { concurrency: 1 })
      .sets({ concurrency: 2 })
      .builds(2)
      .passes(2)
      .sets({ concurrency: 1 })
      .fails(1);
    expect(queue.states()[2]).toBe("PENDING");
    expect(summary(queue, 2)).toContain("q-2 passed with PR #1, which has failed since");
    expect(summary(queue, 2)).toContain("the only testing slot is in use by PR #1");
  });

  it("tested names the run, what must pass, and what has been seen instead", () => {
    const queue = testing([1], { requiredStatuses: ["deploy"] }).reports(1, { unit: "SUCCESS" }, { complete: false });
    expect(summary(queue, 1)).toMatch(
      /^PR #1 is being tested: deploy must pass in test run q-1 by 2023-\S+; deploy has not reported yet; seen so far: unit\.$/,
    );
  });

  it("tested says what it assumes of one, and of several", () => {
    const queue = testing([1, 2, 3], { requiredStatuses: ["unit", "lint"] });
    expect(summary(queue, 2)).toContain("it assumes that PR #1 lands before it");
    expect(summary(queue, 3)).toContain("it assumes that PR #1, PR #2 land before it");
    expect(summary(queue, 3)).toContain("unit, lint have not reported yet");
    expect(summary(queue.fails(1).builds(2), 2)).toContain("it assumes that PR #1 does not land");
  });

  it("passed names who is ahead and what those do", () => {
    const queue = testing([1, 2, 3]).passes(2, 3).fails(1);
    expect(summary(testing([1, 2]).passes(2), 2)).toBe(
      "PR #2 has passed its tests: PR #1, which is being tested, is ahead of it.",
    );
    queue.builds(2).reportsOn(queue.run(2).id, { unit: "SUCCESS" });
    expect(summary(queue, 2)).toBe(
      "PR #2 has passed its tests: PR #1, which has failed and is not judged yet, is ahead of it; q-4 passed without it, and is void if it lands.",
    );
  });

  it("passed while another lane lands names who is landing", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).passes(1, 2);
    expect(summary(queue, 2)).toBe(
      "PR #2 has passed its tests: PR #1 is landing, and one lands at a time: it is landing.",
    );
  });

  it("passed while its new targets are compared says so", () => {
    const queue = aLanedQueue().opens().brings(1, "a").builds(1);
    queue.asks(1, { targets: targetsOf("b") }).passes(1);
    expect(summary(queue, 1)).toBe(
      "PR #1 has passed its tests: new impacted targets of PR #1 are being compared first.",
    );
    const batch = aLanedQueue({ batch: true, batchingMinSize: 2 }).opens().brings(1, "a").brings(2, "a").builds(1);
    batch.asks(2, { targets: targetsOf("b") }).passes(1);
    expect(summary(batch, 1)).toContain("new impacted targets of PR #2 are being compared first");
  });

  it("passed in a test that contains one ahead whom it no longer overlaps names that one", () => {
    const queue = aLanedQueue().opens().brings(1, "a").brings(2, "a").builds(1, 2).impacts(2, "b").passes(2);
    expect(summary(queue, 2)).toBe("PR #2 has passed its tests: PR #1, which is being tested, is ahead of it.");
  });

  it("to be merged directly says so, or that the target is being read", () => {
    const own = { tip: sha("T0"), tree: treeSha("t"), statuses: [status("unit", "SUCCESS")] };
    const queue = aQueue({ directMergeMode: "ALWAYS" })
      .opens()
      .turns("PAUSED")
      .submitsWith(1, { pr: aPullRequest(1, { own }) });
    queue.event({ type: "news", prNumbers: [], tip: { sha: null } }).turns("RUNNING");
    queue.answersTip("T0");
    expect(summary(queue, 1)).toContain("it contains the target and is green by itself: it is merged without a test");
    queue.refuses({ kind: "TIP_MOVED" });
    expect(summary(queue, 1)).toContain("main is being read again before anything lands");
  });

  it("passed in a paused queue, or landing, or in trouble with it, says so", () => {
    expect(summary(testing([1]).turns("PAUSED").passes(1), 1)).toContain("the queue lands nothing: set by an operator");
    expect(summary(testing([1]).passes(1), 1)).toBe("PR #1 has passed its tests: it is landing.");
    expect(summary(testing([1, 2]).passes(1, 2), 2)).toContain("PR #1, which is landing, is ahead of it");
    const broken = testing([1]).passes(1).refuses({ kind: "INFRASTRUCTURE", what: "502" });
    expect(summary(broken, 1)).toMatch(/its landing is tried again at 2023-\S+: 502/);
  });

  it("failing names the status, the run, and whom it waits for", () => {
    const queue = testing([1, 2]).fails(2);
    expect(summary(queue, 2)).toContain("PR #2 failed unit in q-2: unit failed in q-2 and is being repeated");
    expect(queue.explains(2).blockers).toMatchObject([{ kind: "REPEAT" }, { kind: "PREDECESSOR", prNumber: 1 }]);
  });

  it("failing while nothing can be said before those ahead are settled names the run all the same", () => {
    const queue = testing([1, 2], { retriesBeforeFailure: 0 }).fails(2);
    expect(summary(queue, 2)).toBe(
      "PR #2 failed unit in q-2: whether PR #1 caused it is not known before that one is settled.",
    );
  });

  it("failing while a status is still to come names that one", () => {
    const queue = testing([1], { requiredStatuses: ["unit", "lint"] }).reports(
      1,
      { unit: "FAILURE" },
      { complete: false },
    );
    expect(summary(queue, 1)).toBe("PR #1 failed unit in q-1: unit in q-1: the repeat waits for lint, still to come.");
  });

  it("pending behind two that conflict with each other names both", () => {
    const queue = aLanedQueue().opens().brings(2, "a").brings(3, "b").brings(1, "a b").builds(2, 3);
    queue.cannotBuild(1, { kind: "CONFLICT", entry: id(3), with: id(2), paths: ["a.txt"] });
    expect(queue.contents(1)).toEqual(["2+1"]);
    expect(summary(queue.passes(3).restarts(1), 1)).toBe(
      "PR #1 waits to be tested: PR #2, PR #3 ahead of it conflict in text: one of them has to be settled first.",
    );
  });

  it("ended says how and why", () => {
    const queue = testing([1], { retriesBeforeFailure: 0 }).fails(1);
    expect(explain(queue.state, queue.entry(1), queue.now)).toMatchObject({
      position: null,
      summary: "PR #1 ended FAILED: unit failed.",
      whatWouldMoveIt: ["submitting it again"],
    });
  });

  it("in conflict names the other, and one without a verdict what broke", () => {
    const queue = aQueue()
      .opens()
      .submits(1, 2)
      .cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    expect(summary(queue, 2)).toBe("PR #2 waits to be tested: it conflicts in text with PR #1, which is ahead of it.");
    const batch = aQueue({ batch: true, batchingMinSize: 2 }).opens().submits(1, 2).builds(1).breaks(1, "disk full");
    expect(summary(batch, 2)).toContain("its last test had no verdict (disk full)");
    expect(summary(testing([1]).breaks(1, "disk full"), 1)).toMatch(
      /no verdict \(disk full\); it is repeated at 2023-/,
    );
  });
});
