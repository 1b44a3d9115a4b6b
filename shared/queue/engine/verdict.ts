import type { QueueState, Run, RunFailure, StatusCheck, StatusSource } from "./types.ts";

/** What must pass now: the queue's own list, else what the host names at the tip. An empty own list is no list. */
export function requiredNow(state: Pick<QueueState, "config" | "tip">): {
  readonly statuses: readonly string[];
  readonly source: StatusSource;
} {
  const own = state.config.settings.requiredStatuses;
  if (own !== null && own.length > 0) return { statuses: own, source: "MERGE_INSTANCE" };
  return state.tip?.required ?? { statuses: [], source: "CONFIG_FILE" };
}

/** What the statuses of a run say, judged by the list that is required now. */
export type Verdict =
  | { readonly kind: "OPEN"; readonly waitsFor: readonly string[] }
  | { readonly kind: "PASSED" }
  /** `open` are required statuses still to come: a failure counts at once, a repeat waits for them. */
  | { readonly kind: "FAILED"; readonly failure: RunFailure; readonly open: readonly string[] }
  /** Statuses that became required after the run was started and did not pass in it: a full run is needed. */
  | { readonly kind: "LACKS"; readonly contexts: readonly string[] };

export function verdictOf(run: Run, required: readonly string[]): Verdict {
  if (required.length === 0)
    return { kind: "FAILED", failure: { kind: "NO_REQUIRED_STATUSES", contexts: [] }, open: [] };
  const reported = new Map(run.statuses.map((status) => [status.context, status]));
  const isMissing = (context: string): boolean => run.complete && !reported.has(context);
  const decided = required.filter((context) => hasFailed(reported.get(context)) || isMissing(context));
  const failed = decided.filter((context) => run.required.includes(context));
  const lacking = decided.filter((context) => !run.required.includes(context));
  const open = required.filter((context) => reported.get(context)?.state !== "SUCCESS" && !decided.includes(context));
  if (lacking.length > 0) return { kind: "LACKS", contexts: lacking };
  if (failed.length > 0) return { kind: "FAILED", failure: { kind: "CHECKS", contexts: failed }, open };
  return open.length > 0 ? { kind: "OPEN", waitsFor: open } : { kind: "PASSED" };
}

/** Required statuses that a run which passed does not show as passed: it is no evidence any more. */
export function lackingNow(run: Run, required: readonly string[]): readonly string[] {
  const passed = new Set(run.statuses.filter((status) => status.state === "SUCCESS").map((status) => status.context));
  return required.filter((context) => !passed.has(context));
}

const hasFailed = (status: StatusCheck | undefined): boolean =>
  status?.state === "FAILURE" || status?.state === "ERROR";
