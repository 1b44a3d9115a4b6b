import type { EpochMs } from "../kernel/time.ts";
import { QUEUE_STATES, type QueueFacts, type RunFacts, type SubmissionFacts } from "./facts.ts";
import type { QueueType, SeriesName } from "./series.ts";

/** A number under labels beyond the common ones, or the observations of a histogram. */
export type Measured =
  | { readonly value: number; readonly labels?: Readonly<Record<string, string>> }
  | { readonly observed: readonly number[] };

export type Measures = Readonly<Record<SeriesName, readonly Measured[]>>;

/** Everything that is said of one lane of a queue. A lane in which nothing happens has its zeros. */
export function measure(queue: QueueFacts, type: QueueType): Measures {
  const inLane = laneOf(queue, type);
  return { ...ofNow(queue, inLane), ...ofLastHour(queue, inLane), ...ofAllTime(queue, type), ...ofQueue(queue, type) };
}

type Lane = {
  readonly live: readonly SubmissionFacts[];
  readonly submissions: readonly SubmissionFacts[];
  readonly running: readonly RunFacts[];
};

/** A submission is in one lane at a time, so that sums over lanes count it once; what has ended ended in the main one. */
function laneOf(queue: QueueFacts, type: QueueType): Lane {
  const bisected = new Set(queue.runs.filter(isBisection).flatMap((run) => run.group));
  const isHere = (one: SubmissionFacts): boolean => bisected.has(one.id) === (type === "bisection");
  const submissions = queue.submissions.filter((one) => (one.endedAt === null ? isHere(one) : type === "main"));
  return {
    submissions,
    live: submissions.filter((one) => one.endedAt === null),
    running: queue.runs.filter((run) => run.inProgress && isBisection(run) === (type === "bisection")),
  };
}

const isBisection = (run: RunFacts): boolean => run.kind === "BISECTION";

const numberOf = (value: number): readonly Measured[] => [{ value }];
const durations = (ms: readonly number[]): readonly Measured[] => [{ observed: ms.map((one) => one / 1000) }];

const by = (label: string, values: Readonly<Record<string, number>>): readonly Measured[] =>
  Object.entries(values).map(([name, value]) => ({ value, labels: { [label]: name } }));

const ofNow = (queue: QueueFacts, { live, running }: Lane) => ({
  mq_depth_current: numberOf(live.filter((one) => one.state !== "NOT_READY").length),
  mq_awaiting_mergeability: numberOf(live.filter((one) => one.state === "NOT_READY").length),
  mq_testing_slots_active: numberOf(running.length),
  mainline_batch_size_pull_requests: [
    { observed: running.filter((run) => run.group.length > 0).map((run) => run.group.length) },
  ],
  mainline_queue_oldest_entry_age_seconds: numberOf(
    Math.max(0, ...live.map((one) => queue.at - one.submittedAt)) / 1000,
  ),
});

function ofLastHour(queue: QueueFacts, { submissions }: Lane) {
  const isRecent = (at: EpochMs | null): at is EpochMs => at !== null && at >= queue.since;
  const exits = submissions.filter((one) => isRecent(one.endedAt));
  const endedAs = (state: SubmissionFacts["state"]): number => exits.filter((one) => one.state === state).length;
  return {
    mq_pr_conclusions_1h_total: by("conclusion", {
      merged: endedAs("MERGED"),
      failed: endedAs("FAILED"),
      cancelled: endedAs("CANCELLED"),
    }),
    mq_pr_restarts_1h_total: numberOf(submissions.flatMap((one) => one.restartedAt.filter(isRecent)).length),
    mq_pr_wait_duration_1h_seconds: durations(
      submissions.flatMap(({ admittedAt, firstTestAt }) =>
        // Admitted anew since its first test: the admission that the test followed is not known any more.
        isRecent(firstTestAt) && admittedAt !== null && admittedAt <= firstTestAt ? [firstTestAt - admittedAt] : [],
      ),
    ),
    mq_pr_test_duration_1h_seconds: durations(
      submissions.filter((one) => isRecent(testedUntil(one))).map((one) => one.testedMs),
    ),
    mq_pr_time_in_queue_1h_seconds: durations(
      exits.flatMap(({ admittedAt, endedAt }) =>
        admittedAt === null || endedAt === null ? [] : [Math.max(0, endedAt - admittedAt)],
      ),
    ),
  };
}

/** When its time in testing was over, as far as one can tell; null while more may come, and for the never tested. */
function testedUntil(one: SubmissionFacts): EpochMs | null {
  if (one.firstTestAt === null) return null;
  const hasVerdict = one.state === "TESTS_PASSED" || one.state === "PENDING_FAILURE";
  return one.endedAt ?? (hasVerdict ? one.stateChangedAt : null);
}

/** Only of tests started is it known which lane they were in; everything else is the main lane's. */
function ofAllTime({ totals }: QueueFacts, type: QueueType) {
  const main = (value: number): number => (type === "main" ? value : 0);
  const started = { main: totals.runsStarted - totals.bisectionRunsStarted, bisection: totals.bisectionRunsStarted };
  return {
    mainline_pull_requests_concluded_total: by("conclusion", {
      merged: main(totals.merged),
      failed: main(totals.failed),
      cancelled: main(totals.cancelled),
    }),
    mainline_pull_request_restarts_total: numberOf(main(totals.restarts)),
    mainline_test_runs_started_total: numberOf(started[type]),
    mainline_test_runs_concluded_total: by("status", {
      passed: main(totals.runsPassed),
      failed: main(totals.runsFailed),
      cancelled: main(totals.runsCancelled),
    }),
    mainline_check_repeats_total: numberOf(main(totals.repeats)),
    mainline_landings_total: numberOf(main(totals.landings)),
    mainline_flaky_test_runs_total: numberOf(main(totals.flakes)),
    mainline_batches_total: by("what", { tested: main(totals.batches), bisected: main(totals.bisections) }),
    mainline_pull_requests_merged_unproven_total: by("how", {
      by_successor: main(totals.mergedByOptimism),
      directly: main(totals.mergedDirectly),
    }),
    mainline_test_runs_per_merged_pull_request: numberOf(totals.merged === 0 ? 0 : started[type] / totals.merged),
  };
}

const ofQueue = (queue: QueueFacts, type: QueueType) => ({
  mainline_queue_state: by(
    "state",
    Object.fromEntries(QUEUE_STATES.map((name) => [name, Number(queue.state === name)])),
  ),
  mainline_queue_concurrency: numberOf(type === "main" ? queue.concurrency : queue.bisectionConcurrency),
  mainline_queue_overdue_seconds: numberOf(queue.overdueMs / 1000),
  mainline_bisection_depth: numberOf(type === "main" ? 0 : queue.bisectionDepth),
  mainline_metrics_collected_timestamp_seconds: numberOf(queue.at / 1000),
});
