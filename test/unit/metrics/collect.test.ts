import { describe, expect, test } from "vitest";
import { epochMs } from "../../../shared/kernel/time.ts";
import { measure } from "../../../shared/metrics/collect.ts";
import { aQueue, aRun, aSubmission, minutesAgo, NOW, noTotals } from "./fixture.ts";

const value = (queue: ReturnType<typeof aQueue>, type: "main" | "bisection" = "main") => {
  const measures = measure(queue, type);
  return (name: keyof typeof measures, label?: string): number | readonly number[] | undefined => {
    const found = measures[name].find(
      (one) => label === undefined || ("value" in one && Object.values(one.labels ?? {}).includes(label)),
    );
    return found === undefined ? undefined : "value" in found ? found.value : found.observed;
  };
};

describe("what is in the queue now", () => {
  test("the admitted and those who wait for readiness are counted apart, the ended nowhere", () => {
    const submissions = [
      aSubmission(),
      aSubmission({ state: "TESTING" }),
      aSubmission({ state: "NOT_READY", admittedAt: null }),
      aSubmission({ state: "MERGED", endedAt: minutesAgo(1) }),
    ];
    const of = value(aQueue({ submissions }));
    expect(of("mq_depth_current")).toBe(2);
    expect(of("mq_awaiting_mergeability")).toBe(1);
  });

  test("slots are runs in progress: what has a verdict holds none, a test of the tip does", () => {
    const runs = [aRun(), aRun({ inProgress: false }), aRun({ kind: "TIP", group: [] }), aRun({ kind: "BISECTION" })];
    expect(value(aQueue({ runs }))("mq_testing_slots_active")).toBe(2);
    expect(value(aQueue({ runs }), "bisection")("mq_testing_slots_active")).toBe(1);
    expect(value(aQueue({ runs }))("mainline_batch_size_pull_requests")).toEqual([1]);
  });

  test("a pull request under bisection counts there and not in the main lane, and its depth is told", () => {
    const submissions = ["a", "b", "c", "d", "e"].map((id) => aSubmission({ id, state: "PENDING_FAILURE" }));
    const runs = [
      aRun({ group: ["a", "b", "c", "d"], inProgress: false }),
      aRun({ kind: "BISECTION", group: ["a", "b"], inProgress: false }),
      aRun({ kind: "BISECTION", group: ["a"] }),
    ];
    const queue = aQueue({ submissions, runs, bisectionDepth: 2 });
    expect(value(queue)("mq_depth_current")).toBe(3);
    expect(value(queue, "bisection")("mq_depth_current")).toBe(2);
    expect(value(queue, "bisection")("mainline_bisection_depth")).toBe(2);
    expect(value(queue)("mainline_bisection_depth")).toBe(0);
  });

  test("the age is that of whoever was submitted first and is still there", () => {
    const ended = aSubmission({ submittedAt: minutesAgo(50), state: "FAILED", endedAt: minutesAgo(3) });
    const submissions = [aSubmission({ submittedAt: minutesAgo(20) }), aSubmission(), ended];
    expect(value(aQueue({ submissions }))("mainline_queue_oldest_entry_age_seconds")).toBe(1200);
    expect(value(aQueue())("mainline_queue_oldest_entry_age_seconds")).toBe(0);
  });
});

describe("the last hour", () => {
  test("exits count by how they ended, from exactly an hour ago on", () => {
    const submissions = [
      aSubmission({ state: "MERGED", endedAt: minutesAgo(60) }),
      aSubmission({ state: "MERGED", endedAt: epochMs(minutesAgo(60) - 1) }),
      aSubmission({ state: "CANCELLED", endedAt: NOW }),
    ];
    const of = value(aQueue({ submissions }));
    expect(of("mq_pr_conclusions_1h_total", "merged")).toBe(1);
    expect(of("mq_pr_conclusions_1h_total", "cancelled")).toBe(1);
    expect(of("mq_pr_conclusions_1h_total", "failed")).toBe(0);
  });

  test("whoever leaves before being admitted counts as an exit and has no time in the queue", () => {
    const submissions = [aSubmission({ state: "CANCELLED", endedAt: NOW, admittedAt: null })];
    const of = value(aQueue({ submissions }));
    expect(of("mq_pr_conclusions_1h_total", "cancelled")).toBe(1);
    expect(of("mq_pr_time_in_queue_1h_seconds")).toEqual([]);
  });

  test("time in the queue runs from admission to exit", () => {
    const ended = aSubmission({ state: "MERGED", admittedAt: minutesAgo(40), endedAt: minutesAgo(5) });
    expect(value(aQueue({ submissions: [ended] }))("mq_pr_time_in_queue_1h_seconds")).toEqual([35 * 60]);
  });

  test("waits are those of first tests that began in the hour", () => {
    const submissions = [
      aSubmission({ state: "TESTING", admittedAt: minutesAgo(10), firstTestAt: minutesAgo(7) }),
      aSubmission({ state: "TESTING", admittedAt: minutesAgo(90), firstTestAt: minutesAgo(61) }),
      // Lost its readiness after its first test and was admitted again.
      aSubmission({ admittedAt: minutesAgo(5), firstTestAt: minutesAgo(30) }),
      aSubmission({ state: "FAILED", admittedAt: minutesAgo(30), firstTestAt: minutesAgo(29), endedAt: minutesAgo(2) }),
    ];
    expect(value(aQueue({ submissions }))("mq_pr_wait_duration_1h_seconds")).toEqual([180, 60]);
  });

  test("time in testing is told once it is over: at a verdict that stands, or at the end", () => {
    const tested = { firstTestAt: minutesAgo(50), testedMs: 120_000 };
    const submissions = [
      aSubmission({ ...tested, state: "TESTING" }),
      aSubmission({ ...tested, state: "TESTS_PASSED" }),
      aSubmission({ ...tested, state: "PENDING_FAILURE", stateChangedAt: minutesAgo(70) }),
      aSubmission({ ...tested, state: "MERGED", endedAt: minutesAgo(4), testedMs: 240_000 }),
      aSubmission({ state: "CANCELLED", endedAt: minutesAgo(4) }),
    ];
    expect(value(aQueue({ submissions }))("mq_pr_test_duration_1h_seconds")).toEqual([120, 240]);
  });

  test("restarts count one by one, on live and on ended submissions", () => {
    const submissions = [
      aSubmission({ restartedAt: [minutesAgo(70), minutesAgo(20), minutesAgo(10)] }),
      aSubmission({ state: "MERGED", endedAt: NOW, restartedAt: [minutesAgo(30)] }),
    ];
    expect(value(aQueue({ submissions }))("mq_pr_restarts_1h_total")).toBe(3);
  });
});

describe("since the queue was made", () => {
  const totals = {
    ...noTotals,
    merged: 4,
    runsStarted: 10,
    bisectionRunsStarted: 2,
    runsPassed: 5,
    landings: 3,
    flakes: 6,
    batches: 7,
    bisections: 1,
    mergedByOptimism: 2,
    mergedDirectly: 9,
  };

  test("totals stand in the main lane, tests started in the lane they were in", () => {
    const of = value(aQueue({ totals }));
    expect(of("mainline_pull_requests_concluded_total", "merged")).toBe(4);
    expect(of("mainline_test_runs_started_total")).toBe(8);
    expect(of("mainline_test_runs_concluded_total", "passed")).toBe(5);
    expect(of("mainline_landings_total")).toBe(3);
    expect(of("mainline_flaky_test_runs_total")).toBe(6);
    expect([of("mainline_batches_total", "tested"), of("mainline_batches_total", "bisected")]).toEqual([7, 1]);
    const unproven = (how: string) => of("mainline_pull_requests_merged_unproven_total", how);
    expect([unproven("by_successor"), unproven("directly")]).toEqual([2, 9]);
    expect(of("mainline_test_runs_per_merged_pull_request")).toBe(2);
    const bisection = value(aQueue({ totals }), "bisection");
    expect(bisection("mainline_test_runs_started_total")).toBe(2);
    expect(bisection("mainline_pull_requests_concluded_total", "merged")).toBe(0);
  });

  test("no merge yet is 0 tests per merge, not a division by it", () => {
    expect(value(aQueue())("mainline_test_runs_per_merged_pull_request")).toBe(0);
  });
});
