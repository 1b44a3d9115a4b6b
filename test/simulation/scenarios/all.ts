import type { Act, Scenario } from "./scenario.ts";

const submits = (...numbers: readonly number[]): readonly Act[] => numbers.map((submit) => ({ submit }));

/** With these, what people do on the host may be heard of too late to count. */
const UNNOTICED: Scenario["except"] = ["host: outage", "host: hangs", "process: standstill"];

const SINGLE: readonly Scenario[] = [
  { name: "one pull request passes", prs: { 1: {} }, acts: submits(1), ends: { 1: "MERGED" } },
  {
    name: "five pull requests are tested on top of each other",
    prs: { 1: {}, 2: {}, 3: {}, 4: {}, 5: {} },
    acts: submits(1, 2, 3, 4, 5),
    ends: { 1: "MERGED", 2: "MERGED", 3: "MERGED", 4: "MERGED", 5: "MERGED" },
  },
  {
    name: "one in the middle fails, and those behind it land without it",
    prs: { 1: {}, 2: { isBad: true }, 3: {} },
    acts: submits(1, 2, 3),
    ends: { 1: "MERGED", 2: "FAILED", 3: "MERGED" },
  },
  {
    name: "a check that fails by chance is repeated",
    prs: { 1: { flakes: 1 }, 2: {} },
    acts: submits(1, 2),
    ends: { 1: "MERGED", 2: "MERGED" },
  },
  {
    name: "two that are good alone and fail together: the second one fails",
    prs: { 1: {}, 2: { clashesWith: 1 } },
    acts: submits(1, 2),
    ends: { 1: "MERGED", 2: "FAILED" },
  },
  {
    name: "two that conflict in text: the second one waits for its author",
    prs: { 1: {}, 2: { conflictsWith: 1 } },
    acts: submits(1, 2),
    ends: { 1: "MERGED", 2: "OPEN" },
  },
  {
    name: "nothing can be built of it",
    prs: { 1: { isUnbuildable: true }, 2: {} },
    acts: submits(1, 2),
    ends: { 1: "FAILED", 2: "MERGED" },
  },
  {
    name: "somebody urgent goes ahead of who is being tested",
    settings: { concurrency: 1 },
    prs: { 1: {}, 2: {} },
    acts: [...submits(1), { when: { pr: 1, is: "TESTING" }, submit: 2, priority: "urgent" }],
    ends: { 1: "MERGED", 2: "MERGED" },
    medianMinutes: 6,
  },
  {
    name: "a test never ends, and its time runs out",
    needsTime: true,
    settings: { testingTimeoutMinutes: 10, retriesBeforeFailure: 0 },
    prs: { 1: {} },
    acts: submits(1),
    ends: { 1: "FAILED" },
    medianMinutes: 600,
  },
];

const PEOPLE: readonly Scenario[] = [
  {
    name: "one is cancelled while it is tested, and those behind it land",
    prs: { 1: {}, 2: {} },
    acts: [...submits(1, 2), { when: { pr: 1, is: "TESTING" }, cancel: 1 }],
    ends: { 1: "CANCELLED", 2: "MERGED" },
    medianMinutes: 6,
  },
  {
    name: "one is cancelled, and its targets come right after",
    prs: { 1: {}, 2: {} },
    acts: [
      ...submits(1, 2),
      { when: { pr: 1, is: "TESTING" }, cancel: 1 },
      { targets: 1, are: "ALL" },
      { when: { pr: 2, is: "TESTING" }, cancel: 2 },
      { targets: 2, are: ["app"] },
    ],
    ends: { 1: "CANCELLED", 2: "CANCELLED" },
    medianMinutes: 6,
  },
  {
    name: "one is cancelled and submitted again",
    prs: { 1: {} },
    acts: [...submits(1), { when: { pr: 1, is: "TESTING" }, cancel: 1 }, { submit: 1 }],
    ends: { 1: "MERGED" },
    medianMinutes: 6,
  },
  {
    name: "tests are restarted",
    prs: { 1: {}, 2: {} },
    acts: [...submits(1, 2), { when: { pr: 1, is: "TESTING" }, restart: 1 }],
    ends: { 1: "MERGED", 2: "MERGED" },
    medianMinutes: 6,
  },
  {
    name: "tests are restarted again and again",
    prs: { 1: {} },
    acts: [
      ...submits(1),
      ...Array.from({ length: 15 }, () => ({ when: { pr: 1, is: "TESTING" }, restart: 1 }) as const),
    ],
    ends: { 1: "MERGED" },
    medianMinutes: 10,
  },
  {
    name: "the queue is paused, and goes on",
    prs: { 1: {}, 2: {} },
    acts: [
      ...submits(1),
      { update: { state: "PAUSED" } },
      { submit: 2 },
      { when: { minutes: 15 }, update: { state: "RUNNING" } },
    ],
    ends: { 1: "MERGED", 2: "MERGED" },
  },
  {
    name: "the queue drains: who was in lands, who comes later waits until it runs again",
    prs: { 1: {}, 2: {} },
    acts: [
      ...submits(1),
      { when: { pr: 1, is: "TESTING" }, update: { state: "DRAINING" } },
      { submit: 2 },
      { when: { pr: 1, is: "MERGED" }, update: { state: "RUNNING" } },
    ],
    ends: { 1: "MERGED", 2: "MERGED" },
    medianMinutes: 6,
  },
  {
    name: "somebody pushes to the target, and all is tested again",
    prs: { 1: {}, 2: {} },
    acts: [...submits(1, 2), { when: { pr: 1, is: "TESTING" }, pushTarget: {} }],
    ends: { 1: "MERGED", 2: "MERGED" },
    also: ["1"],
    medianMinutes: 6,
  },
  {
    name: "another status is required from now on",
    prs: { 1: {} },
    acts: [...submits(1), { when: { pr: 1, is: "TESTING" }, pushTarget: { required: ["unit", "lint"] } }],
    ends: { 1: "MERGED" },
    also: ["1"],
    medianMinutes: 6,
  },
  {
    name: "a queued one is merged by hand",
    prs: { 1: {}, 2: {} },
    acts: [...submits(1, 2), { when: { pr: 2, is: "TESTING" }, mergeByHand: 2 }],
    ends: { 1: "MERGED", 2: "MERGED" },
    medianMinutes: 20,
    except: UNNOTICED,
  },
  {
    name: "a queued one is pushed to, and submitted again",
    prs: { 1: {} },
    acts: [...submits(1), { when: { pr: 1, is: "TESTING" }, push: 1 }, { when: { pr: 1, is: "CANCELLED" }, submit: 1 }],
    ends: { 1: "MERGED" },
    medianMinutes: 20,
    except: UNNOTICED,
  },
  {
    name: "a queued one is closed, another one retargeted",
    prs: { 1: {}, 2: {}, 3: {} },
    acts: [
      ...submits(1, 2, 3),
      { when: { pr: 1, is: "TESTING" }, close: 1 },
      { when: { pr: 2, is: "TESTING" }, retarget: 2, to: "other" },
    ],
    ends: { 1: "CANCELLED", 2: "CANCELLED", 3: "MERGED" },
    medianMinutes: 20,
    except: UNNOTICED,
  },
  {
    name: "a draft waits until it is ready",
    prs: { 1: { isDraft: true }, 2: {} },
    acts: [...submits(1, 2), { when: { pr: 2, is: "MERGED" }, makeReady: 1 }],
    ends: { 1: "MERGED", 2: "MERGED" },
  },
  {
    name: "the target branch is deleted and comes back",
    prs: { 1: {} },
    acts: [
      ...submits(1),
      { when: { pr: 1, is: "TESTING" }, target: "DELETED" },
      { when: { minutes: 10 }, target: "RESTORED" },
    ],
    ends: { 1: "MERGED" },
    medianMinutes: 6,
  },
];

const MORE: readonly Scenario[] = [
  {
    name: "lanes: who overlaps nobody waits for nobody",
    settings: { mode: "parallel" },
    prs: { 1: { areas: ["a"], isBad: true }, 2: { areas: ["b"] }, 3: { areas: ["a"] } },
    acts: [
      { targets: 1, are: ["a"] },
      { targets: 2, are: ["b"] },
      ...submits(1, 2, 3),
      { when: { pr: 3, is: "NOT_READY" }, targets: 3, are: ["a"] },
    ],
    ends: { 1: "FAILED", 2: "MERGED", 3: "MERGED" },
  },
  {
    name: "lanes from paths, and an upload that overrides",
    settings: { mode: "parallel" },
    prs: { 1: { areas: ["a"] }, 2: { areas: ["b"] }, 3: { areas: [] } },
    acts: [{ pushTarget: { mapsPaths: true } }, { targets: 3, are: "ALL" }, ...submits(1, 2, 3)],
    ends: { 1: "MERGED", 2: "MERGED", 3: "MERGED" },
    also: ["1"],
  },
  {
    name: "modes are switched with pull requests in flight",
    prs: { 1: {}, 2: {} },
    acts: [
      ...submits(1),
      { when: { pr: 1, is: "TESTING" }, update: { mode: "parallel" } },
      { targets: 2, are: "ALL" },
      { submit: 2 },
    ],
    ends: { 1: "MERGED", 2: "MERGED" },
    medianMinutes: 5,
  },
  {
    name: "a batch with a culprit is taken apart",
    needsTime: true,
    settings: { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 3 },
    prs: { 1: {}, 2: {}, 3: { isBad: true }, 4: {} },
    acts: submits(1, 2, 3, 4),
    ends: { 1: "MERGED", 2: "MERGED", 3: "FAILED", 4: "MERGED" },
  },
  {
    name: "the same, skipping what follows from known results",
    needsTime: true,
    settings: {
      batch: true,
      batchingMinSize: 4,
      batchingMaxWaitTimeMinutes: 3,
      bisectionConcurrency: 2,
      optimizationMode: "bisection_skip_redundant_tests",
    },
    prs: { 1: {}, 2: { isBad: true }, 3: {}, 4: { clashesWith: 3 } },
    acts: submits(1, 2, 3, 4),
    ends: { 1: "MERGED", 2: "FAILED", 3: "MERGED", 4: "FAILED" },
  },
  {
    name: "a batch under load, with one that wants to be tested alone",
    settings: { batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 0, concurrency: 1 },
    prs: { 1: {}, 2: {}, 3: {}, 4: {}, 5: {} },
    acts: [...submits(1, 2), { submit: 3, noBatch: true }, ...submits(4, 5)],
    ends: { 1: "MERGED", 2: "MERGED", 3: "MERGED", 4: "MERGED", 5: "MERGED" },
  },
  {
    name: "one that fails alone is cleared by the one behind it",
    settings: { canOptimisticallyMerge: true, pendingFailureDepth: 2 },
    prs: { 1: {}, 2: { mends: 1 } },
    acts: submits(1, 2),
    ends: { 1: "MERGED", 2: "MERGED" },
    // Who is in time to be waited for depends on them.
    except: ["host: run broken", "stream: late", "table: storm", "process: standstill", "host: outage", "host: hangs"],
  },
  {
    name: "a head that is green by itself is merged without a test",
    settings: { directMergeMode: "always" },
    prs: { 1: {}, 2: {} },
    acts: [
      { when: { minutes: 20 }, submit: 1 },
      { when: { pr: 1, is: "MERGED" }, submit: 2 },
    ],
    ends: { 1: "MERGED", 2: "MERGED" },
  },
];

export const SCENARIOS: readonly Scenario[] = [...SINGLE, ...PEOPLE, ...MORE];
