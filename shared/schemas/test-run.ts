import * as z from "zod";
import { prNumber } from "./pull-request.ts";
import { queueRef } from "./repo.ts";
import { STRINGS_SHOWN_MAX } from "./shown.ts";
import { text, timeOut, wireEnum, wireWord } from "./wire.ts";

export const TEST_RUN_STATUSES = ["IN_PROGRESS", "FAILED", "CANCELLED", "SUCCEEDED"] as const;
export const STATUS_SOURCES = ["MERGE_INSTANCE", "CONFIG_FILE", "BRANCH_PROTECTION"] as const;
export const CHECK_STATES = ["PENDING", "SUCCESS", "FAILURE", "ERROR"] as const;

export const getMergeQueueTestingDetails = queueRef.extend({
  pr: z.object({ number: prNumber }).optional(),
  testRunId: text(1, 200).optional(),
});

export const statusCheck = z
  .object({ context: z.string(), state: wireEnum(CHECK_STATES), url: z.string().nullable() })
  .meta({ id: "StatusCheck" });

const checkRun = z.object({
  name: z.string(),
  url: z.string().nullable(),
  status: wireWord(),
  conclusion: wireWord().nullable(),
});

const shownTargets = z
  .union([z.array(z.string()), z.literal("ALL")])
  .meta({ description: `At most ${STRINGS_SHOWN_MAX} of them; the total stands beside.` });
const total = z.int().nullable().meta({ description: "null for ALL." });

export const testRun = z
  .object({
    testRunId: z.string(),
    status: wireEnum(TEST_RUN_STATUSES),
    isBisection: z.boolean(),
    createdAt: timeOut,
    testBranch: z.string(),
    testBranchSha: z.string().nullable(),
    baseSha: z.string(),
    requiredStatuses: z.array(z.string()),
    requiredStatusesSource: wireEnum(STATUS_SOURCES),
    statusChecks: z.array(statusCheck),
    checkSuites: z.array(z.object({ checkRuns: z.array(checkRun) })),
    testedPullRequests: z.array(
      z.object({ prNumber: z.int(), prUrl: z.string().nullable(), title: z.string().nullable() }),
    ),
    impactedTargets: shownTargets,
    impactedTargetsTotal: total,
    impactedTargetsForTestedPrs: shownTargets,
    impactedTargetsForTestedPrsTotal: total,
    dependentPrs: z.array(z.int()).meta({ description: "Pull requests that are tested on top of these." }),
  })
  .meta({ id: "TestRun" });

/** Where one run is named, its fields stand at the top level as well. */
export const testingDetails = testRun
  .partial()
  .extend({ testRuns: z.array(testRun) })
  .meta({ id: "TestingDetails" });
