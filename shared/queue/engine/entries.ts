import type { CommitSha, EntryId } from "../../kernel/ids.ts";
import { type EpochMs, HOUR_MS, later } from "../../kernel/time.ts";
import type { Draft, Why } from "./draft.ts";
import { isAdmitted } from "./order.ts";
import type { Permits } from "./permits.ts";
import { isOutdated, missingOf } from "./readiness.ts";
import { placeTargets } from "./targets.ts";
import { askAgainAt } from "./backoff.ts";
import type { Entry } from "./types.ts";
import { grantWishes } from "./wishes.ts";

/**
 * Grants what requests asked for, and lets entries out by the host's facts. Facts about an entry that is landing, and
 * wishes to cancel or restart it, wait until the landing's result is known: only then do they apply, to what did not
 * land.
 */
export function settleEntries(draft: Draft): void {
  const reached = new Set(draft.reached);
  for (const entry of draft.entries.values()) {
    if (!draft.hasRoom()) return;
    const granted = grantWishes(draft, entry);
    if (granted === undefined || draft.isLanding(granted.id)) continue;
    const asking = placeTargets(draft, granted);
    const ended = endedByHost(draft, asking, reached);
    if (ended !== undefined) draft.end(asking, ended.to, ended.why);
    else if (isAdmitted(asking)) keepReady(draft, asking);
  }
  if (reached.size > 0) draft.reached = draft.reached.filter((sha) => isHeadOfLanding(draft, sha));
}

const isHeadOfLanding = (draft: Draft, sha: CommitSha): boolean =>
  (draft.landing?.group ?? []).some((id) => draft.entries.get(id)?.headSha === sha);

/** Lets entries in that are ready, and asks again about those that are not. */
export function admitEntries(draft: Draft, permits: Permits): void {
  for (const entry of draft.entries.values()) {
    if (!draft.hasRoom()) return;
    if (draft.isLanding(entry.id)) continue;
    if (hasToAskAgain(draft, entry)) askInTrouble(draft, entry);
    else if (!isAdmitted(entry)) awaitReadiness(draft, entry, permits);
  }
}

function endedByHost(
  draft: Draft,
  entry: Entry,
  reached: ReadonlySet<CommitSha>,
): { to: "MERGED" | "CANCELLED"; why: Why } | undefined {
  const { pr, trouble } = entry;
  const cancelled = (reason: Why["reason"], message: string) =>
    ({ to: "CANCELLED", why: { reason, message, cause: "host" } }) as const;
  if (trouble?.kind === "NOT_FOUND") return cancelled("PULL_REQUEST_GONE", trouble.what);
  if (pr === null) return undefined;
  const isOfTarget = pr.baseBranch === draft.branch;
  if ((pr.state === "MERGED" && isOfTarget) || (entry.headSha !== null && reached.has(entry.headSha)))
    return {
      to: "MERGED",
      why: {
        reason: "MERGED_BY_HAND",
        message: `merged into ${draft.branch} by hand, outside the queue`,
        cause: "host",
      },
    };
  if (pr.state === "MERGED") return cancelled("PULL_REQUEST_RETARGETED", `it was merged into ${pr.baseBranch} by hand`);
  if (pr.state === "CLOSED") return cancelled("PULL_REQUEST_CLOSED", "the pull request was closed");
  // Whoever submitted it spoke of what it was; the author of a fork's need not be allowed to say what lands.
  const isPinned = isAdmitted(entry) || (pr.fromFork && entry.headSha !== null);
  if (isPinned && pr.headSha !== entry.headSha)
    return cancelled("PULL_REQUEST_PUSHED", `a new commit was pushed (${pr.headSha.slice(0, 12)}): submit it again`);
  if (!isAdmitted(entry)) return undefined;
  if (!isOfTarget) return cancelled("PULL_REQUEST_RETARGETED", `its base branch is now ${pr.baseBranch}`);
  if (pr.draft) return cancelled("PULL_REQUEST_DRAFTED", "it was made a draft");
  return undefined;
}

/** An admitted entry that the host now calls unmergeable gives up its place. */
function keepReady(draft: Draft, entry: Entry): void {
  const { pr } = entry;
  if (entry.conflictsWith !== null && !isAheadOf(draft, entry.conflictsWith, entry)) settleConflict(draft, entry);
  if (pr === null || pr.mergeability !== "NOT_MERGEABLE") return;
  if (isOutdated(draft, pr)) {
    askAgain(draft, entry);
    return;
  }
  const message = pr.obstacle ?? "the code host says that it cannot be merged";
  const why = { reason: "READINESS_LOST", message, cause: "host" } as const;
  const others = `PR #${entry.prNumber}, tested together with it, is not ready any more`;
  for (const run of draft.runsOf(entry.id))
    draft.closeRun(run, "CANCELLED", { reason: "BATCH_CHANGED", message: others, cause: "host" });
  draft.move(entry, "NOT_READY", why);
}

/** Whom it conflicts with has landed or left. If it landed, most likely the host knows: until it says so, nobody counts on it. */
function settleConflict(draft: Draft, entry: Entry): void {
  if (entry.pr !== null && isOutdated(draft, entry.pr)) askAgain(draft, entry);
  else draft.patch(entry.id, { conflictsWith: null });
}

/** Only one that is live and ahead can be waited for: that keeps waiting free of circles, whatever changes the order. */
function isAheadOf(draft: Draft, id: EntryId, entry: Entry): boolean {
  const [other, own] = [draft.groupOf(id), draft.groupOf(entry.id)];
  return other !== undefined && own !== undefined && other.at < own.at;
}

const hasToAskAgain = (draft: Draft, { trouble }: Entry): boolean => trouble !== null && draft.now >= trouble.retryAt;

function askInTrouble(draft: Draft, entry: Entry): void {
  if (entry.trouble === null) return;
  const count = entry.trouble.count + 1;
  const again = askAgainAt(draft.now, entry.trouble.kind, count);
  draft.patch(entry.id, { trouble: { ...entry.trouble, count, retryAt: again } });
  draft.readPullRequest(entry.prNumber);
}

function awaitReadiness(draft: Draft, entry: Entry, permits: Permits): void {
  const { pr } = entry;
  if (pr !== null && pr.headSha !== entry.headSha) {
    // Targets belong to a commit: the new head's own are brought by the request that sets them, or by the sweep.
    draft.patch(entry.id, {
      headSha: pr.headSha,
      targets: null,
      lane: null,
      comparing: null,
      computedFor: null,
      refusal: null,
    });
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
