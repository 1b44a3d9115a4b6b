import { type EpochMs, toRfc3339 } from "../../kernel/time.ts";
import { standingOf } from "./evidence.ts";
import { mayRepeat } from "./judge.ts";
import { Line } from "./line.ts";
import { permitsOf } from "./permits.ts";
import { missingOf } from "./readiness.ts";
import { isInProgress } from "./runs.ts";
import type { Entry, QueueState, Run } from "./types.ts";
import { requiredNow, verdictOf } from "./verdict.ts";

/** One thing that stands in the way. `kind` is stable, for programs; `prNumber` names the pull request if it is one. */
export type Blocker = { readonly kind: string; readonly message: string; readonly prNumber: number | null };

/** Why an entry is where it is and what would move it. Never empty for a live entry. */
export type Explanation = {
  /** 1 is the front of the queue; null while it is not admitted or has ended. */
  readonly position: number | null;
  readonly summary: string;
  readonly blockers: readonly Blocker[];
  readonly waitsFor: readonly string[];
  readonly whatWouldMoveIt: readonly string[];
};

export function explain(state: QueueState, entry: Entry, now: EpochMs): Explanation {
  const line = new Line(state);
  const at = line.entries.indexOf(entry.id);
  const position = at < 0 ? null : at + 1;
  switch (entry.state) {
    case "NOT_READY":
      return { position, ...explainNotReady(state, entry, now) };
    case "PENDING":
      return { position, ...explainPending(state, entry, line, now) };
    case "TESTING":
      return { position, ...explainTesting(state, entry) };
    case "TESTS_PASSED":
      return { position, ...explainPassed(state, entry, line, now) };
    case "PENDING_FAILURE":
      return { position, ...explainFailing(state, entry, line, now) };
    case "MERGED":
    case "FAILED":
    case "CANCELLED":
      return { position: null, ...explainEnded(entry) };
  }
}

type Told = Omit<Explanation, "position">;

const blocker = (kind: string, message: string, prNumber: number | null = null): Blocker => ({
  kind,
  message,
  prNumber,
});

function explainNotReady(state: QueueState, entry: Entry, now: EpochMs): Told {
  const missing = missingOf(state, entry).map((one) => blocker(one.kind, one.message));
  const permits = permitsOf(state, now);
  const closed = permits.admits(entry)
    ? []
    : [blocker(permits.state, `the queue admits nobody: ${permits.reason ?? permits.state}`)];
  const blockers = [...missing, ...closed];
  if (blockers.length === 0) blockers.push(blocker("ADMISSION", "it is ready and is admitted in a moment"));
  return {
    summary: `PR #${entry.prNumber} is not ready: ${blockers.map((one) => one.message).join("; ")}.`,
    blockers,
    waitsFor: blockers.map((one) => one.message),
    whatWouldMoveIt:
      missing.length > 0
        ? ["mending what is missing; it is then admitted by itself"]
        : ["the queue's return to RUNNING"],
  };
}

function explainPending(state: QueueState, entry: Entry, line: Line, now: EpochMs): Told {
  const blockers = pendingBlockers(state, entry, line, now);
  return {
    summary: `PR #${entry.prNumber} waits to be tested: ${blockers.map((one) => one.message).join("; ")}.`,
    blockers,
    waitsFor: blockers.map((one) => one.message),
    whatWouldMoveIt: ["a free testing slot when its turn comes", "a more urgent priority moves it forward"],
  };
}

function pendingBlockers(state: QueueState, entry: Entry, line: Line, now: EpochMs): readonly Blocker[] {
  const permits = permitsOf(state, now);
  const found: Blocker[] = [];
  if (!permits.starts(entry))
    found.push(blocker(permits.state, `the queue starts no tests: ${permits.reason ?? permits.state}`));
  const opponent = entry.conflictsWith === null ? undefined : state.entries.get(entry.conflictsWith);
  if (opponent !== undefined)
    found.push(
      blocker(
        "CONFLICT",
        `it conflicts in text with PR #${opponent.prNumber}, which is ahead of it`,
        opponent.prNumber,
      ),
    );
  if (entry.broken !== null && entry.broken.retryAt > now)
    found.push(
      blocker(
        "INFRASTRUCTURE",
        `its last test had no verdict (${entry.broken.what}); it is repeated at ${toRfc3339(entry.broken.retryAt)}`,
      ),
    );
  const runs = runsOf(state, entry);
  if (runs.some((run) => run.phase === "BUILDING"))
    found.push(blocker("BUILDING", "its testing branch is being built"));
  if (state.tipDoubted || state.tip === null)
    found.push(blocker("TARGET_READ", `${state.branch} moved and is being read again`));
  return found.length > 0 ? found : [...passedInVain(state, runs, line), slotBlocker(state)];
}

/** It passed on something that is not the likeliest any more: said, because its tests did pass. */
function passedInVain(state: QueueState, runs: readonly Run[], line: Line): readonly Blocker[] {
  const run = runs.find((one) => one.phase === "PASSED");
  const ahead = run === undefined ? [] : standingAhead(state, run, line);
  const failing = ahead.filter((other) => other.state === "PENDING_FAILURE");
  if (run === undefined || failing.length === 0) return [];
  const message = `${run.id} passed with ${names(failing)}, which has failed since: it is tested without`;
  return [blocker("PREDECESSOR", message, failing[0]?.prNumber ?? null)];
}

function slotBlocker(state: QueueState): Blocker {
  const used = [...state.runs.values()].filter((run) => run.kind !== "BISECTION" && isInProgress(run));
  const slots = state.config.settings.concurrency;
  if (used.length < slots) return blocker("START", "its test starts in a moment");
  const holders = [...new Set(used.flatMap((run) => run.group))].flatMap((id) => state.entries.get(id) ?? []);
  const by = holders.length === 0 ? "a test of the target itself" : names(holders);
  const all = slots === 1 ? "the only testing slot is in use" : `all ${slots} testing slots are in use`;
  return blocker("SLOTS", `${all} by ${by}`, holders[0]?.prNumber ?? null);
}

/** `#1, #2 and 7 more`. */
function names(entries: readonly Entry[]): string {
  const shown = entries.slice(0, 5).map((one) => `PR #${one.prNumber}`);
  return entries.length > 5 ? `${shown.join(", ")} and ${entries.length - 5} more` : shown.join(", ");
}

function explainTesting(state: QueueState, entry: Entry): Told {
  const run = runsOf(state, entry).findLast((one) => one.phase === "TESTING");
  const required = requiredNow(state).statuses;
  const verdict = run === undefined ? undefined : verdictOf(run, required);
  const open = verdict?.kind === "OPEN" ? verdict.waitsFor : required;
  const seen = run?.statuses.map((status) => status.context) ?? [];
  const unheard = open.filter((context) => !seen.includes(context));
  const by = run === undefined || run.deadline === null ? "" : ` by ${toRfc3339(run.deadline)}`;
  const blockers = [blocker("TESTS", `${open.join(", ")} must pass in test run ${run?.id ?? ""}${by}`)];
  if (unheard.length > 0)
    blockers.push(
      blocker(
        "STATUS_NOT_REPORTED",
        `${unheard.join(", ")} has not reported yet; seen so far: ${seen.join(", ") || "nothing"}`,
      ),
    );
  return {
    summary: `PR #${entry.prNumber} is being tested: ${blockers.map((one) => one.message).join("; ")}.`,
    blockers,
    waitsFor: open,
    whatWouldMoveIt: ["the end of its tests"],
  };
}

function explainPassed(state: QueueState, entry: Entry, line: Line, now: EpochMs): Told {
  if (state.landing?.group.includes(entry.id)) {
    const trouble = state.landing.trouble;
    const message =
      trouble === null
        ? "it is landing"
        : `its landing is tried again at ${toRfc3339(trouble.retryAt)}: ${trouble.what}`;
    return told(entry, "has passed its tests", [blocker("LANDING", message)], ["the code host's answer"]);
  }
  const ahead = aheadOf(state, entry, line);
  const permits = permitsOf(state, now);
  const blockers = ahead.slice(0, 20).map((other) => aheadOfPassed(state, entry, other));
  if (!permits.lands(entry))
    blockers.push(blocker(permits.state, `the queue lands nothing: ${permits.reason ?? permits.state}`));
  if (state.tipDoubted)
    blockers.push(blocker("TARGET_READ", `${state.branch} is being read again before anything lands`));
  if (blockers.length === 0) blockers.push(blocker("LANDING", "it lands in a moment"));
  return told(entry, "has passed its tests", blockers, ["the pull requests ahead landing, or leaving the queue"]);
}

function aheadOfPassed(state: QueueState, entry: Entry, other: Entry): Blocker {
  const doing = state.landing?.group.includes(other.id) ? "is landing" : IS_DOING[other.state];
  const run = runsOf(state, entry).find((one) => one.phase === "PASSED" && one.assumedOut.includes(other.id));
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

function explainFailing(state: QueueState, entry: Entry, line: Line, now: EpochMs): Told {
  const runs = runsOf(state, entry);
  const run = runs.find((one) => one.phase === "REPEATING") ?? runs.find((one) => one.phase === "FAILED");
  const failed = run?.failure?.contexts.join(", ") ?? "its tests";
  const blockers: Blocker[] = [];
  if (run?.phase === "REPEATING")
    blockers.push(blocker("REPEAT", `${failed} failed in ${run.id} and is being repeated`));
  const ahead = run === undefined ? [] : standingAhead(state, run, line);
  for (const other of ahead)
    blockers.push(
      blocker(
        "PREDECESSOR",
        `whether PR #${other.prNumber} caused it is not known before that one is settled`,
        other.prNumber,
      ),
    );
  if (run?.phase === "FAILED") blockers.push(...repeatBlockers(state, entry, run, now));
  if (blockers.length === 0) blockers.push(blocker("JUDGEMENT", "it is judged in a moment"));
  return told(entry, `failed ${failed}`, blockers, ["a repeat that passes", "the pull requests ahead being settled"]);
}

/** What keeps a failed run from its repeat, or, when none is left, from being judged. */
function repeatBlockers(state: QueueState, entry: Entry, run: Run, now: EpochMs): readonly Blocker[] {
  const permits = permitsOf(state, now);
  if (!mayRepeat(state, run)) {
    const hold = state.holds.find((one) => one.kind === "TIP_FAILED");
    return hold === undefined ? [] : [blocker(hold.kind, `nobody is judged while ${state.branch} itself fails`)];
  }
  if (!permits.starts(entry))
    return [blocker(permits.state, `the queue starts no repeat: ${permits.reason ?? permits.state}`)];
  const verdict = verdictOf(run, requiredNow(state).statuses);
  const open = verdict.kind === "FAILED" && run.deadline !== null && now < run.deadline ? verdict.open : [];
  const waits = open.length > 0 ? `${open.join(", ")}, still to come` : "a slot, or for the pull requests ahead";
  return [
    blocker(
      "REPEAT",
      `${run.failure?.contexts.join(", ") ?? "what failed"} in ${run.id}: the repeat waits for ${waits}`,
    ),
  ];
}

function told(entry: Entry, what: string, blockers: readonly Blocker[], whatWouldMoveIt: readonly string[]): Told {
  const waitsFor = blockers.map((one) => one.message);
  return { summary: `PR #${entry.prNumber} ${what}: ${waitsFor.join("; ")}.`, blockers, waitsFor, whatWouldMoveIt };
}

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

const runsOf = (state: QueueState, entry: Entry): readonly Run[] =>
  [...state.runs.values()].filter((run) => run.group.includes(entry.id));

function aheadOf(state: QueueState, entry: Entry, line: Line): readonly Entry[] {
  const group = line.groupOf(entry.id);
  return group === undefined ? [] : line.predecessorsOf(group).flatMap((id) => state.entries.get(id) ?? []);
}

function standingAhead(state: QueueState, run: Run, line: Line): readonly Entry[] {
  const standing = standingOf(state, run, line);
  if (standing.kind === "VOID") return [];
  return [...standing.before, ...standing.without].flatMap((id) => state.entries.get(id) ?? []);
}
