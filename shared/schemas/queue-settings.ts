import * as z from "zod";
import { enumIn, int, text, wireEnum } from "./wire.ts";

export const MODES = ["SINGLE", "PARALLEL"] as const;
export const OPTIMIZATION_MODES = ["OFF", "BISECTION_SKIP_REDUNDANT_TESTS"] as const;
export const DIRECT_MERGE_MODES = ["OFF", "ALWAYS"] as const;
export const MERGE_METHODS = ["MERGE_COMMIT", "SQUASH", "REBASE"] as const;
const POLICIES = ["ISOLATE"] as const;

const LIST_MAX = 100;

const list = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).max(LIST_MAX);

const batchingRules = {
  description:
    "A pull request with an impacted target that a pattern matches is tested in no batch. In a pattern, * is anything " +
    "within one part between slashes, ** as a whole part any number of parts, ? one character, and all else itself. " +
    "Only the first 1,000 targets of a set (64 KiB of them) are kept to be looked at: where a set holds more, any rule " +
    "isolates. A rule holds for targets that come after it.",
};

/** Bounds of the settings. Read and written alike; the defaults stand below, units stand in the names. */
const plain = {
  concurrency: int(1, 1000),
  bisectionConcurrency: int(1, 1000),
  batch: z.boolean(),
  batchingMinSize: int(1, 100),
  batchingMaxWaitTimeMinutes: int(0, 1440),
  testingTimeoutMinutes: int(0, 10_080),
  notReadyTimeoutHours: int(0, 720),
  pendingFailureDepth: int(0, 20),
  canOptimisticallyMerge: z.boolean(),
  retriesBeforeFailure: int(0, 3),
  forgiveQuarantined: z.boolean(),
  trustForkTargets: z.boolean(),
  requiredStatuses: list(text(1, 255)).nullable(),
  createPrsForTestingBranches: z.boolean(),
  commentsEnabled: z.boolean(),
  commandsEnabled: z.boolean(),
  statusCheckEnabled: z.boolean(),
  enqueueingLabel: text(1, 50),
  labelCommandsEnabled: z.boolean(),
  stateLabelsEnabled: z.boolean(),
  extensionEnabled: z.boolean(),
  allowedBotSubmitters: list(text(1, 100)),
};

/** Any subset: what createQueue and updateQueue take, and all that is worth storing. */
export const queueSettingsPatch = z
  .object({
    ...plain,
    mode: enumIn(MODES),
    optimizationMode: enumIn(OPTIMIZATION_MODES),
    directMergeMode: enumIn(DIRECT_MERGE_MODES),
    mergeMethod: enumIn(MERGE_METHODS),
    batchingRules: list(z.object({ targetPattern: text(1, 1000), policy: enumIn(POLICIES) })).meta(batchingRules),
  })
  .partial();
export type QueueSettingsPatch = z.output<typeof queueSettingsPatch>;

/** Every setting, with its defaults in place; the shape of replies. */
export const queueSettings = z.object({
  ...plain,
  mode: wireEnum(MODES),
  optimizationMode: wireEnum(OPTIMIZATION_MODES),
  directMergeMode: wireEnum(DIRECT_MERGE_MODES),
  mergeMethod: wireEnum(MERGE_METHODS),
  batchingRules: list(z.object({ targetPattern: z.string(), policy: wireEnum(POLICIES) })).meta(batchingRules),
});
export type QueueSettings = z.output<typeof queueSettings>;

/** `bisectionConcurrency` is missing: it follows `concurrency` until it is set. */
export const QUEUE_DEFAULTS = {
  mode: "SINGLE",
  concurrency: 5,
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
} as const;

const isSet = ([, value]: readonly [string, unknown]): boolean => value !== undefined;

/**
 * A patch with the defaults under it; what is no setting is left out. Store the patch: a default that changes later
 * then reaches every queue.
 */
export function resolveSettings(given: unknown): QueueSettings {
  const patch = queueSettingsPatch.parse(given);
  const bisectionConcurrency = patch.concurrency ?? QUEUE_DEFAULTS.concurrency;
  const set = Object.fromEntries(Object.entries(patch).filter(isSet));
  return queueSettings.parse({ ...QUEUE_DEFAULTS, bisectionConcurrency, ...set });
}
