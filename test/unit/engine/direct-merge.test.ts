import { afterEach, describe, expect, it } from "vitest";
import { commitSha, treeSha } from "../../../shared/kernel/ids.ts";
import type { OwnEvidence, Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, id, type ScriptedQueue, status } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const DIRECT: Partial<Settings> = { directMergeMode: "ALWAYS" };

const own = (change: Partial<OwnEvidence> = {}): OwnEvidence => ({
  tip: commitSha("T0"),
  tree: treeSha("tree-of-head"),
  statuses: [status("unit", "SUCCESS"), status("other", "FAILURE")],
  ...change,
});

/** A PR whose head contains the target. */
const green = (number: number, change: Partial<OwnEvidence> = {}) => ({
  pr: aPullRequest(number, { own: own(change) }),
});

const direct = (change: Partial<Settings> = {}): ScriptedQueue => aQueue({ ...DIRECT, ...change }).opens();

describe("a pull request that contains the target and is green itself", () => {
  it("is merged without a test, and the record says so", () => {
    const queue = direct().submitsWith(1, green(1));
    expect(queue.effects()).toEqual(["land:direct-e1.1"]);
    expect(queue.effect("land")).toMatchObject({
      run: null,
      commit: "head1",
      tree: "tree-of-head",
      base: "T0",
      expectedTip: "T0",
      changes: [{ prNumber: 1 }],
    });
    queue.lands();
    expect(queue.moves().at(-1)).toBe("#1 PENDING > MERGED (MERGED_DIRECTLY)");
    expect(queue.ended.get(1)?.conclusion?.message).toContain("directly: it contains the target");
    expect(queue.state.totals).toMatchObject({ mergedDirectly: 1, merged: 1, landings: 1, runsStarted: 0 });
  });

  it("is tested where the queue does not merge directly", () => {
    expect(aQueue().opens().submitsWith(1, green(1)).effects()).toEqual(["build-run:q-1"]);
  });

  it.each([
    ["its own status failed", { statuses: [status("unit", "FAILURE")] }],
    ["its own status is still to come", { statuses: [status("unit", "PENDING")] }],
    ["nothing has been reported", { statuses: [] }],
    ["the target has moved since", { tip: commitSha("T-old") }],
  ])("is tested when %s", (_, change) => {
    expect(direct().submitsWith(1, green(1, change)).effects()).toEqual(["build-run:q-1"]);
  });

  it("is tested when its head does not contain the target", () => {
    expect(
      direct()
        .submitsWith(1, { pr: aPullRequest(1, { own: null }) })
        .effects(),
    ).toEqual(["build-run:q-1"]);
    expect(direct().submits(1).effects()).toEqual(["build-run:q-1"]);
  });

  it("fails its test when nothing is required: nothing proves it", () => {
    const queue = aQueue(DIRECT).opens("T0", null).submitsWith(1, green(1));
    expect(queue.effects()).toEqual(["build-run:q-1"]);
  });

  it("needs all that is required", () => {
    const queue = direct({ requiredStatuses: ["unit", "other"] }).submitsWith(1, green(1));
    expect(queue.effects()).toEqual(["build-run:q-1"]);
  });

  it("is tested behind one ahead, and merged directly where that one is of another lane", () => {
    const queue = direct().submits(1).submitsWith(2, green(2));
    expect(queue.contents(2)).toEqual(["1+2"]);
    const laned = aLanedQueue(DIRECT).opens().brings(1, "a").brings(2, "b", green(2)).brings(3, "a", green(3));
    expect([laned.state.landing?.group, laned.contents(3)]).toEqual([[id(2)], ["1+3"]]);
  });

  it("waits for its turn: one lands at a time", () => {
    const queue = aLanedQueue(DIRECT).opens().brings(1, "a", green(1)).brings(2, "b", green(2));
    expect([queue.state.landing?.group, queue.runs(2)]).toEqual([[id(1)], []]);
    queue.lands();
    expect(queue.contents(2)).toEqual(["2"]);
  });

  it("that is being tested already is left to its test", () => {
    const queue = aQueue().opens().submitsWith(1, green(1)).builds(1).sets(DIRECT);
    expect([queue.state.landing, queue.states()]).toEqual([null, { 1: "TESTING" }]);
  });

  it("is not merged under PAUSED, and then at once", () => {
    const queue = direct().turns("PAUSED").submits(9).turns("DRAINING");
    expect(queue.states()).toEqual({ 9: "NOT_READY" });
    const held = direct().submitsWith(1, { pr: aPullRequest(1, { draft: true, own: own() }) });
    held.turns("PAUSED").facts(1, { draft: false });
    expect(held.effects()).toEqual([]);
    expect(held.turns("RUNNING").effects()).toEqual(["land:direct-e1.1"]);
  });

  it("is never merged as a member of a batch", () => {
    const queue = direct({ batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 });
    queue.sets({ directMergeMode: "OFF" }).submitsWith(1, green(1)).submitsWith(2, green(2)).breaks(1);
    queue.sets({ directMergeMode: "ALWAYS" }).sleeps();
    expect(queue.state.landing).toBeNull();
    expect(queue.contents(1)).toEqual(["1+2"]);
  });

  it("whose landing found another target is looked at anew", () => {
    const queue = direct().submitsWith(1, green(1)).refuses({ kind: "TIP_MOVED" }).forgets().answersTip("T1");
    expect(queue.effects()).toEqual(["build-run:q-1"]);
  });

  it("that the host refuses to merge is asked about again, and fails at the second time", () => {
    const refusal = { kind: "REFUSED", what: "a review is missing" } as const;
    const queue = direct().submitsWith(1, green(1)).refuses(refusal);
    expect(queue.moves().at(-1)).toBe("#1 PENDING > NOT_READY (LANDING_REFUSED)");
    queue.facts(1, { mergeability: "MERGEABLE" }).refuses(refusal);
    expect(queue.moves().at(-1)).toBe("#1 PENDING > FAILED (LANDING_REFUSED)");
  });

  it("that the host says conflicts with what it contains is refused, and not sent for ever", () => {
    const conflict = { kind: "CONFLICT", what: "a.txt" } as const;
    const queue = direct().submitsWith(1, green(1)).refuses(conflict);
    expect(queue.moves().at(-1)).toBe("#1 PENDING > NOT_READY (LANDING_REFUSED)");
    queue.facts(1, { mergeability: "MERGEABLE" }).refuses(conflict);
    expect(queue.moves().at(-1)).toBe("#1 PENDING > FAILED (LANDING_REFUSED)");
  });

  it("is sent again when infrastructure broke, whatever has become of its statuses", () => {
    const queue = direct().submitsWith(1, green(1)).refuses({ kind: "INFRASTRUCTURE", what: "502" });
    queue
      .facts(1, { own: own({ statuses: [] }) })
      .forgets()
      .sleeps();
    expect(queue.effects()).toEqual(["land:direct-e1.1.2"]);
    expect(queue.lands().states()).toEqual({ 1: "MERGED" });
  });

  it("says what it waits for", () => {
    const queue = direct().submitsWith(1, green(1));
    expect(queue.explains(1).blockers).toMatchObject([{ kind: "LANDING" }]);
    expect(queue.explains(1).summary).toContain("merged without a test");
  });
});
