import type { Draft, Why } from "./draft.ts";
import { standingOf } from "./evidence.ts";
import { closeRun, retell } from "./runs.ts";
import type { Reason, Run, RunFailure } from "./types.ts";
import { lackingNow, requiredNow, verdictOf } from "./verdict.ts";

/** Closes runs that are void, reads verdicts from statuses, and judges failures whose predecessors are settled. */
export function settleRuns(draft: Draft): void {
  for (const run of draft.runs.values()) {
    if (!draft.hasRoom()) return;
    if (draft.landing?.run === run.id) continue;
    const standing = standingOf(draft, run, draft.admitted());
    if (standing.kind === "VOID") {
      if (run.kind === "TIP") draft.tipTestDue ??= "the target moved while its test was running";
      closeRun(draft, run, { reason: standing.reason, message: standing.message, cause: "queue" });
    } else if (run.phase === "TESTING" || run.phase === "REPEATING") readVerdict(draft, run);
    else if (run.phase === "PASSED") keepPassed(draft, run);
    else if (run.phase === "FAILED") judge(draft, run, standing.before.length + standing.without.length > 0);
  }
}

const statusesChanged = (contexts: readonly string[]): Why => ({
  reason: "REQUIRED_STATUSES_CHANGED",
  message: `${contexts.join(", ")} became required and did not pass in this test`,
  cause: "queue",
});

function readVerdict(draft: Draft, run: Run): void {
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  switch (verdict.kind) {
    case "PASSED":
      return pass(draft, run, run.phase === "REPEATING" ? "REPEAT_PASSED" : "TESTS_PASSED");
    case "FAILED":
      return failed(draft, run, verdict.failure, verdict.open.length === 0);
    case "LACKS":
      return closeRun(draft, run, statusesChanged(verdict.contexts));
    case "OPEN":
      return overdue(draft, run, verdict.waitsFor);
  }
}

function overdue(draft: Draft, run: Run, waitsFor: readonly string[]): void {
  if (run.deadline === null || draft.now < run.deadline) return;
  if (run.lateRead === "NONE") {
    draft.setRun({ ...run, lateRead: "ASKED" });
    draft.add({ type: "read-statuses", key: `read-statuses:${run.id}:${run.repeats}`, run: run.id });
  }
  if (run.lateRead !== "ANSWERED") return;
  const lacking = waitsFor.filter((context) => !run.required.includes(context));
  if (lacking.length > 0) return closeRun(draft, run, statusesChanged(lacking));
  failed(draft, run, { kind: "TIMEOUT", contexts: waitsFor }, true);
}

function pass(draft: Draft, run: Run, reason: Reason): void {
  draft.count({ runsPassed: 1 });
  if (run.kind === "TIP") {
    draft.lift("TIP_FAILED");
    draft.lift("LANDING_INCOMPLETE");
    draft.closeRun(run, "SUCCEEDED", "the tip passes its tests");
    return;
  }
  draft.setRun({ ...run, phase: "PASSED", endedAt: draft.now, deadline: null });
  for (const id of run.group) {
    draft.patch(id, { broken: null, verifiedBy: run.id });
    retell(draft, id, { reason, message: "all required statuses passed", cause: `run:${run.id}`, run: run.id });
  }
}

/** `settled`: nothing required is still to come, so the deadline has done its work. */
function failed(draft: Draft, run: Run, failure: RunFailure, settled: boolean): void {
  const deadline = settled ? null : run.deadline;
  draft.setRun({ ...run, phase: "FAILED", failure, endedAt: draft.now, deadline });
  draft.count({ runsFailed: 1 });
  const why = { reason: reasonOf(failure), message: describe(failure), cause: `run:${run.id}`, run: run.id };
  for (const id of run.group) {
    draft.patch(id, { broken: null });
    retell(draft, id, why);
  }
}

/** A newly required status voids unlanded evidence that lacks it. */
function keepPassed(draft: Draft, run: Run): void {
  const lacking = lackingNow(run, requiredNow(draft).statuses);
  if (lacking.length > 0) closeRun(draft, run, statusesChanged(lacking));
}

/**
 * A failure counts when everything ahead has landed or left and no repeat is left. The pinned list is compared with
 * the present one first: what is no longer required is struck, what is newly required makes a full run necessary.
 */
function judge(draft: Draft, run: Run, waits: boolean): void {
  const { failure } = run;
  if (failure === null || waits || mayRepeat(draft, run)) return;
  if (run.kind === "TIP") return tipFailed(draft, run, failure);
  if (draft.holds.some((hold) => hold.kind === "TIP_FAILED")) return;
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  if (verdict.kind === "PASSED") return pass(draft, run, "REQUIRED_STATUSES_CHANGED");
  if (verdict.kind === "LACKS") return closeRun(draft, run, statusesChanged(verdict.contexts));
  const why = { reason: reasonOf(failure), message: describe(failure), cause: `run:${run.id}`, run: run.id };
  for (const id of run.group) {
    const entry = draft.entries.get(id);
    if (entry !== undefined) draft.end(entry, "FAILED", why);
  }
}

/** Its failed checks are still to be repeated before the failure counts. */
export function mayRepeat(draft: Pick<Draft, "config">, run: Run): boolean {
  if (run.phase !== "FAILED" || run.failure?.kind === "NO_REQUIRED_STATUSES") return false;
  return run.repeats < draft.config.settings.retriesBeforeFailure;
}

function tipFailed(draft: Draft, run: Run, failure: RunFailure): void {
  draft.hold("TIP_FAILED", `${describe(failure)} on the tip itself`);
  draft.closeRun(run, "FAILED", describe(failure));
}

const reasonOf = (failure: RunFailure): Reason =>
  failure.kind === "CHECKS" ? "TESTS_FAILED" : failure.kind === "TIMEOUT" ? "TESTING_TIMEOUT" : failure.kind;

function describe(failure: RunFailure): string {
  switch (failure.kind) {
    case "CHECKS":
      return `${failure.contexts.join(", ")} failed`;
    case "TIMEOUT":
      return `${failure.contexts.join(", ")} did not end in time`;
    case "NO_REQUIRED_STATUSES":
      return "no status is required: name some in the queue's requiredStatuses, or define checks in .mainline.yaml";
  }
}
