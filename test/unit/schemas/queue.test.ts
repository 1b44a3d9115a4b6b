import { describe, expect, it } from "vitest";
import { createQueue, updateQueue } from "../../../shared/schemas/queue.ts";
import { resolveSettings } from "../../../shared/schemas/queue-settings.ts";

const REF = { repo: { host: "github.com", owner: "acme", name: "app" }, targetBranch: "main" };

describe("a queue without settings", () => {
  it("has the defaults", () => {
    expect(resolveSettings({})).toEqual({
      mode: "SINGLE",
      concurrency: 5,
      bisectionConcurrency: 5,
      batch: false,
      batchingMinSize: 4,
      batchingMaxWaitTimeMinutes: 5,
      testingTimeoutMinutes: 300,
      notReadyTimeoutHours: 168,
      pendingFailureDepth: 0,
      canOptimisticallyMerge: false,
      optimizationMode: "OFF",
      retriesBeforeFailure: 1,
      forgiveQuarantined: false,
      trustForkTargets: false,
      directMergeMode: "OFF",
      mergeMethod: "SQUASH",
      requiredStatuses: null,
      createPrsForTestingBranches: true,
      commentsEnabled: true,
      commandsEnabled: true,
      statusCheckEnabled: true,
      enqueueingLabel: "merge-queue",
      labelCommandsEnabled: false,
      stateLabelsEnabled: false,
      extensionEnabled: false,
      allowedBotSubmitters: [],
      batchingRules: [],
    });
  });

  it("bisects with as many slots as it tests with, until that is set", () => {
    expect(resolveSettings({ concurrency: 9 }).bisectionConcurrency).toBe(9);
    expect(resolveSettings({ concurrency: 9, bisectionConcurrency: 2 }).bisectionConcurrency).toBe(2);
    expect(resolveSettings({ concurrency: 9, bisectionConcurrency: undefined }).bisectionConcurrency).toBe(9);
  });
});

describe("a setting", () => {
  it.each([
    ["concurrency", 1, 1000],
    ["bisectionConcurrency", 1, 1000],
    ["batchingMinSize", 1, 100],
    ["batchingMaxWaitTimeMinutes", 0, 1440],
    ["testingTimeoutMinutes", 0, 10_080],
    ["notReadyTimeoutHours", 0, 720],
    ["pendingFailureDepth", 0, 20],
    ["retriesBeforeFailure", 0, 3],
  ])("%s is an integer %i..%i", (name, min, max) => {
    const good = (value: unknown): boolean => createQueue.safeParse({ ...REF, [name]: value }).success;
    expect([min, max].map(good)).toEqual([true, true]);
    expect([min - 1, max + 1, min + 0.5, String(min), null].map(good)).toEqual([false, false, false, false, false]);
  });

  it.each([
    [{ mode: "parallel" }, { mode: "PARALLEL" }],
    [{ mergeMethod: "Merge_Commit" }, { mergeMethod: "MERGE_COMMIT" }],
    [{ optimizationMode: "bisection_skip_redundant_tests" }, { optimizationMode: "BISECTION_SKIP_REDUNDANT_TESTS" }],
    [{ directMergeMode: "always" }, { directMergeMode: "ALWAYS" }],
    [{ state: "paused" }, { state: "PAUSED" }],
    [
      { batchingRules: [{ targetPattern: "//db/**", policy: "isolate" }] },
      { batchingRules: [{ targetPattern: "//db/**", policy: "ISOLATE" }] },
    ],
  ])("is read in any case: %j", (sent, read) => {
    expect(updateQueue.parse({ ...REF, ...sent })).toEqual({ ...REF, ...read });
  });

  it.each([
    { mode: "both" },
    { state: "SWITCHING_MODES" },
    { mergeMethod: 1 },
    { batch: "true" },
    { requiredStatuses: [""] },
  ])("is refused: %j", (sent) => {
    expect(updateQueue.safeParse({ ...REF, ...sent }).success).toBe(false);
  });

  it("says what it may be", () => {
    expect(createQueue.safeParse({ ...REF, mode: "both" }).error?.issues[0]?.message).toBe(
      "must be one of SINGLE, PARALLEL",
    );
  });
});

describe("required statuses", () => {
  it("that are an empty list ask for nothing", () => {
    expect(updateQueue.parse({ ...REF, requiredStatuses: [] })).toEqual(REF);
    expect(createQueue.parse({ ...REF, requiredStatuses: [] })).toEqual(REF);
  });

  it("are a list, or null for no override", () => {
    expect(updateQueue.parse({ ...REF, requiredStatuses: ["unit"] })).toEqual({ ...REF, requiredStatuses: ["unit"] });
    expect(updateQueue.parse({ ...REF, requiredStatuses: null })).toEqual({ ...REF, requiredStatuses: null });
  });
});
