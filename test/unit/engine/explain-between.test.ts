import { describe, expect, it } from "vitest";
import { later, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { explain } from "../../../shared/queue/engine/explain.ts";
import type { Entry, Landing, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, aRun, ids, inLane } from "../../support/forged.ts";
import { someSettings, START, status } from "../../support/queue.ts";

/*
 * What is told in the middle of things: of a queue whose last step was cut, and of one in which several things are true
 * at once. Nobody is ever left without an answer.
 */

const NOW = later(START, MINUTE_MS);
const failure = { kind: "CHECKS", contexts: ["unit"] } as const;
type More = { readonly runs?: readonly Run[]; readonly settings?: Partial<Settings> } & Partial<
  Pick<QueueState, "landing" | "mode" | "holds">
>;

/** The kinds of what stands in the way of #2, or of another, and what of it is said. */
function told(change: Readonly<Record<number, Partial<Entry>>>, more: More = {}, number = 2, count = 3) {
  const { runs = [], settings = {}, ...rest } = more;
  const entries = Array.from({ length: count }, (_, at) => anEntry(at + 1, change[at + 1]));
  const state = aQueueOf({ entries, runs }, rest);
  const configured = { ...state, config: { ...state.config, settings: someSettings(settings) } };
  const entry = configured.entries.get(ids(number)[0] as never) as Entry;
  const { blockers, whatWouldMoveIt, summary } = explain(configured, entry, NOW);
  const kinds = blockers.map((one) => `${one.kind}${one.prNumber === null ? "" : ` #${one.prNumber}`}`);
  return { kinds: kinds.join(", "), whatWouldMoveIt, summary };
}
const testOf = (number: number, numbers: readonly number[], change: Partial<Run> = {}): Run =>
  aRun(number, ids(...numbers.slice(-1)), { predecessors: ids(...numbers.slice(0, -1)), phase: "TESTING", ...change });
const landingOf = (number: number, landed = false): Landing =>
  ({ group: ids(number), landed, run: null, trouble: null }) as unknown as Landing;

describe("one whose state is set in the next step", () => {
  it.each<[string, Entry["state"]]>([
    ["tested", "TESTING"],
    ["failed", "PENDING_FAILURE"],
  ])("is told so: %s, without a run", (_, state) => {
    const found = told({ 2: { state } });
    expect([found.kinds, found.whatWouldMoveIt]).toEqual(["STATE", ["nothing: it follows at once"]]);
    expect(found.summary).toContain("its state is being set anew");
  });

  it("is ready, and is admitted in a moment", () => {
    const found = told({ 2: { state: "NOT_READY" } });
    expect([found.kinds, found.whatWouldMoveIt]).toEqual(["ADMISSION", ["the queue's return to RUNNING"]]);
  });

  it("passed and lands in a moment", () => {
    expect(told({ 1: { state: "TESTS_PASSED" } }, { runs: [testOf(1, [1], { phase: "PASSED" })] }, 1).kinds).toBe(
      "LANDING",
    );
  });

  it("is tested, or is judged, in a moment", () => {
    expect(told({}, {}, 1).kinds).toBe("START");
    const failed = testOf(1, [1], { phase: "FAILED", failure, repeats: 3 });
    expect(told({ 1: { state: "PENDING_FAILURE" } }, { runs: [failed] }, 1).kinds).toBe("JUDGEMENT");
  });
});

describe("one of which several things are true", () => {
  const passed = { 2: { state: "TESTS_PASSED" } } as const;

  it("is told by the run that says what it is now", () => {
    const older = testOf(1, [1, 2], { phase: "FAILED", failure });
    const newer = testOf(2, [2], { assumedOut: ids(1) });
    expect(told({ 2: { state: "TESTING" } }, { runs: [newer, older] }).summary).toContain("in test run q-2");
    const repeated = testOf(3, [1, 2], { phase: "REPEATING", failure, repeats: 1 });
    const both = told({ 2: { state: "PENDING_FAILURE" } }, { runs: [older, repeated] });
    expect([both.summary, both.kinds]).toEqual([
      "PR #2 failed unit in q-3: unit failed in q-3 and is being repeated; whether PR #1 caused it is not known " +
        "before that one is settled.",
      "REPEAT, PREDECESSOR #1",
    ]);
    const testing = told({ 2: { state: "PENDING_FAILURE" } }, { runs: [newer, older] });
    expect(testing.summary).toContain("failed unit in q-1");
  });

  it("waits for all that is required where nothing is open by its statuses", () => {
    const run = testOf(1, [2], { statuses: [status("unit", "SUCCESS")], assumedOut: ids(1) });
    expect(told({ 2: { state: "TESTING" } }, { runs: [run] }).summary).toContain("unit must pass in test run q-1");
  });

  it("passed, and waits for those that its passed run holds, not for those of another", () => {
    const runs = [testOf(1, [2], { phase: "PASSED", assumedOut: ids(1) }), testOf(2, [1, 2])];
    const found = told(passed, { runs });
    expect(found.kinds).toBe("PREDECESSOR #1");
    expect(found.summary).toContain("q-1 passed without it");
  });

  it("is named no more than twenty ahead of it", () => {
    const many = told({ 30: { state: "TESTS_PASSED" } }, { runs: [] }, 30, 30);
    expect(many.kinds.split(", ")).toHaveLength(20);
  });

  it("passed in lanes, while another lands, or has just landed", () => {
    const lanes = (landing: Landing): string => {
      const entries = [inLane(1, [], { state: "TESTS_PASSED" }), inLane(2, [], { state: "TESTS_PASSED" })];
      const runs = [testOf(2, [2], { phase: "PASSED" })];
      const state = aQueueOf({ entries, runs }, { mode: "PARALLEL", landing });
      return explain(state, entries[1] as Entry, NOW)
        .blockers.map((one) => `${one.kind}${one.prNumber === null ? "" : ` #${one.prNumber}`}`)
        .join(", ");
    };
    expect([lanes(landingOf(1)), lanes(landingOf(1, true)), lanes(landingOf(9))]).toEqual([
      "OTHER_LANDING #1",
      "LANDING",
      "LANDING",
    ]);
  });

  it("failed while the queue is held for another reason than its tip", () => {
    const failed = testOf(1, [1], { phase: "FAILED", failure, repeats: 3 });
    const holds = [{ kind: "LANDING_MISMATCH", since: START, detail: "" }] as const;
    expect(told({ 1: { state: "PENDING_FAILURE" } }, { runs: [failed], holds: [...holds] }, 1).kinds).toBe("JUDGEMENT");
    const tip = [{ kind: "TIP_FAILED", since: START, detail: "" }] as const;
    expect(told({ 1: { state: "PENDING_FAILURE" } }, { runs: [failed], holds: [...tip] }, 1).kinds).toBe("TIP_FAILED");
  });

  it("failed, and its repeat waits for what is still to come only as long as the deadline", () => {
    const required = ["unit", "lint"];
    const waits = (deadline: Run["deadline"]) => {
      const run = testOf(1, [1], { phase: "FAILED", failure, required, deadline, complete: false });
      const runs = [{ ...run, statuses: [status("unit", "FAILURE")] }];
      return told({ 1: { state: "PENDING_FAILURE" } }, { runs, settings: { requiredStatuses: required } }, 1).summary;
    };
    expect(waits(later(NOW, 1))).toContain("the repeat waits for lint, still to come");
    for (const deadline of [NOW, null]) expect(waits(deadline)).toContain("the repeat waits for a slot");
  });

  it("waits for the conflict of two ahead to be settled", () => {
    const change = { 2: { state: "TESTING", conflictsWith: ids(1)[0] as never }, 1: { state: "NOT_READY" } } as const;
    expect(told(change, {}, 3).kinds).toBe("START");
    const landing = { landing: { ...landingOf(1), group: ids(1, 2) } };
    const both = told({ 2: { conflictsWith: ids(1)[0] as never }, 1: { state: "TESTING" } }, landing, 3);
    expect(both.kinds).toBe("CONFLICT #2");
    expect(both.summary).toContain("PR #1, PR #2 ahead of it conflict in text");
  });

  it("passed in vain on one that has failed since, and is not told so where none has", () => {
    const runs = [testOf(1, [1, 2], { phase: "PASSED" }), testOf(2, [2], { phase: "BUILDING", assumedOut: ids(1) })];
    const vain = told({ 1: { state: "PENDING_FAILURE" } }, { runs: runs.slice(0, 1) });
    expect(vain.kinds).toBe("PREDECESSOR #1, START");
    expect(told({}, { runs: runs.slice(0, 1) }).kinds).toBe("START");
    expect(
      told({ 1: { state: "PENDING_FAILURE" } }, { runs: [testOf(1, [1, 2], { phase: "FAILED", failure })] }).kinds,
    ).toBe("START");
  });
});

describe("many are named", () => {
  it("by five, and how many more", () => {
    const named = (count: number) =>
      told(
        { [count + 1]: { state: "PENDING" } },
        { runs: Array.from({ length: count }, (_, at) => testOf(at + 1, [at + 1])), settings: { concurrency: count } },
        count + 1,
        count + 1,
      ).summary;
    expect(named(5)).toContain("in use by PR #1, PR #2, PR #3, PR #4, PR #5.");
    expect(named(6)).toContain("in use by PR #1, PR #2, PR #3, PR #4, PR #5 and 1 more.");
  });
});
