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

/** What each does, for whoever reads the contract; README.md says how to choose. */
const says = {
  mode:
    "SINGLE: one line, each is tested on top of all ahead of it. PARALLEL: on top of those ahead only whose impacted " +
    "targets it shares.",
  concurrency: "Test runs at once, those of bisections aside.",
  bisectionConcurrency:
    "Runs at once that take failed batches apart, beside the others. Follows concurrency until set.",
  batch: "Several pull requests may be tested as one. One that fails is taken apart, and only the culprits fail.",
  batchingMinSize: "How many a batch is to hold: it forms when as many are there. It never holds more.",
  batchingMaxWaitTimeMinutes:
    "After this time a batch forms of those that are there. 0: nobody waits; a batch forms only as far as more wait " +
    "than there are free slots, and then also of pull requests that do not overlap.",
  retriesBeforeFailure:
    "How often failed checks are repeated, they alone, before a failure counts. The second and third repeat are made " +
    "only where tests fail by chance often enough to be worth it.",
  canOptimisticallyMerge:
    "A test run that passes proves every pull request that it contains, those whose own test failed or still runs " +
    "included; all of them land in one movement to the tested commit.",
  pendingFailureDepth:
    "With canOptimisticallyMerge: a failure waits for a run that contains it, of one of so many pull requests behind " +
    "it. Without it, this has no effect.",
  optimizationMode:
    "BISECTION_SKIP_REDUNDANT_TESTS: when a batch is taken apart, the run that failed stands for the last part on top " +
    "of the others, and is confirmed by a repeat in place of another run.",
  directMergeMode:
    "ALWAYS: a pull request whose head contains the target, and on which a test run has passed, lands without another.",
  forgiveQuarantined:
    "A failure that only quarantined tests caused counts as a pass, if the reports of its checks say so within 5 minutes.",
} as const;

/** Bounds of the settings. Read and written alike; the defaults stand below, units stand in the names. */
const plain = {
  concurrency: int(1, 1000).meta({ description: says.concurrency }),
  bisectionConcurrency: int(1, 1000).meta({ description: says.bisectionConcurrency }),
  batch: z.boolean().meta({ description: says.batch }),
  batchingMinSize: int(1, 100).meta({ description: says.batchingMinSize }),
  batchingMaxWaitTimeMinutes: int(0, 1440).meta({ description: says.batchingMaxWaitTimeMinutes }),
  testingTimeoutMinutes: int(0, 10_080),
  notReadyTimeoutHours: int(0, 720),
  pendingFailureDepth: int(0, 20).meta({ description: says.pendingFailureDepth }),
  canOptimisticallyMerge: z.boolean().meta({ description: says.canOptimisticallyMerge }),
  retriesBeforeFailure: int(0, 3).meta({ description: says.retriesBeforeFailure }),
  forgiveQuarantined: z.boolean().meta({ description: says.forgiveQuarantined }),
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
    mode: enumIn(MODES).meta({ description: says.mode }),
    optimizationMode: enumIn(OPTIMIZATION_MODES).meta({ description: says.optimizationMode }),
    directMergeMode: enumIn(DIRECT_MERGE_MODES).meta({ description: says.directMergeMode }),
    mergeMethod: enumIn(MERGE_METHODS),
    batchingRules: list(z.object({ targetPattern: text(1, 1000), policy: enumIn(POLICIES) })).meta(batchingRules),
  })
  .partial();
export type QueueSettingsPatch = z.output<typeof queueSettingsPatch>;

/** Every setting, with its defaults in place; the shape of replies. */
export const queueSettings = z.object({
  ...plain,
  mode: wireEnum(MODES).meta({ description: says.mode }),
  optimizationMode: wireEnum(OPTIMIZATION_MODES).meta({ description: says.optimizationMode }),
  directMergeMode: wireEnum(DIRECT_MERGE_MODES).meta({ description: says.directMergeMode }),
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
