import { afterEach, describe } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aLanedQueue, targetsOf } from "../../support/laned-queue.ts";
import { aQueue, aTip, type ScriptedQueue, testing } from "../../support/queue.ts";
import { told } from "./explained.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const OPTIMISTIC: Partial<Settings> = { canOptimisticallyMerge: true, pendingFailureDepth: 2, retriesBeforeFailure: 0 };
const news = { type: "news", prNumbers: [], tip: { sha: null } } as const;
const batch = (change: Partial<Settings> = {}): ScriptedQueue =>
  aQueue({ batch: true, batchingMinSize: 2, retriesBeforeFailure: 0, ...change }).opens();

describe("one that is tested", () => {
  const slow = { testingTimeoutMinutes: 0, requiredStatuses: ["unit", "lint"] };
  told([
    [
      "alone",
      () => testing([1]),
      1,
      "1. PR #1 is being tested: unit must pass in test run q-1 by 2023-11-15T03:13:21.000Z; unit has not reported yet; seen so far: nothing. (TESTS, STATUS_NOT_REPORTED) [waits for unit] -> the end of its tests",
    ],
    [
      "behind others",
      () => testing([1, 2, 3]),
      3,
      "3. PR #3 is being tested: unit must pass in test run q-3 by 2023-11-15T03:13:23.000Z; it assumes that PR #1, PR #2 land before it; unit has not reported yet; seen so far: nothing. (TESTS, STATUS_NOT_REPORTED) [waits for unit] -> the end of its tests",
    ],
    [
      "without one that failed",
      () => testing([1, 2, 3]).fails(1).builds(2),
      2,
      "2. PR #2 is being tested: unit must pass in test run q-4 by 2023-11-15T03:13:23.000Z; it assumes that PR #1 does not land; unit has not reported yet; seen so far: nothing. (TESTS, STATUS_NOT_REPORTED) [waits for unit] -> the end of its tests",
    ],
    [
      "and of whom a part is known",
      () => testing([1], slow).reports(1, { unit: "SUCCESS", other: "FAILURE" }, { complete: false }),
      1,
      "1. PR #1 is being tested: lint must pass in test run q-1; lint has not reported yet; seen so far: unit, other. (TESTS, STATUS_NOT_REPORTED) [waits for lint] -> the end of its tests",
    ],
    [
      "and of whom all has been heard",
      () => testing([1], slow).reports(1, { unit: "SUCCESS", lint: "PENDING" }, { complete: false }),
      1,
      "1. PR #1 is being tested: lint must pass in test run q-1. (TESTS) [waits for lint] -> the end of its tests",
    ],
    [
      "together with another",
      () => batch().submits(1, 2).builds(1),
      1,
      "1. PR #1 is being tested: unit must pass in test run q-1 by 2023-11-15T03:13:22.000Z; unit has not reported yet; seen so far: nothing; it is tested and lands together with PR #2. (TESTS, STATUS_NOT_REPORTED, BATCH) [waits for unit] -> the end of its tests",
    ],
    [
      "in the bisection",
      () => batch().submits(1, 2).builds(1).fails(1).builds(1),
      1,
      "1. PR #1 is being tested in the bisection of its batch: unit must pass in test run q-2 by 2023-11-15T03:13:22.000Z; unit has not reported yet; seen so far: nothing. (TESTS, STATUS_NOT_REPORTED) [waits for unit] -> the end of its tests",
    ],
  ]);
});

describe("one that has passed", () => {
  told([
    [
      "and lands",
      () => testing([1, 2]).passes(1),
      1,
      "1. PR #1 has passed its tests: it is landing. (LANDING) -> the code host's answer",
    ],
    [
      "and whose landing broke",
      () => testing([1, 2]).passes(1).refuses({ kind: "INFRASTRUCTURE", what: "502" }),
      1,
      "1. PR #1 has passed its tests: its landing is tried again at 2023-11-14T22:13:32.000Z: 502. (LANDING) -> the code host's answer",
    ],
    [
      "behind one that lands",
      () => testing([1, 2]).passes(1, 2),
      2,
      "2. PR #2 has passed its tests: PR #1, which is landing, is ahead of it. (PREDECESSOR #1) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "behind one that is tested",
      () => testing([1, 2]).passes(2),
      2,
      "2. PR #2 has passed its tests: PR #1, which is being tested, is ahead of it. (PREDECESSOR #1) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "without one ahead that has failed",
      () => {
        const queue = testing([1, 2]).fails(1).builds(2);
        return queue.reportsOn(queue.run(2).id, { unit: "SUCCESS" });
      },
      2,
      "2. PR #2 has passed its tests: PR #1, which has failed and is not judged yet, is ahead of it; q-3 passed without it, and is void if it lands. (PREDECESSOR #1) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "while the queue is paused",
      () => testing([1]).turns("PAUSED").passes(1),
      1,
      "1. PR #1 has passed its tests: the queue lands nothing: set by an operator at 2023-11-14T22:13:21.000Z. (PAUSED) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "while the target is read",
      () => testing([1]).event(news).passes(1),
      1,
      "1. PR #1 has passed its tests: main is being read again before anything lands. (TARGET_READ) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "while its new targets are compared",
      () =>
        aLanedQueue()
          .opens()
          .brings(1, "a")
          .builds(1)
          .asks(1, { targets: targetsOf("b") })
          .passes(1),
      1,
      "1. PR #1 has passed its tests: new impacted targets of PR #1 are being compared first. (COMPARING_TARGETS) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "in one lane, while targets are compared for the lanes to come",
      () =>
        aLanedQueue({ mode: "SINGLE" })
          .opens()
          .submitsWith(1, { targets: targetsOf("a") })
          .builds(1)
          .turns("PAUSED")
          .sets({ mode: "PARALLEL" })
          .passes(1),
      1,
      "1. PR #1 has passed its tests: the queue lands nothing: set by an operator at 2023-11-14T22:13:21.000Z. (PAUSED) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "while one of another lane lands",
      () => aLanedQueue().opens().brings(1, "a").brings(2, "b").builds(1, 2).passes(1, 2),
      2,
      "2. PR #2 has passed its tests: PR #1 is landing, and one lands at a time: it is landing. (OTHER_LANDING #1) -> the pull requests ahead landing, or leaving the queue",
    ],
    [
      "by a successor",
      () => testing([1, 2], OPTIMISTIC).turns("PAUSED").passes(2),
      1,
      "1. PR #1 has passed its tests: the test of PR #2 behind it, which contains it, passed: they land together; the queue lands nothing: set by an operator at 2023-11-14T22:13:22.000Z. (CLEARED, PAUSED) -> the pull requests ahead landing, or leaving the queue",
    ],
  ]);
});

describe("one that has failed", () => {
  const two = { requiredStatuses: ["unit", "lint"] };
  told([
    [
      "and is repeated",
      () => testing([1, 2]).fails(1),
      1,
      "1. PR #1 failed unit in q-1: unit failed in q-1 and is being repeated. (REPEAT) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "and is repeated behind another",
      () => testing([1, 2]).fails(2),
      2,
      "2. PR #2 failed unit in q-2: unit failed in q-2 and is being repeated; whether PR #1 caused it is not known before that one is settled. (REPEAT, PREDECESSOR #1) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "behind another",
      () => testing([1, 2], { retriesBeforeFailure: 0 }).fails(2),
      2,
      "2. PR #2 failed unit in q-2: whether PR #1 caused it is not known before that one is settled. (PREDECESSOR #1) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "while the queue is paused",
      () => testing([1]).turns("PAUSED").fails(1),
      1,
      "1. PR #1 failed unit in q-1: the queue starts no repeat: set by an operator at 2023-11-14T22:13:21.000Z. (PAUSED) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "before all is known",
      () => testing([1], two).reports(1, { unit: "FAILURE" }, { complete: false }),
      1,
      "1. PR #1 failed unit in q-1: unit in q-1: the repeat waits for lint, still to come. (REPEAT) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "before all is known, where that may take as long as it likes",
      () =>
        testing([1, 2, 3], { ...two, testingTimeoutMinutes: 0, concurrency: 3 })
          .sets({ concurrency: 1 })
          .reports(1, { unit: "FAILURE" }, { complete: false }),
      1,
      "1. PR #1 failed unit in q-1: unit in q-1: the repeat waits for a slot, or for the pull requests ahead. (REPEAT) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "and has no slot for a repeat",
      () => testing([1, 2, 3], { concurrency: 3 }).sets({ concurrency: 2 }).fails(1),
      1,
      "1. PR #1 failed unit in q-1: unit in q-1: the repeat waits for a slot, or for the pull requests ahead. (REPEAT) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "while the tip fails",
      () => {
        const queue = testing([1, 2], { retriesBeforeFailure: 0 })
          .passes(1)
          .lands({ onMovedTip: true, tip: aTip("X") });
        const tip = queue.tipRun()?.id ?? ("none" as never);
        return queue.builds(2).builtRun(tip).reportsOn(tip, { unit: "FAILURE" }).fails(2);
      },
      2,
      "1. PR #2 failed unit in q-4: nobody is judged while main itself fails. (TIP_FAILED) -> a repeat that passes; the pull requests ahead being settled",
    ],
    [
      "and may be cleared",
      () => testing([1, 2], OPTIMISTIC).fails(1),
      1,
      "1. PR #1 failed unit in q-1: the test of PR #2 behind it, which contains it, would clear it; it waits for that until 2023-11-15T03:13:22.000Z at most. (SUCCESSOR #2) -> a repeat that passes; a pull request behind it that contains it and passes; the pull requests ahead being settled",
    ],
    [
      "with others, in front of which another is tested",
      () => batch().submitsWith(9, { noBatch: true }).submits(1, 2).builds(9, 1).after(MINUTE_MS).fails(1),
      1,
      "2. PR #1 failed unit in q-2: whether PR #9 caused it is not known before that one is settled. (PREDECESSOR #9) -> the bisection of its batch, which shows whether it or PR #2 failed; the pull requests ahead being settled",
    ],
  ]);
});

describe("one that has ended", () => {
  told([
    [
      "on the target",
      () => testing([1]).passes(1).lands(),
      1,
      "-. PR #1 ended MERGED: merged into main as commit-q-1. () -> ",
    ],
    [
      "by a wish",
      () => testing([1]).cancels(1),
      1,
      "-. PR #1 ended CANCELLED: cancelled by bob. () -> submitting it again",
    ],
    [
      "by its tests",
      () => testing([1], { retriesBeforeFailure: 0 }).fails(1),
      1,
      "-. PR #1 ended FAILED: unit failed. () -> submitting it again",
    ],
  ]);
});
