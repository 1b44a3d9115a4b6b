/** The service's values as the wire shows them. Enums stay UPPER_SNAKE here; `endpoint()` writes a token's case. */
import type { ReplyOf } from "../shared/api/routes.ts";
import { type QueueKey, repoKey } from "../shared/kernel/ids.ts";
import type { OrgSlug } from "../shared/kernel/ids.ts";
import type { OpenReceipt } from "../shared/kernel/receipt.ts";
import { toRfc3339 } from "../shared/kernel/time.ts";
import type { Recording } from "../shared/queue/app/ports.ts";
import type { ExplanationView, PullRequestView } from "../shared/queue/app/pull-requests.ts";
import type { QueueView } from "../shared/queue/app/queues.ts";
import { type EntryView, isInQueue } from "../shared/queue/app/shown.ts";
import type { TargetsView, TestRunView } from "../shared/queue/app/test-runs.ts";
import { isUrgent } from "../shared/queue/engine/order.ts";
import type { Entry, Move, StatusCheck } from "../shared/queue/engine/types.ts";
import { priorityName } from "../shared/schemas/priority.ts";
import { STRINGS_SHOWN_MAX } from "../shared/schemas/shown.ts";

type Ref = { readonly repo: { host: string; owner: string; name: string }; readonly targetBranch: string };

export const keyOf = (org: OrgSlug, { repo, targetBranch }: Ref): QueueKey => ({
  org,
  repo: repoKey(repo),
  branch: targetBranch,
});

/** Records the answer with the change, as the endpoint will send it. */
export const recordedAs =
  <View, Body>(receipt: OpenReceipt<Body> | undefined, present: (view: View) => Body): Recording<View> =>
  (view) =>
    receipt === undefined ? undefined : { receipt, body: receipt.answer(present(view)) };

type PullRequest = ReplyOf<"submit-pull-request">;

/** States in which the run that decided about it is known. */
const DECIDED: ReadonlySet<Entry["state"]> = new Set(["TESTS_PASSED", "MERGED", "FAILED"]);

export function pullRequest(branch: string, { entry, requiresTargets, timeline }: PullRequestView): PullRequest {
  const { pr } = entry;
  return {
    id: entry.id,
    state: entry.state,
    stateChangedAt: toRfc3339(entry.stateChangedAt),
    readiness: {
      hasImpactedTargets: entry.targets !== null,
      requiresImpactedTargets: requiresTargets,
      doesBaseBranchMatch: pr?.baseBranch === branch,
      gitHubMergeability: pr?.mergeability ?? "UNSPECIFIED",
    },
    priorityValue: entry.priority.value,
    priorityName: priorityName(entry.priority.value),
    usedDefaultPriorityName: entry.priority.byDefault,
    skipTheLine: isUrgent(entry),
    forceEnqueued: false,
    noBatch: entry.noBatch,
    isCurrentlySubmittedToQueue: isInQueue(entry),
    prNumber: entry.prNumber,
    prTitle: pr?.title ?? null,
    prSha: entry.headSha,
    prBaseBranch: pr?.baseBranch ?? null,
    prAuthor: pr?.author.name ?? null,
    submittedAt: toRfc3339(entry.submittedAt),
    verifiedByTestRun: DECIDED.has(entry.state) ? entry.verifiedBy : null,
    conclusion: entry.conclusion,
    ...(timeline === undefined ? {} : { timeline: timeline.map(move) }),
  };
}

/** For the endpoints that answer the PR they changed. */
export const entryPresenter =
  (branch: string) =>
  (view: EntryView): PullRequest =>
    pullRequest(branch, view);

const move = (one: Move) => ({
  at: toRfc3339(one.at),
  from: one.from,
  to: one.to,
  reason: one.reason,
  message: one.message,
  cause: one.cause,
  testRunId: one.run,
});

export function queue(view: QueueView): ReplyOf<"create-queue"> {
  const { settings, repo, branch, state, stateReason, allowUrgent, mode, switchingTo } = view;
  return {
    ...settings,
    mode,
    requiredStatuses: settings.requiredStatuses === null ? null : [...settings.requiredStatuses],
    allowedBotSubmitters: [...settings.allowedBotSubmitters],
    batchingRules: settings.batchingRules.map((rule) => ({ ...rule })),
    repo: { host: repo.host, owner: repo.owner, name: repo.name },
    branch,
    state,
    stateChangedAt: toRfc3339(view.stateChangedAt),
    stateReason,
    allowUrgent,
    switchingTo,
  };
}

/** /getQueue answers all entries up to so many bytes; /listPullRequests pages through the rest. */
const QUEUE_BYTES_MAX = 5_000_000;

export function queueWithEntries(view: QueueView, entries: readonly Entry[]): ReplyOf<"get-queue"> {
  const shown: PullRequest[] = [];
  const requiresTargets = view.settings.mode === "PARALLEL";
  let bytes = 0;
  for (const entry of entries) {
    const one = pullRequest(view.branch, { entry, requiresTargets });
    bytes += Buffer.byteLength(JSON.stringify(one)) + 1;
    if (bytes > QUEUE_BYTES_MAX) break;
    shown.push(one);
  }
  return { ...queue(view), enqueuedPullRequests: shown, truncated: shown.length < entries.length };
}

const statusCheck = ({ context, state, url }: StatusCheck) => ({ context, state, url });

const CHECK_RUN_CONCLUSIONS = { PENDING: null, SUCCESS: "SUCCESS", FAILURE: "FAILURE", ERROR: "ERROR" } as const;

const checkRun = ({ context, state, url }: StatusCheck) => ({
  name: context,
  url,
  status: state === "PENDING" ? "IN_PROGRESS" : "COMPLETED",
  conclusion: CHECK_RUN_CONCLUSIONS[state],
});

const cut = ({ shown }: TargetsView) => (shown === "ALL" ? shown : shown.slice(0, STRINGS_SHOWN_MAX));

export function testRun(view: TestRunView) {
  const { run } = view;
  return {
    testRunId: run.id,
    status: view.status,
    isBisection: run.kind === "BISECTION",
    createdAt: toRfc3339(run.startedAt),
    testBranch: run.branch,
    testBranchSha: run.commit,
    baseSha: run.base,
    requiredStatuses: [...run.required],
    requiredStatusesSource: run.requiredSource,
    statusChecks: run.statuses.map(statusCheck),
    checkSuites: run.statuses.length === 0 ? [] : [{ checkRuns: run.statuses.map(checkRun) }],
    testedPullRequests: view.tested.map((pr) => ({ prNumber: pr.prNumber, prUrl: pr.url, title: pr.title })),
    impactedTargets: cut(view.impactedTargets),
    impactedTargetsTotal: view.impactedTargets.total,
    impactedTargetsForTestedPrs: cut(view.impactedTargetsForTested),
    impactedTargetsForTestedPrsTotal: view.impactedTargetsForTested.total,
    dependentPrs: [...view.dependents],
  } satisfies ReplyOf<"get-merge-queue-testing-details">["testRuns"][number];
}

export function explanation(view: ExplanationView): ReplyOf<"explain-pull-request"> {
  const { entry, failedRun } = view;
  return {
    prNumber: entry.prNumber,
    state: entry.state,
    position: view.position,
    summary: view.summary,
    blockers: view.blockers.map(({ kind, message, prNumber }) => ({
      kind,
      message,
      ...(prNumber === null ? {} : { prNumber }),
    })),
    waitsFor: [...view.waitsFor],
    whatWouldMoveIt: [...view.whatWouldMoveIt],
    ...(failedRun === undefined
      ? {}
      : { failedRun: { testRunId: failedRun.id, statuses: failedRun.statuses.map(statusCheck) } }),
    conclusion: entry.conclusion,
    notes: view.timeline.map((one) => ({ at: toRfc3339(one.at), message: one.message })),
  };
}
