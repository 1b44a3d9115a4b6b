import { type EpochMs, epochMs, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { QueueFacts, RunFacts, SubmissionFacts } from "../../../shared/metrics/facts.ts";

export const NOW = epochMs(1_700_000_000_000);
export const minutesAgo = (minutes: number): EpochMs => epochMs(NOW - minutes * MINUTE_MS);

let made = 0;

export const aSubmission = (change: Partial<SubmissionFacts> = {}): SubmissionFacts => ({
  id: `e${(made += 1)}`,
  state: "PENDING",
  stateChangedAt: minutesAgo(10),
  submittedAt: minutesAgo(12),
  admittedAt: minutesAgo(10),
  firstTestAt: null,
  testedMs: 0,
  restartedAt: [],
  endedAt: null,
  ...change,
});

export const aRun = (change: Partial<RunFacts> = {}): RunFacts => ({
  kind: "MAIN",
  inProgress: true,
  group: ["a"],
  ...change,
});

export const noTotals: QueueFacts["totals"] = {
  merged: 0,
  failed: 0,
  cancelled: 0,
  restarts: 0,
  runsStarted: 0,
  bisectionRunsStarted: 0,
  runsPassed: 0,
  runsFailed: 0,
  runsCancelled: 0,
  repeats: 0,
  landings: 0,
  flakes: 0,
  batches: 0,
  bisections: 0,
  mergedByOptimism: 0,
  mergedDirectly: 0,
};

export const aQueue = (change: Partial<QueueFacts> = {}): QueueFacts => ({
  repo: { host: "git.local", owner: "acme", name: "app" },
  branch: "main",
  state: "RUNNING",
  concurrency: 5,
  bisectionConcurrency: 2,
  bisectionDepth: 0,
  overdueMs: 0,
  submissions: [],
  runs: [],
  totals: noTotals,
  at: NOW,
  since: epochMs(NOW - HOUR_MS),
  ...change,
});

/** Lines of samples by what stands before the value: `name{labels}` to the number as it is written. */
export function samplesOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]));
}

/** A sample's name and labels, as this service writes them. */
export const sample = (name: string, labels: Readonly<Record<string, string>> = {}): string => {
  const all = { repo: "acme/app", branch: "main", queue_type: "main", ...labels };
  return `${name}{${Object.entries(all)
    .map(([label, value]) => `${label}="${value}"`)
    .join(",")}}`;
};
