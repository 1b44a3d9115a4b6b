import { type EpochMs, toRfc3339 } from "../../kernel/time.ts";
import { standingOf } from "./evidence.ts";
import { predecessorsOf } from "./lanes.ts";
import { admittedInOrder } from "./order.ts";
import { permitsOf } from "./permits.ts";
import { missingOf } from "./readiness.ts";
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
  const order = admittedInOrder(state);
  const at = order.findIndex((other) => other.id === entry.id);
  const position = at < 0 ? null : at + 1;
  switch (entry.state) {
    case "NOT_READY":
      return { position, ...explainNotReady(state, entry, now) };
    case "PENDING":
      return { position, ...explainPending(state, entry, order, now) };
    case "TESTING":
      return { position, ...explainTesting(state, entry) };
    case "TESTS_PASSED":
      return { position, ...explainPassed(state, entry, order, now) };
    case "PENDING_FAILURE":
      return { position, ...explainFailing(state, entry, order, now) };
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

function explainPending(state: QueueState, entry: Entry, order: readonly Entry[], now: EpochMs): Told {
  const blockers = pendingBlockers(state, entry, order, now);
  return {
    summary: `PR #${entry.prNumber} waits to be tested: ${blockers.map((one) => one.message).join("; ")}.`,
    blockers,
    waitsFor: blockers.map((one) => one.message),
    whatWouldMoveIt: ["a free testing slot when its turn comes", "a more urgent priority moves it forward"],
  };
}

function pendingBlockers(state: QueueState, entry: Entry, order: readonly Entry[], now: EpochMs): readonly Blocker[] {
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
  if (runsOf(state, entry).some((run) => run.phase === "BUILDING"))
    found.push(blocker("BUILDING", "its testing branch is being built"));
  if (state.tipDoubted || state.tip === null)
    found.push(blocker("TARGET_READ", `${state.branch} moved and is being read again`));
  if (found.length > 0) return found;
  const ahead = order.slice(
    0,
    order.findIndex((other) => other.id === entry.id),
  );
  const testing = ahead.filter((other) => other.state === "TESTING" || other.state === "PENDING_FAILURE");
  const slots = state.config.settings.concurrency;
  const named = testing
    .slice(0, 5)
    .map((other) => `#${other.prNumber}`)
    .join(", ");
  return [
    blocker(
      "SLOTS",
      `all ${slots} testing slots are in use${named === "" ? "" : ` (by ${named})`}`,
      testing[0]?.prNumber ?? null,
    ),
  ];
}

function explainTesting(state: QueueState, entry: Entry): Told {
  const run = runsOf(state, entry).find((one) => one.phase === "TESTING");
  const required = requiredNow(state).statuses;
  const verdict = run === undefined ? undefined : verdictOf(run, required);
  const open = verdict?.kind === "OPEN" ? verdict.waitsFor : required;
  const seen = run?.statuses.map((status) => status.context) ?? [];
  const unheard = open.filter((context) => !seen.includes(context));
  const until = run === undefined || run.deadline === null ? "" : `, until ${toRfc3339(run.deadline)} at most`;
  const blockers = [blocker("TESTS", `${open.join(", ")} must pass in test run ${run?.id ?? ""}${until}`)];
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

function explainPassed(state: QueueState, entry: Entry, order: readonly Entry[], now: EpochMs): Told {
  if (state.landing?.group.includes(entry.id)) {
    const trouble = state.landing.trouble;
    const message =
      trouble === null
        ? "it is landing"
        : `its landing is tried again at ${toRfc3339(trouble.retryAt)}: ${trouble.what}`;
    return told(entry, "has passed its tests", [blocker("LANDING", message)], ["the code host's answer"]);
  }
  const ahead = aheadOf(state, entry, order);
  const permits = permitsOf(state, now);
  const blockers = ahead
    .slice(0, 20)
    .map((other) => blocker("PREDECESSOR", `PR #${other.prNumber} is ahead of it (${other.state})`, other.prNumber));
  if (!permits.lands(entry))
    blockers.push(blocker(permits.state, `the queue lands nothing: ${permits.reason ?? permits.state}`));
  if (state.tipDoubted)
    blockers.push(blocker("TARGET_READ", `${state.branch} is being read again before anything lands`));
  if (blockers.length === 0) blockers.push(blocker("LANDING", "it lands in a moment"));
  return told(entry, "has passed its tests", blockers, ["the pull requests ahead landing, or leaving the queue"]);
}

function explainFailing(state: QueueState, entry: Entry, order: readonly Entry[], now: EpochMs): Told {
  const runs = runsOf(state, entry);
  const run = runs.find((one) => one.phase === "REPEATING") ?? runs.find((one) => one.phase === "FAILED");
  const failed = run?.failure?.contexts.join(", ") ?? "its tests";
  const blockers: Blocker[] = [];
  if (run?.phase === "REPEATING")
    blockers.push(blocker("REPEAT", `${failed} failed in ${run.id} and is being repeated`));
  const ahead = run === undefined ? [] : standingAhead(state, run, order);
  for (const other of ahead)
    blockers.push(
      blocker(
        "PREDECESSOR",
        `whether PR #${other.prNumber} caused it is not known before that one is settled`,
        other.prNumber,
      ),
    );
  const permits = permitsOf(state, now);
  if (!permits.starts(entry))
    blockers.push(blocker(permits.state, `the queue starts no repeat: ${permits.reason ?? permits.state}`));
  if (blockers.length === 0)
    blockers.push(blocker("REPEAT", `${failed} failed in ${run?.id ?? "its test"}; the repeat waits for a slot`));
  return told(entry, `failed ${failed}`, blockers, ["a repeat that passes", "the pull requests ahead being settled"]);
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

function aheadOf(state: QueueState, entry: Entry, order: readonly Entry[]): readonly Entry[] {
  const at = order.findIndex((other) => other.id === entry.id);
  return predecessorsOf([entry], order.slice(0, Math.max(0, at)), state.mode);
}

function standingAhead(state: QueueState, run: Run, order: readonly Entry[]): readonly Entry[] {
  const standing = standingOf(state, run, order);
  if (standing.kind === "VOID") return [];
  return [...standing.before, ...standing.without].flatMap((id) => state.entries.get(id) ?? []);
}
