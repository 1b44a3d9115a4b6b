import { afterEach, describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { type ScriptedQueue, testing } from "../../support/queue.ts";
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

  it("does not ask where the queue does not forgive, and waits no more when it is turned off", () => {
    const strict = testing([1], { retriesBeforeFailure: 1 }).forgets().reports(1, { unit: "FAILURE" });
    expect(strict.effects()).toEqual(["repeat:q-1:1"]);
    const off = testing([1], FORGIVING).reports(1, { unit: "FAILURE" }).forgets();
    expect(off.sets({ forgiveQuarantined: false }).effects()).toEqual(["repeat:q-1:1"]);
  });
});
