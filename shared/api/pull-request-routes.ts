import * as explanations from "../schemas/explanation.ts";
import * as prs from "../schemas/pull-request.ts";
import * as runs from "../schemas/test-run.ts";
import { route } from "./route.ts";

const reads = {
  method: "POST",
  tag: "Pull requests",
  auth: "token",
  scope: "read",
  writes: false,
  tableAccess: "read",
  media: "application/json",
} as const;
const submits = { ...reads, scope: "submit", writes: true, tableAccess: "write" } as const;

export const pullRequestRoutes = {
  "submit-pull-request": route("submit-pull-request", {
    ...submits,
    path: "/submitPullRequest",
    summary: "Submit a pull request to a merge queue",
    description:
      "Submitting one that is already queued changes only those of `priority` and `noBatch` that are sent, and keeps its place among equals. One that failed or was cancelled is queued anew.",
    request: prs.submitPullRequest,
    reply: prs.submittedPullRequest,
    errors: ["QUEUE_NOT_FOUND", "PULL_REQUEST_NOT_FOUND", "PULL_REQUEST_ALREADY_MERGED"],
  }),
  "cancel-pull-request": route("cancel-pull-request", {
    ...submits,
    path: "/cancelPullRequest",
    summary: "Take a pull request out of its merge queue",
    description:
      "Cancelling what is already cancelled changes nothing. One that is landing can no longer be cancelled.",
    request: prs.pullRequestRef,
    reply: prs.submittedPullRequest,
    errors: [
      "QUEUE_NOT_FOUND",
      "PULL_REQUEST_NOT_FOUND",
      "PULL_REQUEST_ALREADY_MERGED",
      "PULL_REQUEST_NOT_IN_QUEUE",
      "PULL_REQUEST_LANDING",
    ],
  }),
  "restart-tests-on-pull-request": route("restart-tests-on-pull-request", {
    ...submits,
    path: "/restartTestsOnPullRequest",
    summary: "Test a queued pull request again",
    description: "Only while it is in the queue; it keeps its place.",
    request: prs.pullRequestRef,
    reply: prs.submittedPullRequest,
    errors: ["QUEUE_NOT_FOUND", "PULL_REQUEST_NOT_FOUND", "PULL_REQUEST_NOT_IN_QUEUE", "PULL_REQUEST_LANDING"],
  }),
  "get-submitted-pull-request": route("get-submitted-pull-request", {
    ...reads,
    path: "/getSubmittedPullRequest",
    summary: "Get a submitted pull request",
    description: "By its number, or by its head branch; the number counts where both are sent.",
    request: prs.getSubmittedPullRequest,
    reply: prs.submittedPullRequest,
    errors: ["QUEUE_NOT_FOUND", "PULL_REQUEST_NOT_FOUND"],
  }),
  "get-submitted-pull-requests": route("get-submitted-pull-requests", {
    ...reads,
    path: "/getSubmittedPullRequests",
    summary: "Get up to 50 submitted pull requests",
    description: "Numbers that were never submitted to this queue stand in `notFound`.",
    request: prs.getSubmittedPullRequests,
    reply: prs.submittedPullRequests,
    errors: ["QUEUE_NOT_FOUND"],
  }),
  "list-pull-requests": route("list-pull-requests", {
    ...reads,
    path: "/listPullRequests",
    summary: "Page through a queue's pull requests",
    description: "`since` and `until` are about the time at which a pull request ended.",
    request: prs.listPullRequests,
    reply: prs.pullRequestPage,
    errors: ["QUEUE_NOT_FOUND"],
  }),
  "set-impacted-targets": route("set-impacted-targets", {
    ...submits,
    auth: "token-or-fork",
    path: "/setImpactedTargets",
    summary: "Set what a pull request's commit changes",
    description:
      "The last upload for a commit wins. It is kept also before the pull request is submitted. At most 20 MiB of JSON, gzip accepted; send `ALL` where there are more.",
    request: prs.setImpactedTargets,
    reply: prs.impactedTargetsSet,
    errors: [
      "QUEUE_NOT_FOUND",
      "PULL_REQUEST_NOT_FOUND",
      "UPLOAD_NOT_FOUND",
      "BODY_TOO_LARGE",
      "UNAUTHENTICATED",
      "FORBIDDEN",
    ],
  }),
  "create-impacted-targets-upload": route("create-impacted-targets-upload", {
    ...submits,
    path: "/setImpactedTargets/upload",
    summary: "Get an address to upload a large set of impacted targets to",
    description: "Afterwards send `uploadId` to /setImpactedTargets in place of `impactedTargets`.",
    request: prs.createImpactedTargetsUpload,
    reply: prs.impactedTargetsUpload,
    errors: ["QUEUE_NOT_FOUND", "PULL_REQUEST_NOT_FOUND"],
  }),
  "get-merge-queue-testing-details": route("get-merge-queue-testing-details", {
    ...reads,
    path: "/getMergeQueueTestingDetails",
    summary: "Get test runs",
    description:
      "All runs in progress; with `pr.number` the latest run of that pull request; with `testRunId` that run. Where one run is named, its fields also stand at the top level.",
    request: runs.getMergeQueueTestingDetails,
    reply: runs.testingDetails,
    errors: ["QUEUE_NOT_FOUND", "PULL_REQUEST_NOT_FOUND", "TEST_RUN_NOT_FOUND"],
  }),
  "explain-pull-request": route("explain-pull-request", {
    ...reads,
    path: "/explainPullRequest",
    summary: "Why a pull request is where it is",
    description: "What blocks it, what it waits for and what would move it; for one that ended, why it ended.",
    request: prs.pullRequestRef,
    reply: explanations.explanation,
    errors: ["QUEUE_NOT_FOUND", "PULL_REQUEST_NOT_FOUND"],
  }),
} as const;
