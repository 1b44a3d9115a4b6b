import { bisect } from "./bisection.ts";
import type { Draft, Why } from "./draft.ts";
import { askForgiveness, forgivenUntil } from "./forgiving.ts";
import { waitsForSuccessor } from "./optimism.ts";
import type { Permits } from "./permits.ts";
import { estimatesNow, isWorthRepeating } from "./policy.ts";
import { closeRun } from "./runs.ts";
import { describe, reasonOf, retellAll } from "./states.ts";
import type { QueueState, Reason, Run, RunFailure } from "./types.ts";
import { lackingNow, requiredNow, type Verdict, verdictOf } from "./verdict.ts";

/** Closes runs that are void, reads verdicts from statuses, and judges failures whose predecessors are settled. */
export function settleRuns(draft: Draft, permits: Permits): void {
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
    if (run.phase === "TESTING" || run.phase === "REPEATING") readVerdict(draft, run, permits);
    else if (run.phase === "PASSED") keepPassed(draft, run);
    else if (run.phase === "FAILED")
      readAgain(draft, run, permits, standing.before.length + standing.without.length > 0);
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

function readVerdict(draft: Draft, run: Run, permits: Permits): void {
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  switch (verdict.kind) {
    case "PASSED":
      return pass(draft, run);
    case "FAILED":
      return failed(draft, run, verdict.failure, permits);
    case "LACKS":
      return closeRun(draft, run, statusesChanged(verdict.contexts));
    case "OPEN":
      return overdue(draft, run, verdict.waitsFor, permits);
  }
}

function overdue(draft: Draft, run: Run, waitsFor: readonly string[], permits: Permits): void {
  if (run.deadline === null || draft.now < run.deadline) return;
  if (run.lateRead === "NONE") {
    draft.setRun({ ...run, lateRead: "ASKED" });
    draft.add({ type: "read-statuses", key: `read-statuses:${run.id}:${run.repeats}`, run: run.id });
  }
  if (run.lateRead !== "ANSWERED") return;
  const lacking = newlyRequired(run, waitsFor);
  if (lacking.length > 0) return closeRun(draft, run, statusesChanged(lacking));
  failed(draft, run, { kind: "TIMEOUT", contexts: waitsFor }, permits);
}

const newlyRequired = (run: Run, contexts: readonly string[]): readonly string[] =>
  contexts.filter((context) => !run.required.includes(context));

/** `why`: where the pass is not the news of its checks. Those that it clears learn of it before its own entries. */
function pass(draft: Draft, run: Run, why?: Why): void {
  if (run.kind === "TIP") {
    draft.tipTestBroken = null;
    draft.lift("TIP_FAILED");
    draft.lift("LANDING_INCOMPLETE");
    draft.closeRun(run, "SUCCEEDED", { reason: "TESTS_PASSED", message: "the tip passes its tests", cause: "queue" });
    return;
  }
  draft.setRun({ ...run, phase: "PASSED", failure: null, endedAt: draft.now, deadline: null });
  if (run.repeats > 0) draft.count({ flakes: 1 });
  const standing = draft.standing(run);
  if (standing.kind === "GOOD") retellAll(draft, standing.before);
  retellAll(draft, run.group, why);
}

/** The deadline stays: a repeat waits up to it for what is still to come, and so does a run that goes on. */
function failed(draft: Draft, run: Run, failure: RunFailure, permits: Permits): void {
  const ended: Run = { ...run, phase: "FAILED", failure, endedAt: draft.now };
  draft.setRun(ended);
  askForgiveness(draft, ended, failure);
  if (run.kind === "TIP") draft.tipTestBroken = null;
  // At once, not in the next pass: what holds the queue must hold it before anything lands in this one.
  const tip = run.kind === "TIP" ? draft.runs.get(run.id) : undefined;
  if (tip !== undefined) return judge(draft, tip, failure, permits, false);
  retellAll(draft, run.group);
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
function readAgain(draft: Draft, run: Run, permits: Permits, waits: boolean): void {
  const { failure } = run;
  if (failure === null) return;
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  if (verdict.kind === "PASSED") return pass(draft, run, passedWhy(run, failure));
  if (verdict.kind === "LACKS") return closeRun(draft, run, statusesChanged(verdict.contexts));
  if (verdict.kind === "OPEN" && failure.kind !== "TIMEOUT") return reopen(draft, run);
  const late = isOver(draft, run) ? newlyRequired(run, openIn(verdict)) : [];
  if (late.length > 0) return closeRun(draft, run, statusesChanged(late));
  const now = verdict.kind === "FAILED" ? verdict.failure : failure;
  if (!sameFailure(now, failure)) return draft.setRun({ ...run, failure: now });
  judge(draft, run, failure, permits, waits);
}

const openIn = (verdict: Extract<Verdict, { kind: "OPEN" | "FAILED" }>): readonly string[] =>
  verdict.kind === "OPEN" ? verdict.waitsFor : verdict.open;

/** Nothing more is waited for in this attempt of the run. */
export const isOver = (draft: Pick<Draft, "now">, run: Run): boolean =>
  run.deadline === null || draft.now >= run.deadline;

const sameFailure = (a: RunFailure, b: RunFailure): boolean =>
  a.kind === b.kind && a.contexts.join("\n") === b.contexts.join("\n");

/** What failed has passed since, or is not asked for any more. */
function passedWhy(run: Run, failure: RunFailure): Why {
  const forgiven = run.forgiveness?.repeats === run.repeats ? run.forgiveness.why : null;
  if (forgiven !== null)
    return { reason: "FORGIVEN", message: `forgiven: ${forgiven}`, cause: `run:${run.id}`, run: run.id };
  const passed = run.statuses.filter((status) => status.state === "SUCCESS").map((status) => status.context);
  const reason = failure.contexts.some((one) => passed.includes(one)) ? "REPEAT_PASSED" : "REQUIRED_STATUSES_CHANGED";
  return { reason, message: "all required statuses passed", cause: `run:${run.id}`, run: run.id };
}

/** What failed is no longer required, or runs again, and the rest is still to come: it is in progress again. */
function reopen(draft: Draft, run: Run): void {
  draft.setRun({ ...run, phase: "TESTING", failure: null, endedAt: null });
  const message = "what failed is no longer required or runs again; the rest is still to come";
  retellAll(draft, run.group, { reason: "REQUIRED_STATUSES_CHANGED", message, cause: `run:${run.id}`, run: run.id });
}

const IN_DOUBT: Why = {
  reason: "PREDECESSORS_CHANGED",
  message: "what it was tested with has landed together with more: its failure may not be its own",
  cause: "queue",
};

/**
 * A failure counts when everything ahead has landed or left, no repeat is left, and no successor that contains it may
 * still clear it. One entry has failed then; a batch is taken apart.
 */
function judge(draft: Draft, run: Run, failure: RunFailure, permits: Permits, waits: boolean): void {
  if (waits || mayRepeat(draft, run) || forgivenUntil(draft, run) !== undefined) return;
  if (run.kind === "TIP") return tipFailed(draft, run, failure);
  if (draft.holds.some((hold) => hold.kind === "TIP_FAILED")) return;
  const members = run.group.flatMap((id) => draft.entries.get(id) ?? []);
  const [first] = members;
  const group = first === undefined ? undefined : draft.groupOf(first.id);
  // Whoever was judged just now may have made another of its runs void: the next pass sees to that first.
  if (first === undefined || group === undefined || !members.every((entry) => entry.state === "PENDING_FAILURE"))
    return;
  if (waitsForSuccessor(draft, run, group, permits)) return;
  if (draft.isDoubted(run)) return closeRun(draft, run, IN_DOUBT);
  if (members.length > 1) return bisect(draft, run, group, failure);
  draft.end(first, "FAILED", {
    reason: reasonOf(failure),
    message: describe(failure),
    cause: `run:${run.id}`,
    run: run.id,
  });
}

/** Its failed checks are still to be repeated before the failure counts. A batch is taken apart instead. */
export function mayRepeat(state: Pick<QueueState, "config" | "totals">, run: Run): boolean {
  if (run.phase !== "FAILED" || run.group.length > 1 || run.failure?.kind === "NO_REQUIRED_STATUSES") return false;
  if (run.repeats >= state.config.settings.retriesBeforeFailure) return false;
  return isWorthRepeating(estimatesNow(state), run.repeats + 1);
}

function tipFailed(draft: Draft, run: Run, failure: RunFailure): void {
  draft.hold("TIP_FAILED", `${describe(failure)} on the tip itself`);
  draft.closeRun(run, "FAILED", { reason: reasonOf(failure), message: describe(failure), cause: "queue" });
}
