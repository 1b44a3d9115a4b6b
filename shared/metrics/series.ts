/**
 * What the series are. Names, labels and bounds of the `mq_` series are those that dashboards for this API already
 * use; whatever else is worth watching stands beside them as `mainline_`.
 */

/** On every series. A queue has its main lane and, apart from it, the lane in which failed batches are bisected. */
export const LABELS = ["repo", "branch", "queue_type"] as const;
export const QUEUE_TYPES = ["main", "bisection"] as const;
export type QueueType = (typeof QUEUE_TYPES)[number];

export type Series = {
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
  /** Beyond those that every series has. */
  readonly labels?: readonly string[];
  /** Upper bounds of a histogram; +Inf comes by itself. */
  readonly buckets?: readonly number[];
};

const DURATION_BOUNDS = [60, 300, 600, 900, 1800, 3600, 5400, 7200];
const SIZE_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 100];

const gauge = (help: string, ...labels: readonly string[]) => ({ type: "gauge", help, labels }) as const;
const counter = (help: string, ...labels: readonly string[]) => ({ type: "counter", help, labels }) as const;
const histogram = (help: string, buckets: readonly number[]) => ({ type: "histogram", help, buckets }) as const;

export const SERIES = {
  mq_depth_current: gauge(
    "Pull requests that are admitted to the queue and have not ended; those in a bisection count there alone.",
  ),
  mq_awaiting_mergeability: gauge("Pull requests that are submitted and not yet ready to be admitted."),
  mq_testing_slots_active: gauge("Test runs in progress, tests of the target branch's tip included."),
  mq_pr_conclusions_1h_total: gauge(
    "Pull requests that left the queue in the last hour, by how: merged, failed, cancelled.",
    "conclusion",
  ),
  mq_pr_restarts_1h_total: gauge(
    "Moves of pull requests from TESTING back to PENDING in the last hour; of one pull request at most its latest 20.",
  ),
  mq_pr_wait_duration_1h_seconds: histogram(
    "From a pull request's admission to its first test, for first tests that began in the last hour. One that has lost its readiness since its first test is left out.",
    DURATION_BOUNDS,
  ),
  mq_pr_test_duration_1h_seconds: histogram(
    "All of a pull request's time in TESTING, for those tested ones that left the queue in the last hour or reached a verdict in it that still stands. Time in building and waiting is not in it.",
    DURATION_BOUNDS,
  ),
  mq_pr_time_in_queue_1h_seconds: histogram(
    "From a pull request's latest admission to its exit, for exits in the last hour. One that left before it was admitted is left out.",
    DURATION_BOUNDS,
  ),

  mainline_pull_requests_concluded_total: counter(
    "Pull requests that left the queue since it was made, by how: merged, failed, cancelled.",
    "conclusion",
  ),
  mainline_pull_request_restarts_total: counter("Moves from TESTING back to PENDING since the queue was made."),
  mainline_test_runs_started_total: counter("Test runs started since the queue was made."),
  mainline_test_runs_concluded_total: counter(
    "Test runs that left the queue since it was made, by how: passed, failed, cancelled; all of them under main.",
    "status",
  ),
  mainline_check_repeats_total: counter("Repeats of failed checks since the queue was made."),
  mainline_landings_total: counter("Times that the queue has moved its target branch since it was made."),
  mainline_flaky_test_runs_total: counter(
    "Test runs that failed and then passed on the same content, since the queue was made.",
  ),
  mainline_batches_total: counter(
    "Batches of several pull requests since the queue was made: tested, and of those bisected because they failed.",
    "what",
  ),
  mainline_pull_requests_merged_unproven_total: counter(
    "Pull requests merged without a passed test of their own, since the queue was made: by_successor, because the test of one behind them that contains them passed (canOptimisticallyMerge); directly, by their own statuses (directMergeMode).",
    "how",
  ),

  mainline_queue_state: gauge("1 for the state that the queue is in, 0 for the others.", "state"),
  mainline_queue_oldest_entry_age_seconds: gauge(
    "Since the submission of the pull request that has been in the queue longest; 0 when there is none.",
  ),
  mainline_queue_concurrency: gauge("Test runs that the queue may have in progress at once."),
  mainline_queue_overdue_seconds: gauge(
    "How long the service has been due to look at the queue and has not: near 0 while the service is well.",
  ),
  mainline_batch_size_pull_requests: histogram(
    "Pull requests that are tested as one, for each test run in progress.",
    SIZE_BOUNDS,
  ),
  mainline_bisection_depth: gauge(
    "How many failed groups around it the smallest group under bisection was taken from; 0 without a bisection.",
  ),
  mainline_test_runs_per_merged_pull_request: gauge(
    "Test runs started for each pull request merged, since the queue was made; 0 before the first merge.",
  ),
  mainline_metrics_collected_timestamp_seconds: gauge("When these numbers were read, in seconds since 1970."),
} as const satisfies Readonly<Record<string, Series>>;

export type SeriesName = keyof typeof SERIES;
