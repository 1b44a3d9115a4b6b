import { afterEach, describe, expect, it } from "vitest";
import { grantedPriority } from "../../../shared/queue/engine/wishes.ts";
import { aLanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aQueue, aPullRequest, id, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const URGENT = { value: 0, byDefault: false };
const LATER = { value: 200, byDefault: false };

describe("a wish", () => {
  it("is granted once and taken off, alone or with others", () => {
    const queue = aLanedQueue().opens().brings(1, "a").forgets();
    queue.asks(1, { priority: LATER, noBatch: true, targets: targetsOf("b") });
    expect(queue.entry(1)).toMatchObject({ priority: LATER, noBatch: true, asked: {} });
    expect(queue.effects()).toEqual(["compare-targets:e1:2"]);
    for (const [asked, granted] of [
      [{ priority: URGENT }, { priority: URGENT }],
      [{ noBatch: false }, { noBatch: false }],
      [{ noBatch: true }, { noBatch: true }],
    ] as const)
      expect(queue.asks(1, asked).entry(1)).toMatchObject({ ...granted, asked: {} });
  });

  it("that says nothing of a batch leaves it as it is", () => {
    const queue = aQueue().opens().submitsWith(1, { noBatch: true }).prioritises(1, 7);
    expect(queue.entry(1)).toMatchObject({ noBatch: true, priority: { value: 7 } });
  });

  it("is granted before it is admitted, too", () => {
    const queue = aQueue()
      .opens()
      .submitsWith(1, { pr: aPullRequest(1, { draft: true }) })
      .prioritises(1, 7);
    expect(queue.entry(1)).toMatchObject({ state: "NOT_READY", priority: { value: 7 }, asked: {} });
    expect(queue.cancels(1).moves().at(-1)).toBe("#1 NOT_READY > CANCELLED (CANCELLED_BY_USER)");
  });

  it("names who made it", () => {
    const queue = testing([1]).restarts(1);
    expect(queue.last?.moves.at(-1)).toMatchObject({ cause: "user:bob", message: "tests restarted by bob" });
    expect(queue.cancels(1).last?.moves).toMatchObject([{ cause: "user:bob", message: "cancelled by bob" }]);
  });

  it("while it is landing, to cancel or restart waits, and every other is granted at once", () => {
    const queue = testing([1]).passes(1).asks(1, { priority: LATER, noBatch: true });
    expect(queue.entry(1)).toMatchObject({ priority: LATER, noBatch: true, asked: {} });
    queue.restarts(1);
    expect(queue.entry(1).asked).toEqual({ restart: { by: "bob", at: queue.now } });
    queue.asks(1, { priority: { value: 3, byDefault: false } });
    expect(queue.entry(1)).toMatchObject({ priority: { value: 3 }, asked: { restart: { by: "bob" } } });
    queue.cancels(1);
    expect(Object.keys(queue.entry(1).asked).toSorted()).toEqual(["cancel", "restart"]);
    queue.forgets().refuses({ kind: "TIP_MOVED" });
    expect(queue.moves()).toEqual(["#1 TESTS_PASSED > CANCELLED (CANCELLED_BY_USER)"]);
  });

  it("to restart is granted when a landing did not happen", () => {
    const queue = testing([1]).passes(1).restarts(1).forgets().refuses({ kind: "TIP_MOVED" });
    expect(queue.moves()).toEqual(["#1 TESTS_PASSED > PENDING (RESTARTED_BY_USER)"]);
    expect(queue.answersTip("T0").entry(1).asked).toEqual({});
  });

  it("to be urgent forgets a place among the rest, and any other keeps it", () => {
    const queue = testing([1, 2, 3]);
    expect(queue.prioritises(3, 7).entry(3).place).toBe(2);
    expect(queue.prioritises(3, 0).order()).toEqual([3, 1, 2]);
    const { place } = queue.entry(3);
    expect(queue.prioritises(3, 0).entry(3).place).toBe(place);
  });

  it("to be less urgent is granted to an urgent one only as long as it has no place", () => {
    const urgent = aQueue().opens().submitsUrgently(1).entry(1);
    expect(grantedPriority(urgent, LATER)).toEqual(URGENT);
    expect(grantedPriority(urgent, URGENT)).toEqual(URGENT);
    expect(grantedPriority(urgent, undefined)).toEqual(URGENT);
    expect(grantedPriority({ ...urgent, place: null }, LATER)).toEqual(LATER);
    const tested = testing([1]).entry(1);
    expect(grantedPriority(tested, LATER)).toEqual(LATER);
    expect(grantedPriority(tested, URGENT)).toEqual(URGENT);
  });

  it("to restart forgets what broke and whom it conflicted with", () => {
    const queue = aQueue().opens().submits(1, 2).builds(1);
    queue.cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] });
    expect(queue.entry(2).conflictsWith).toBe(id(1));
    expect(queue.restarts(2).entry(2).conflictsWith).toBeNull();
    expect(queue.contents(2)).toEqual(["1+2"]);
  });
});
