import { describe, expect, it } from "vitest";
import { Draft, STEP_ITEMS_MAX, type Why } from "../../../shared/queue/engine/draft.ts";
import type { Entry, Run } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, aRun, ids } from "../../support/forged.ts";
import { START } from "../../support/queue.ts";

const entries = (count: number): readonly Entry[] => Array.from({ length: count }, (_, at) => anEntry(at + 1));
const runsOf = (count: number): readonly Run[] =>
  Array.from({ length: count }, (_, at) => aRun(at + 1, ids(at + 1), { phase: "TESTING" }));
const aDraft = (): Draft => new Draft(aQueueOf({ entries: entries(60), runs: runsOf(60) }), START);
const WHY: Why = { reason: "CANCELLED_BY_USER", message: "by ann", cause: "user:ann" };

/** How often it may be done before the step is full. */
function roomFor(draft: Draft, act: (at: number) => void): number {
  for (let at = 0; at < 60; at += 1) {
    if (!draft.hasRoom()) return at;
    act(at);
  }
  return 60;
}
const entryAt = (draft: Draft, at: number): Entry => draft.entries.get(ids(at + 1)[0] ?? ("none" as never)) as Entry;
const runAt = (draft: Draft, at: number): Run => [...draft.runs.values()][at] as Run;

describe("a step is full", () => {
  it.each<[string, number, (draft: Draft, at: number) => void]>([
    ["effects", 40, (draft, at) => draft.readPullRequest(at)],
    ["runs that change", 40, (draft, at) => draft.setRun({ ...runAt(draft, at), complete: false })],
    ["entries that change", 20, (draft, at) => draft.patch(entryAt(draft, at).id, { broken: null })],
    ["entries that move", 14, (draft, at) => draft.move(entryAt(draft, at), "TESTING", WHY)],
    ["runs that end", 14, (draft) => draft.closeRun(runAt(draft, 0), "FAILED", WHY)],
    ["entries that end with their runs", 6, (draft, at) => draft.end(entryAt(draft, at), "CANCELLED", WHY)],
    ["changes of one and the same entry and run", 60, (draft) => draft.setRun(runAt(draft, 0))],
    ["notes", 60, (draft) => draft.note(null, "?")],
  ])("after so many %s: %i", (_, expected, act) => {
    const draft = aDraft();
    expect(roomFor(draft, (at) => act(draft, at))).toBe(expected);
    expect(draft.cut).toBe(expected < 60);
    expect(draft.decision(undefined).more).toBe(expected < 60);
  });

  it("after so many that ended with no run, and counts what had changed of them before no longer", () => {
    const draft = new Draft(aQueueOf({ entries: entries(60) }), START);
    const act = (at: number): void => {
      draft.patch(entryAt(draft, at).id, { broken: null });
      draft.end(entryAt(draft, at), "CANCELLED", WHY);
    };
    expect([STEP_ITEMS_MAX, roomFor(draft, act)]).toEqual([40, 10]);
  });

  it("counts a run that changed before it ended once", () => {
    const draft = aDraft();
    const act = (): void => {
      draft.setRun({ ...runAt(draft, 0), complete: false });
      draft.closeRun(runAt(draft, 0), "FAILED", WHY);
    };
    expect(roomFor(draft, act)).toBe(14);
  });
});

describe("a queue that is being decided", () => {
  it("is held once for each reason, and notes that", () => {
    const draft = aDraft();
    draft.hold("TIP_FAILED", "first");
    draft.hold("TIP_FAILED", "second");
    draft.hold("LANDING_MISMATCH", "third");
    expect(draft.holds).toEqual([
      { kind: "TIP_FAILED", since: START, detail: "first" },
      { kind: "LANDING_MISMATCH", since: START, detail: "third" },
    ]);
    expect(draft.notes).toEqual([
      { entry: null, text: "hold TIP_FAILED: first" },
      { entry: null, text: "hold LANDING_MISMATCH: third" },
    ]);
    draft.lift("TIP_FAILED");
    expect(draft.holds.map((hold) => hold.kind)).toEqual(["LANDING_MISMATCH"]);
  });

  it("asks for each thing by another number, in a way that the loop understands", () => {
    const draft = aDraft();
    draft.readPullRequest(7);
    draft.readPullRequest(7);
    draft.closeRun(runAt(draft, 0), "CANCELLED", WHY);
    expect(draft.effects).toEqual([
      { type: "read-pull-request", key: "read-pr:7:1", prNumber: 7 },
      { type: "read-pull-request", key: "read-pr:7:2", prNumber: 7 },
      { type: "close-run", key: "close-run:q-1", run: "q-1", branch: "mainline/1" },
    ]);
    expect(draft.nextRead).toBe(3);
  });

  it("tells the entries of a run that was closed, once, and nobody of one that tested the tip", () => {
    const draft = new Draft(aQueueOf({ entries: entries(1), runs: [aRun(1, ids(1)), aRun(2, [])] }), START);
    const [run, tip] = [runAt(draft, 0), runAt(draft, 1)];
    for (const closed of [run, run, tip]) draft.closeRun(closed, "CANCELLED", WHY);
    expect(draft.untold).toEqual([{ entries: ids(1), ...WHY, run: "q-1" }]);
    expect(draft.endedRuns.map((ended) => ended.run.id)).toEqual(["q-1", "q-2"]);
    expect([draft.runs.size, draft.runsOf(run.group[0] ?? ("none" as never))]).toEqual([0, []]);
  });

  it("counts the runs in progress of each kind of slot, as they begin, go on and end", () => {
    const draft = new Draft(aQueueOf({ entries: entries(3) }), START);
    const counted = () => [draft.inProgress(false), draft.inProgress(true)];
    const run = aRun(1, ids(1), { phase: "BUILDING" });
    draft.setRun(run);
    draft.setRun(aRun(2, ids(2), { phase: "TESTING", kind: "BISECTION" }));
    draft.setRun(aRun(3, [], { phase: "REPEATING" }));
    expect(counted()).toEqual([2, 1]);
    draft.setRun({ ...run, phase: "TESTING" });
    expect(counted()).toEqual([2, 1]);
    draft.setRun({ ...run, phase: "PASSED" });
    expect(counted()).toEqual([1, 1]);
    draft.regroup({ ...runAt(draft, 1), group: ids(3) });
    expect([counted(), draft.runsOf(ids(2)[0] as never), draft.runsOf(ids(3)[0] as never).length]).toEqual([
      [1, 1],
      [],
      1,
    ]);
    draft.closeRun(runAt(draft, 1), "FAILED", WHY);
    expect(counted()).toEqual([1, 0]);
  });

  it("finds the order anew when what it follows from changes, and only then", () => {
    const draft = aDraft();
    const before = draft.line();
    const [first, second] = [entryAt(draft, 0), entryAt(draft, 1)];
    draft.patch(first.id, { broken: null, headSha: null });
    draft.patch(ids(99)[0] as never, { place: 3 });
    expect(draft.line()).toBe(before);
    draft.patch(second.id, { place: 1 });
    expect(draft.line().entries.slice(0, 2)).toEqual([second.id, first.id]);
    draft.patch(second.id, { state: "NOT_READY" });
    expect(draft.line().entries[0]).toBe(first.id);
    draft.patch(first.id, { priority: { value: 200, byDefault: false } });
    expect(draft.line().entries.at(-1)).toBe(first.id);
    draft.setEntry(anEntry(99, { place: 0 }));
    expect(draft.line().entries[0]).toBe("e99");
  });
});
