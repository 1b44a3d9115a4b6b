import { afterEach, describe, expect, it } from "vitest";
import { runId } from "../../../shared/kernel/ids.ts";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aQueue, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const FORGIVING: Partial<Settings> = { forgiveQuarantined: true, retriesBeforeFailure: 1 };

const answers = (queue: ScriptedQueue, tests: readonly string[] | null, repeats = 0): ScriptedQueue =>
  queue.event({
    type: "forgiveness",
    run: queue.run(1).id,
    repeats,
    forgiven: tests === null ? [] : [{ context: "unit", tests }],
  });

describe("a failure in a queue that forgives", () => {
  it("asks first, and is neither repeated nor judged meanwhile", () => {
    const queue = testing([1], FORGIVING).forgets().reports(1, { unit: "FAILURE" });
    expect(queue.effects()).toEqual(["forgive:q-1:0"]);
    expect(queue.effect("ask-forgiveness")).toMatchObject({ run: "q-1", repeats: 0, contexts: ["unit"] });
    expect(queue.states()).toEqual({ 1: "PENDING_FAILURE" });
    expect(queue.last?.wakeAt).toBe(queue.now + 5 * MINUTE_MS);
    expect(queue.explains(1).blockers).toMatchObject([{ kind: "FORGIVENESS" }]);
  });

  it("that only quarantined tests caused is a pass, and says by which", () => {
    const queue = testing([1], FORGIVING).reports(1, { unit: "FAILURE" });
    answers(queue, ["a", "b", "c", "d"]);
    expect(queue.state.landing?.run).toBe("q-1");
    const [status] = queue.run(1).statuses;
    expect(status?.description).toBe("forgiven: only quarantined tests failed (a, b, c and 1 more)");
    expect(queue.moves().at(-1)).toBe("#1 PENDING_FAILURE > TESTS_PASSED (FORGIVEN)");
    expect(queue.lands().states()).toEqual({ 1: "MERGED" });
  });

  it("names up to three tests, each once", () => {
    const queue = testing([1], FORGIVING).reports(1, { unit: "FAILURE" });
    answers(queue, ["a", "b", "a", "c"]);
    expect(queue.run(1).statuses[0]?.description).toBe("forgiven: only quarantined tests failed (a, b, c)");
  });

  it("of two checks, of which one is forgiven, is repeated as a whole", () => {
    const queue = aQueue(FORGIVING).opens("T0", ["lint", "unit"]).submits(1).builds(1);
    queue.reports(1, { lint: "FAILURE", unit: "FAILURE" }).forgets();
    answers(queue, ["a"]);
    expect(queue.effect("repeat-checks")).toMatchObject({ contexts: ["lint", "unit"] });
    expect(queue.run(1)).toMatchObject({ forgiveness: { why: null } });
  });

  it("leaves a check as it is that has not failed", () => {
    const queue = aQueue(FORGIVING).opens("T0", ["lint", "unit"]).submits(1).builds(1);
    queue.reports(1, { lint: "SUCCESS", unit: "FAILURE" });
    const forgiven = ["lint", "unit"].map((context) => ({ context, tests: ["a"] }));
    queue.event({ type: "forgiveness", run: queue.run(1).id, repeats: 0, forgiven });
    expect(queue.states()).toEqual({ 1: "TESTS_PASSED" });
    expect(queue.run(1).statuses.map((one) => one.description)).toEqual([
      null,
      "forgiven: only quarantined tests failed (a)",
    ]);
  });

  it("by its time alone has no reports to be forgiven by", () => {
    const queue = testing([1], { ...FORGIVING, testingTimeoutMinutes: 10 })
      .waits(10 * MINUTE_MS)
      .forgets();
    queue.reports(1, {}, { complete: false, readAt: queue.now });
    expect([queue.states(), queue.effects()]).toEqual([{ 1: "PENDING_FAILURE" }, ["repeat:q-1:1"]]);
  });

  it("of the tip itself holds the queue at once", () => {
    const queue = testing([1, 2], { ...FORGIVING, retriesBeforeFailure: 0 });
    queue.passes(1).lands({ onMovedTip: true }).answersTip("T1");
    const tip = queue.tipRun();
    if (tip === undefined) throw new Error("the tip is not tested");
    queue.builtRun(tip.id).forgets().reportsOn(tip.id, { unit: "FAILURE" });
    expect(queue.effects().filter((key) => key.startsWith("forgive:"))).toEqual([]);
    expect(queue.state.holds.map((hold) => hold.kind)).toEqual(["TIP_FAILED"]);
  });

  it("that others caused, too, is repeated at once, and asks again when it fails again", () => {
    const queue = testing([1], FORGIVING).reports(1, { unit: "FAILURE" }).forgets();
    answers(queue, null);
    expect(queue.effects()).toEqual(["repeat:q-1:1"]);
    queue.forgets().reports(1, { unit: "FAILURE" });
    expect(queue.effects()).toEqual(["forgive:q-1:1"]);
    answers(queue, null, 1);
    expect(queue.states()).toEqual({ 1: "FAILED" });
  });

  it("goes on by itself when no answer comes in five minutes", () => {
    const queue = testing([1], FORGIVING).reports(1, { unit: "FAILURE" }).forgets();
    expect(queue.waits(4.9 * MINUTE_MS).effects()).toEqual([]);
    expect(queue.waits(0.2 * MINUTE_MS).effects()).toEqual(["repeat:q-1:1"]);
  });

  it("is not forgiven by an answer about an earlier attempt, after its time, or of some of its checks", () => {
    const late = testing([1], FORGIVING)
      .reports(1, { unit: "FAILURE" })
      .waits(6 * MINUTE_MS);
    expect(answers(late, ["a"]).states()).toEqual({ 1: "PENDING_FAILURE" });
    const earlier = testing([1], FORGIVING).reports(1, { unit: "FAILURE" });
    answers(earlier, null).reports(1, { unit: "FAILURE" });
    expect(answers(earlier, ["a"], 0).states()).toEqual({ 1: "PENDING_FAILURE" });
    const other = testing([1], FORGIVING).reports(1, { unit: "FAILURE" }).forgets();
    other.event({ type: "forgiveness", run: other.run(1).id, repeats: 0, forgiven: [{ context: "x", tests: ["a"] }] });
    expect([other.states(), other.effects()]).toEqual([{ 1: "PENDING_FAILURE" }, ["repeat:q-1:1"]]);
  });

  it("is not forgiven once the queue forgives no more, nor where nobody knows the run", () => {
    const queue = testing([1, 2], { ...FORGIVING, retriesBeforeFailure: 0 }).reports(2, { unit: "FAILURE" });
    const { id } = queue.run(2);
    queue.sets({ forgiveQuarantined: false });
    const forgiven = [{ context: "unit", tests: ["a"] }];
    queue.event({ type: "forgiveness", run: id, repeats: 0, forgiven });
    queue.event({ type: "forgiveness", run: runId("q-9"), repeats: 0, forgiven });
    expect(queue.states()).toEqual({ 1: "TESTING", 2: "PENDING_FAILURE" });
    expect(queue.run(2).statuses[0]?.description).toBeNull();
  });

  it("does not ask where the queue does not forgive, and waits no more when it is turned off", () => {
    const strict = testing([1], { retriesBeforeFailure: 1 }).forgets().reports(1, { unit: "FAILURE" });
    expect(strict.effects()).toEqual(["repeat:q-1:1"]);
    const off = testing([1], FORGIVING).reports(1, { unit: "FAILURE" }).forgets();
    expect(off.sets({ forgiveQuarantined: false }).effects()).toEqual(["repeat:q-1:1"]);
  });
});
