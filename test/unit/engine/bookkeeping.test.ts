import { afterEach, describe, expect, it } from "vitest";
import { bookkeeping } from "../../../shared/queue/engine/bookkeeping.ts";
import { newEntry } from "../../../shared/queue/engine/new-entry.ts";
import { snapshot, ThawedQueue } from "../../../shared/queue/engine/snapshot.ts";
import type { Entry, EntryState } from "../../../shared/queue/engine/types.ts";
import { epochMs, later } from "../../../shared/kernel/time.ts";
import { aQueue, aState, aSubmission, id, run, sha, START, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const NOW = epochMs(START + 5000);

const entry = (state: EntryState, change: Partial<Entry> = {}): Entry => ({
  ...newEntry(aSubmission(1, START), 0),
  state,
  stateChangedAt: epochMs(START + 2000),
  testedMs: 70,
  restartedAt: [START],
  lastRun: run(1),
  verifiedBy: run(2),
  ...change,
});
const broken = { what: "disk full", count: 1, retryAt: NOW };

describe("what a change of state is written down for", () => {
  it("the first test, and the latest", () => {
    expect(bookkeeping(entry("PENDING"), "TESTING", NOW, 0, run(7))).toEqual({ firstTestAt: NOW, lastRun: run(7) });
    expect(bookkeeping(entry("PENDING", { firstTestAt: START }), "TESTING", NOW, 0, null)).toEqual({
      firstTestAt: START,
      lastRun: run(1),
    });
  });

  it("when it was admitted, and how long the queue had been closed by then", () => {
    expect(bookkeeping(entry("NOT_READY"), "PENDING", NOW, 9, null)).toEqual({ admittedAt: NOW, closedMsBefore: 9 });
  });

  it("every restart of a test, the latest twenty, and the time that was tested until then", () => {
    expect(bookkeeping(entry("TESTING"), "PENDING", NOW, 0, null)).toEqual({
      testedMs: 3070,
      restartedAt: [START, NOW],
    });
    const many = Array.from({ length: 20 }, (_, at) => epochMs(START + at));
    const next = bookkeeping(entry("TESTING", { restartedAt: many }), "PENDING", NOW, 0, null).restartedAt;
    expect(next).toEqual([...many.slice(1), NOW]);
  });

  it("no restart where nothing was being tested", () => {
    expect(bookkeeping(entry("TESTS_PASSED"), "PENDING", NOW, 0, null)).toEqual({});
    expect(bookkeeping(entry("PENDING_FAILURE"), "PENDING", NOW, 0, null)).toEqual({});
  });

  it("all that it gives up when it is no longer ready", () => {
    expect(bookkeeping(entry("TESTING"), "NOT_READY", NOW, 9, null)).toEqual({
      testedMs: 3070,
      admittedAt: null,
      place: null,
      group: null,
      conflictsWith: null,
      closedMsBefore: 9,
    });
  });

  it("the run that verified it, and that nothing is broken any more", () => {
    expect(bookkeeping(entry("TESTING", { broken }), "TESTS_PASSED", NOW, 0, run(3))).toEqual({
      testedMs: 3070,
      broken: null,
      verifiedBy: run(3),
    });
    expect(bookkeeping(entry("PENDING"), "TESTS_PASSED", NOW, 0, null)).toEqual({ broken: null, verifiedBy: run(2) });
    expect(bookkeeping(entry("TESTING", { broken }), "PENDING_FAILURE", NOW, 0, null)).toEqual({
      testedMs: 3070,
      broken: null,
    });
  });

  it.each(["MERGED", "FAILED", "CANCELLED"] as const)("the time that was tested, at the end: %s", (to) => {
    expect(bookkeeping(entry("TESTING"), to, NOW, 9, run(3))).toEqual({ testedMs: 3070 });
    expect(bookkeeping(entry("PENDING"), to, NOW, 9, run(3))).toEqual({});
  });
});

describe("what ended", () => {
  it("an entry keeps how and by which run, and none of what only the queue needs", () => {
    const queue = testing([1]).asks(1, { noBatch: true }).after(500).passes(1).after(100).lands();
    expect(queue.ended.get(1)).toMatchObject({
      state: "MERGED",
      stateChangedAt: queue.now,
      endedAt: queue.now,
      lane: null,
      comparing: null,
      verifiedBy: "q-1",
      lastRun: "q-1",
      testedMs: 500,
      moves: 5,
      conclusion: { reason: "MERGED", message: "merged into main as commit-q-1" },
      asked: {},
    });
    expect(testing([1]).cancels(1).ended.get(1)).toMatchObject({ verifiedBy: null, moves: 4, asked: {} });
    expect(testing([1], { retriesBeforeFailure: 0 }).fails(1).ended.get(1)?.verifiedBy).toBe("q-1");
  });

  it("a run keeps who was tested, when it ended and why, and has no deadline any more", () => {
    const queue = testing([1]).after(500).cancels(1);
    expect(queue.last?.endedRuns).toMatchObject([
      {
        run: { id: "q-1", endedAt: queue.now, deadline: null },
        tested: [{ prNumber: 1, title: "Change 1", url: "https://git.local/acme/app/pull/1" }],
        outcome: "CANCELLED",
        why: "cancelled by bob",
        at: queue.now,
      },
    ]);
    const passed = testing([1]).passes(1);
    const { now } = passed;
    expect(passed.after(50).lands().last?.endedRuns).toMatchObject([
      { run: { endedAt: now }, outcome: "SUCCEEDED", at: later(now, 50) },
    ]);
  });

  it("every move has a number, a time, a cause and, where one brought it about, its run", () => {
    const queue = aQueue().opens().submits(1);
    const moves = [...(queue.last?.moves ?? [])];
    expect(moves).toMatchObject([
      { entry: id(1), prNumber: 1, number: 0, from: null, to: "NOT_READY", cause: "user:ann", run: null },
      { entry: id(1), number: 1, from: "NOT_READY", to: "PENDING", cause: "queue", at: queue.now },
    ]);
    expect(queue.builds(1).last?.moves).toMatchObject([{ number: 2, cause: "run:q-1", run: "q-1" }]);
    expect(queue.cancels(1).last?.moves).toMatchObject([{ number: 3, cause: "user:bob", run: null }]);
  });
});

describe("a queue that is put away", () => {
  it("leaves out what is empty and optional, and nothing else", () => {
    const state = aState();
    expect(snapshot(state)).toEqual(state);
    expect(Object.keys(snapshot({ ...state, tipTestBroken: null, readsDue: [], reached: [] }))).toEqual(
      Object.keys(snapshot(state)),
    );
    const full = { ...state, tipTestBroken: broken, readsDue: [1], reached: [sha("head1")] };
    expect(snapshot(full)).toEqual(full);
    expect(snapshot(new ThawedQueue(full))).toEqual(full);
  });

  it("has a value for everything when it is taken out", () => {
    expect(new ThawedQueue(aState())).toMatchObject({ tipTestBroken: null, readsDue: [], reached: [] });
  });
});
