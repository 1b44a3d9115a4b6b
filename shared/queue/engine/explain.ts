import { type EpochMs, toRfc3339 } from "../../kernel/time.ts";
import { Draft } from "./draft.ts";
import { explainFailing } from "./explain-failing.ts";
import { explainPending } from "./explain-pending.ts";
import { permitsOf } from "./permits.ts";
import { missingOf } from "./readiness.ts";
import {
  aheadOf,
  assumptionsOf,
  type Blocker,
  blocker,
  type Explanation,
  matesOf,
  named,
  names,
  successorIn,
  type Told,
  told,
  undecidedAheadOf,
} from "./telling.ts";
import type { Entry, QueueState } from "./types.ts";
import { requiredNow, verdictOf } from "./verdict.ts";

/** Why an entry is where it is, from the queue as it is now. Changes nothing. */
export const explain = (state: QueueState, entry: Entry, now: EpochMs): Explanation => explainer(state, now)(entry);

/** The same for many entries: the queue is put in order once, and not for each of them. */
export function explainer(state: QueueState, now: EpochMs): (entry: Entry) => Explanation {
  const draft = new Draft(state, now);
  return (entry) => {
    const at = draft.line().entries.indexOf(entry.id);
    return { position: at < 0 ? null : at + 1, ...explainState(draft, entry) };
  };
}

function explainState(draft: Draft, entry: Entry): Told {
  switch (entry.state) {
    case "NOT_READY":
      return explainNotReady(draft, entry);
    case "PENDING":
      return explainPending(draft, entry);
    case "TESTING":
      return explainTesting(draft, entry);
    case "TESTS_PASSED":
      return explainPassed(draft, entry);
    case "PENDING_FAILURE":
      return explainFailing(draft, entry);
    case "MERGED":
    case "FAILED":
    case "CANCELLED":
      return explainEnded(entry);
  }
}

function explainNotReady(draft: Draft, entry: Entry): Told {
  const missing = missingOf(draft, entry).map((one) => blocker(one.kind, one.message));
  const permits = permitsOf(draft, draft.now);
  const closed = permits.admits(entry)
    ? []
    : [blocker(permits.state, `the queue admits nobody: ${permits.reason ?? permits.state}`)];
  const blockers = [...missing, ...closed];
  if (blockers.length === 0) blockers.push(blocker("ADMISSION", "it is ready and is admitted in a moment"));
  const moves =
    missing.length > 0 ? "mending what is missing; it is then admitted by itself" : "the queue's return to RUNNING";
  return told(entry, "is not ready", blockers, [moves]);
}

function explainTesting(draft: Draft, entry: Entry): Told {
  const run = draft.runsOf(entry.id).findLast((one) => one.phase === "TESTING");
  if (run === undefined)
    return told(
      entry,
      "is being tested",
      [blocker("STATE", "its state is being set anew")],
      ["nothing: it follows at once"],
    );
  const required = requiredNow(draft).statuses;
  const verdict = verdictOf(run, required);
  const open = verdict.kind === "OPEN" ? verdict.waitsFor : required;
  const seen = run.statuses.map((status) => status.context);
  const unheard = open.filter((context) => !seen.includes(context));
  const by = run.deadline === null ? "" : ` by ${toRfc3339(run.deadline)}`;
  const assumed = assumptionsOf(draft, run);
  const blockers = [
    blocker("TESTS", `${open.join(", ")} must pass in test run ${run.id}${by}${assumed === "" ? "" : `; ${assumed}`}`),
  ];
  if (unheard.length > 0)
    blockers.push(
      blocker(
        "STATUS_NOT_REPORTED",
        `${unheard.join(", ")} ${unheard.length === 1 ? "has" : "have"} not reported yet; seen so far: ${seen.join(", ") || "nothing"}`,
      ),
    );
  const mates = matesOf(draft, entry);
  if (mates.length > 0) blockers.push(blocker("BATCH", `it is tested and lands together with ${names(mates)}`));
  const what = run.kind === "BISECTION" ? "is being tested in the bisection of its batch" : "is being tested";
  return told(entry, what, blockers, ["the end of its tests"], open);
}

function explainPassed(draft: Draft, entry: Entry): Told {
  if (draft.isLanding(entry.id))
    return told(entry, "has passed its tests", [landingBlocker(draft)], ["the code host's answer"]);
  const permits = permitsOf(draft, draft.now);
  const contained = draft
    .runsOf(entry.id)
    .flatMap((run) => (run.phase === "PASSED" ? undecidedAheadOf(draft, run) : []));
  const blockers = [...new Set([...aheadOf(draft, entry), ...contained])]
    .slice(0, 20)
    .map((other) => aheadOfPassed(draft, entry, other));
  const clearing = draft.runsOf(entry.id).some((run) => run.phase === "PASSED")
    ? undefined
    : draft.clearingRun(entry.id);
  if (clearing !== undefined)
    blockers.unshift(blocker("CLEARED", `${successorIn(draft, clearing.group)}, passed: they land together`));
  if (!permits.lands(entry))
    blockers.push(blocker(permits.state, `the queue lands nothing: ${permits.reason ?? permits.state}`));
  const comparing = [entry, ...matesOf(draft, entry)].filter((one) => one.comparing !== null);
  if (draft.mode === "PARALLEL" && comparing.length > 0)
    blockers.push(blocker("COMPARING_TARGETS", `new impacted targets of ${names(comparing)} are being compared first`));
  if (draft.tipDoubted)
    blockers.push(blocker("TARGET_READ", `${draft.branch} is being read again before anything lands`));
  if (blockers.length === 0) blockers.push(otherLanding(draft) ?? blocker("LANDING", "it lands in a moment"));
  return told(entry, "has passed its tests", blockers, ["the pull requests ahead landing, or leaving the queue"]);
}

/** Of two lanes that are ready, one lands after the other. */
export function otherLanding(draft: Draft): Blocker | undefined {
  const [first] = named(draft, draft.landing?.group ?? []);
  if (draft.landing === null || draft.landing.landed || first === undefined) return undefined;
  const message = `PR #${first.prNumber} is landing, and one lands at a time: ${landingBlocker(draft).message}`;
  return blocker("OTHER_LANDING", message, first.prNumber);
}

export function landingBlocker({ landing }: Draft): Blocker {
  const trouble = landing?.trouble ?? null;
  const message =
    trouble === null ? "it is landing" : `its landing is tried again at ${toRfc3339(trouble.retryAt)}: ${trouble.what}`;
  return blocker("LANDING", message);
}

function aheadOfPassed(draft: Draft, entry: Entry, other: Entry): Blocker {
  const doing = draft.isLanding(other.id) ? "is landing" : IS_DOING[other.state];
  const run = draft.runsOf(entry.id).find((one) => one.phase === "PASSED" && one.assumedOut.includes(other.id));
  const but = run === undefined ? "" : `; ${run.id} passed without it, and is void if it lands`;
  return blocker("PREDECESSOR", `PR #${other.prNumber}, which ${doing}, is ahead of it${but}`, other.prNumber);
}

const IS_DOING: Readonly<Record<Entry["state"], string>> = {
  NOT_READY: "is not ready",
  PENDING: "waits to be tested",
  TESTING: "is being tested",
  TESTS_PASSED: "has passed",
  PENDING_FAILURE: "has failed and is not judged yet",
  MERGED: "has been merged",
  FAILED: "has failed",
  CANCELLED: "was cancelled",
};

function explainEnded(entry: Entry): Told {
  const { conclusion } = entry;
  const why = conclusion === null ? "" : `: ${conclusion.message}`;
  return {
    summary: `PR #${entry.prNumber} ended ${entry.state}${why}.`,
    blockers: [],
    waitsFor: [],
    whatWouldMoveIt: entry.state === "MERGED" ? [] : ["submitting it again"],
  };
}
