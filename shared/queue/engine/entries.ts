import { type EpochMs, HOUR_MS, later } from "../../kernel/time.ts";
import type { Draft, Why } from "./draft.ts";
import { isAdmitted } from "./order.ts";
import type { Permits } from "./permits.ts";
import { isOutdated, missingOf } from "./readiness.ts";
import { retryAt } from "./backoff.ts";
import type { Entry } from "./types.ts";

/**
 * Lets entries in and out by the host's facts. Facts about an entry that is landing wait until the landing's result
 * is known: only then do they apply, to what did not land.
 */
export function settleEntries(draft: Draft, permits: Permits): void {
  for (const entry of draft.entries.values()) {
    if (!draft.hasRoom()) return;
    if (draft.isLanding(entry.id)) continue;
    const ended = endedByHost(draft, entry);
    if (ended !== undefined) draft.end(entry, ended.to, ended.why);
    else if (isAdmitted(entry)) keepReady(draft, entry);
    else awaitReadiness(draft, entry, permits);
  }
}

function endedByHost(draft: Draft, entry: Entry): { to: "MERGED" | "CANCELLED"; why: Why } | undefined {
  const { pr, trouble } = entry;
  const cancelled = (reason: Why["reason"], message: string) =>
    ({ to: "CANCELLED", why: { reason, message, cause: "host" } }) as const;
  if (trouble?.kind === "NOT_FOUND") return cancelled("PULL_REQUEST_GONE", trouble.what);
  if (pr === null) return undefined;
  if (pr.state === "MERGED")
    return {
      to: "MERGED",
      why: {
        reason: "MERGED_BY_HAND",
        message: `merged into ${draft.branch} by hand, outside the queue`,
        cause: "host",
      },
    };
  if (pr.state === "CLOSED") return cancelled("PULL_REQUEST_CLOSED", "the pull request was closed");
  if (!isAdmitted(entry)) return undefined;
  if (pr.headSha !== entry.headSha)
    return cancelled("PULL_REQUEST_PUSHED", `a new commit was pushed (${pr.headSha.slice(0, 12)}): submit it again`);
  if (pr.baseBranch !== draft.branch)
    return cancelled("PULL_REQUEST_RETARGETED", `its base branch is now ${pr.baseBranch}`);
  if (pr.draft) return cancelled("PULL_REQUEST_DRAFTED", "it was made a draft");
  return undefined;
}

/** An admitted entry that the host now calls unmergeable gives up its place. */
function keepReady(draft: Draft, entry: Entry): void {
  const { pr } = entry;
  if (entry.conflictsWith !== null && !draft.entries.has(entry.conflictsWith)) {
    draft.patch(entry.id, { conflictsWith: null });
    return;
  }
  if (pr === null || pr.mergeability !== "NOT_MERGEABLE") return;
  if (isOutdated(draft, pr)) {
    askAgain(draft, entry);
    return;
  }
  const message = pr.obstacle ?? "the code host says that it cannot be merged";
  for (const run of draft.runsOf(entry.id)) draft.closeRun(run, "CANCELLED", message);
  draft.move(entry, "NOT_READY", { reason: "READINESS_LOST", message, cause: "host" });
}

function awaitReadiness(draft: Draft, entry: Entry, permits: Permits): void {
  const { pr, trouble } = entry;
  if (trouble !== null && draft.now >= trouble.retryAt) {
    const count = trouble.count + 1;
    draft.patch(entry.id, { trouble: { ...trouble, count, retryAt: retryAt(draft.now, count) } });
    draft.readPullRequest(entry.prNumber);
    return;
  }
  if (pr !== null && pr.headSha !== entry.headSha) {
    // Targets belong to a commit: the new head's own come with the request that sets them.
    draft.patch(entry.id, { headSha: pr.headSha, targets: null, refusal: null });
    return;
  }
  if (pr !== null && pr.mergeability !== "MERGEABLE" && isOutdated(draft, pr) && askAgain(draft, entry)) return;
  const deadline = notReadyDeadline(draft, entry);
  if (deadline !== undefined && permits.isOpen && draft.now >= deadline) {
    const hours = draft.config.settings.notReadyTimeoutHours;
    const message = `not ready for ${hours} h: ${missingOf(draft, entry)
      .map((one) => one.message)
      .join("; ")}`;
    draft.end(entry, "CANCELLED", { reason: "NOT_READY_TIMEOUT", message, cause: "time" });
    return;
  }
  if (missingOf(draft, entry).length > 0 || !permits.admits(entry)) return;
  draft.move(entry, "PENDING", { reason: "ADMITTED", message: "ready and admitted to the queue", cause: "queue" });
}

/** Once per tip: whether it can be merged was judged against another one. True if the host is asked now. */
function askAgain(draft: Draft, entry: Entry): boolean {
  const tip = draft.tip?.sha ?? null;
  if (tip === null || entry.askedAgainFor === tip) return false;
  draft.patch(entry.id, { askedAgainFor: tip });
  draft.readPullRequest(entry.prNumber);
  return true;
}

/** When waiting for readiness has been long enough, time during which the queue admitted nobody left out. */
export function notReadyDeadline(draft: Pick<Draft, "config" | "closedMs">, entry: Entry): EpochMs | undefined {
  const hours = draft.config.settings.notReadyTimeoutHours;
  if (hours === 0 || isAdmitted(entry)) return undefined;
  return later(entry.stateChangedAt, hours * HOUR_MS + (draft.closedMs() - entry.closedMsBefore));
}
