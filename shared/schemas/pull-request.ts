import * as z from "zod";
import { headBranch } from "./branch.ts";
import { impactedTargets } from "./impacted-targets.ts";
import { priority, priorityNameOut } from "./priority.ts";
import { queueRef } from "./repo.ts";
import { across, enumIn, int, text, timeIn, timeOut, wireEnum, wireWord } from "./wire.ts";

/** Equal to the engine's ENTRY_STATES; a test holds the two together. */
export const PULL_REQUEST_STATES = [
  "NOT_READY",
  "PENDING",
  "TESTING",
  "TESTS_PASSED",
  "PENDING_FAILURE",
  "MERGED",
  "FAILED",
  "CANCELLED",
] as const;

const PR_NUMBER_MAX = 4_294_967_295;

/** Public upload scripts send the number as a string. Twenty digits are past every bound and cheap to read. */
export const prNumber = z.preprocess(
  (value) => (typeof value === "string" && /^[0-9]{1,20}$/u.test(value) ? Number(value) : value),
  int(1, PR_NUMBER_MAX),
);

export const sha = z
  .string()
  .regex(/^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/u, "must be a full commit id of 40 or 64 hex digits")
  .transform((value) => value.toLowerCase());

const pr = z.object({ number: prNumber });

/** Names one pull request in one queue; the whole request of cancel, restart and explain. */
export const pullRequestRef = queueRef.extend({ pr });

export const submitPullRequest = pullRequestRef.extend({
  priority: priority.optional(),
  noBatch: z.boolean().optional(),
});

export const getSubmittedPullRequest = queueRef.extend({
  pr: z
    .object({ number: prNumber.optional(), branch: headBranch.optional() })
    .refine((pr) => pr.number !== undefined || pr.branch !== undefined, "must hold number or branch"),
  includeTimeline: z.boolean().optional(),
});

export const getSubmittedPullRequests = queueRef.extend({ prs: z.array(pr).min(1).max(50) });

export const CURSOR_LENGTH_MAX = 2048;

export const listPullRequests = queueRef.extend({
  state: enumIn(PULL_REQUEST_STATES).optional(),
  since: timeIn.optional(),
  until: timeIn.optional(),
  cursor: text(1, CURSOR_LENGTH_MAX).optional(),
  take: int(1, 100).default(50),
});

export const setImpactedTargets = queueRef
  .extend({
    pr: pr.extend({ sha: sha.optional() }),
    impactedTargets: impactedTargets.optional(),
    uploadId: text(1, 200).optional(),
  })
  .refine((request) => (request.impactedTargets === undefined) !== (request.uploadId === undefined), {
    ...across(() => true),
    path: ["impactedTargets"],
    message: "must be sent, or uploadId in its place, and not both",
  });

export const createImpactedTargetsUpload = queueRef.extend({ pr: pr.extend({ sha }) });

export const MERGEABILITIES = ["UNSPECIFIED", "IN_PROGRESS", "MERGEABLE", "NOT_MERGEABLE"] as const;

export const timelineMove = z
  .object({
    at: timeOut,
    from: wireEnum(PULL_REQUEST_STATES).nullable(),
    to: wireEnum(PULL_REQUEST_STATES),
    reason: wireWord(),
    message: z.string(),
    cause: z.string().meta({ description: "Who or what: user:<token name>, host, run:<test run id>, queue, time." }),
    testRunId: z.string().nullable(),
  })
  .meta({ id: "TimelineMove" });

export const conclusion = z.object({ reason: wireWord(), message: z.string() }).meta({ id: "Conclusion" });

export const submittedPullRequest = z
  .object({
    id: z.string(),
    state: wireEnum(PULL_REQUEST_STATES),
    stateChangedAt: timeOut,
    readiness: z.object({
      hasImpactedTargets: z.boolean(),
      requiresImpactedTargets: z.boolean(),
      doesBaseBranchMatch: z.boolean(),
      gitHubMergeability: wireEnum(MERGEABILITIES),
    }),
    priorityValue: z.int(),
    priorityName: priorityNameOut,
    usedDefaultPriorityName: z.boolean(),
    skipTheLine: z.boolean(),
    forceEnqueued: z.boolean(),
    noBatch: z.boolean(),
    isCurrentlySubmittedToQueue: z.boolean(),
    prNumber: z.int(),
    prTitle: z.string().nullable(),
    prSha: z.string().nullable(),
    prBaseBranch: z.string().nullable(),
    prAuthor: z.string().nullable(),
    submittedAt: timeOut,
    verifiedByTestRun: z.string().nullable(),
    conclusion: conclusion.nullable(),
    timeline: z.array(timelineMove).optional().meta({ description: "Newest first; only where asked for." }),
  })
  .meta({ id: "SubmittedPullRequest", description: "The code host's facts are null until it has been asked." });

export const submittedPullRequests = z.object({
  pullRequests: z.array(submittedPullRequest),
  notFound: z.array(z.int()),
});

export const pullRequestPage = z.object({
  pullRequests: z.array(submittedPullRequest),
  nextCursor: z.string().optional().meta({ description: "Absent on the last page." }),
});

/** Not an enum: the word is the client's own and keeps its case. */
const allTargets = z.literal("ALL");

export const impactedTargetsSet = z.object({
  prNumber: z.int(),
  prSha: z.string(),
  impactedTargets: z.union([z.int(), allTargets]).meta({ description: "How many different ones, or ALL." }),
});

export const impactedTargetsUpload = z.object({
  uploadId: z.string(),
  url: z.string(),
  fields: z.record(z.string(), z.string()).meta({ description: "Form fields to send before the file." }),
  expiresAt: timeOut,
});
