import type { Draft, Why } from "./draft.ts";
import { closeRun, isOnLikelyPath, retell } from "./runs.ts";
import type { Reason, Run, RunFailure } from "./types.ts";
import { lackingNow, requiredNow, type Verdict, verdictOf } from "./verdict.ts";

/** Closes runs that are void, reads verdicts from statuses, and judges failures whose predecessors are settled. */
export function settleRuns(draft: Draft): void {
  // All that is void goes first: an older run of the same entry may then be what decides.
  for (const run of draft.runs.values()) {
    if (!draft.hasRoom()) return;
    const standing = isHeld(draft, run) ? undefined : draft.standing(run);
    if (standing?.kind === "VOID") closeVoid(draft, run, standing);
  }
  for (const run of draft.runs.values()) {
    if (!draft.hasRoom()) return;
    const standing = isHeld(draft, run) ? undefined : draft.standing(run);
    if (standing?.kind !== "GOOD") continue;
    if (run.phase === "TESTING" || run.phase === "REPEATING") readVerdict(draft, run);
    else if (run.phase === "PASSED") keepPassed(draft, run);
    else if (run.phase === "FAILED") readAgain(draft, run, standing.before.length + standing.without.length > 0);
  }
}

/** Nothing is decided about a group that is landing before the landing's result is known. */
const isHeld = (draft: Draft, run: Run): boolean => run.group.some((id) => draft.isLanding(id));

function closeVoid(draft: Draft, run: Run, { reason, message }: { reason: Reason; message: string }): void {
  // A landing of our own brought a tip that was tested; only somebody else's movement leaves it in doubt.
  if (run.kind === "TIP" && reason === "MANUAL_PUSH_TO_TARGET_BRANCH")
    draft.tipTestDue ??= "the target moved while its test was running";
  closeRun(draft, run, { reason, message, cause: "queue" });
}

const statusesChanged = (contexts: readonly string[]): Why => ({
  reason: "REQUIRED_STATUSES_CHANGED",
  message:
    contexts.length === 0
      ? "no status is required any more: what passed proves nothing"
      : `${contexts.join(", ")} became required and did not pass in this test`,
  cause: "queue",
});

function readVerdict(draft: Draft, run: Run): void {
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  switch (verdict.kind) {
    case "PASSED":
      return pass(draft, run, run.phase === "REPEATING" ? "REPEAT_PASSED" : "TESTS_PASSED");
    case "FAILED":
      return failed(draft, run, verdict.failure);
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
  const lacking = newlyRequired(run, waitsFor);
  if (lacking.length > 0) return closeRun(draft, run, statusesChanged(lacking));
  failed(draft, run, { kind: "TIMEOUT", contexts: waitsFor });
}

const newlyRequired = (run: Run, contexts: readonly string[]): readonly string[] =>
  contexts.filter((context) => !run.required.includes(context));

function pass(draft: Draft, run: Run, reason: Reason): void {
  if (run.kind === "TIP") {
    draft.tipTestBroken = null;
    draft.lift("TIP_FAILED");
    draft.lift("LANDING_INCOMPLETE");
    draft.closeRun(run, "SUCCEEDED", "the tip passes its tests");
    return;
  }
  draft.setRun({ ...run, phase: "PASSED", failure: null, endedAt: draft.now, deadline: null });
  for (const id of run.group) {
    draft.patch(id, { broken: null, verifiedBy: run.id });
    const passed = { reason, message: "all required statuses passed", cause: `run:${run.id}`, run: run.id } as const;
    retell(draft, id, isOnLikelyPath(draft, run) ? passed : { ...passed, ...OFF_PATH });
  }
}

const OFF_PATH = {
  reason: "PREDECESSORS_CHANGED",
  message: "its tests passed, but on an outcome of the pull requests ahead that is not the likeliest any more",
} as const;

/** The deadline stays: a repeat waits up to it for what is still to come, and so does a run that goes on. */
function failed(draft: Draft, run: Run, failure: RunFailure): void {
  draft.setRun({ ...run, phase: "FAILED", failure, endedAt: draft.now });
  if (run.kind === "TIP") draft.tipTestBroken = null;
  // At once, not in the next pass: what holds the queue must hold it before anything lands in this one.
  const tip = run.kind === "TIP" ? draft.runs.get(run.id) : undefined;
  if (tip !== undefined) return judge(draft, tip, failure, false);
  const why = { reason: reasonOf(failure), message: describe(failure), cause: `run:${run.id}`, run: run.id };
  for (const id of run.group) {
    draft.patch(id, { broken: null });
    retell(draft, id, why);
  }
}

/** A newly required status voids unlanded evidence that lacks it, and so does a list that has become empty. */
function keepPassed(draft: Draft, run: Run): void {
  const required = requiredNow(draft).statuses;
  const lacking = lackingNow(run, required);
  if (lacking.length > 0 || required.length === 0) closeRun(draft, run, statusesChanged(lacking));
}

/**
 * A run that failed is compared with the present list before it is repeated or judged: what is no longer required is
 * struck, what is newly required makes a full run necessary, and a check that somebody ran again counts as it is now.
 */
function readAgain(draft: Draft, run: Run, waits: boolean): void {
  const { failure } = run;
  if (failure === null) return;
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  if (verdict.kind === "PASSED") return pass(draft, run, passedReason(run, failure));
  if (verdict.kind === "LACKS") return closeRun(draft, run, statusesChanged(verdict.contexts));
  if (verdict.kind === "OPEN" && failure.kind !== "TIMEOUT") return reopen(draft, run);
  const late = isOver(draft, run) ? newlyRequired(run, openIn(verdict)) : [];
  if (late.length > 0) return closeRun(draft, run, statusesChanged(late));
  const now = verdict.kind === "FAILED" ? verdict.failure : failure;
  if (!sameFailure(now, failure)) return draft.setRun({ ...run, failure: now });
  judge(draft, run, failure, waits);
}

const openIn = (verdict: Extract<Verdict, { kind: "OPEN" | "FAILED" }>): readonly string[] =>
  verdict.kind === "OPEN" ? verdict.waitsFor : verdict.open;

/** Nothing more is waited for in this attempt of the run. */
export const isOver = (draft: Pick<Draft, "now">, run: Run): boolean =>
  run.deadline === null || draft.now >= run.deadline;

const sameFailure = (a: RunFailure, b: RunFailure): boolean =>
  a.kind === b.kind && a.contexts.join("\n") === b.contexts.join("\n");

/** What failed has passed since, or is not asked for any more. */
const passedReason = (run: Run, failure: RunFailure): Reason =>
  failure.contexts.some((context) =>
    run.statuses.some((status) => status.context === context && status.state === "SUCCESS"),
  )
    ? "REPEAT_PASSED"
    : "REQUIRED_STATUSES_CHANGED";

/** What failed is no longer required, or runs again, and the rest is still to come: it is in progress again. */
function reopen(draft: Draft, run: Run): void {
  draft.setRun({ ...run, phase: "TESTING", failure: null, endedAt: null });
  const message = "what failed is no longer required or runs again; the rest is still to come";
  for (const id of run.group)
    retell(draft, id, { reason: "REQUIRED_STATUSES_CHANGED", message, cause: `run:${run.id}`, run: run.id });
}

/** A failure counts when everything ahead has landed or left and no repeat is left. */
function judge(draft: Draft, run: Run, failure: RunFailure, waits: boolean): void {
  if (waits || mayRepeat(draft, run)) return;
  if (run.kind === "TIP") return tipFailed(draft, run, failure);
  if (draft.holds.some((hold) => hold.kind === "TIP_FAILED")) return;
  const members = run.group.flatMap((id) => draft.entries.get(id) ?? []);
  // Whoever was judged just now may have made another of its runs void: the next pass sees to that first.
  if (!members.every((entry) => entry.state === "PENDING_FAILURE")) return;
  const why = { reason: reasonOf(failure), message: describe(failure), cause: `run:${run.id}`, run: run.id };
  for (const entry of members) draft.end(entry, "FAILED", why);
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
