import type { EntryId, RunId } from "../../kernel/ids.ts";
import { later, MINUTE_MS } from "../../kernel/time.ts";
import { askAgainAt, retryAt } from "./backoff.ts";
import type { Draft, Why } from "./draft.ts";
import { foldForgiveness } from "./forgiving.ts";
import { foldLanded, foldNotLanded } from "./landing.ts";
import { newEntry } from "./new-entry.ts";
import { isAdmitted } from "./order.ts";
import { closeRun } from "./runs.ts";
import { retellAll } from "./states.ts";
import { foldCompared, foldComputed } from "./targets.ts";
import type { Broken, Entry, NewEntry, NotBuilt, PullRequestFacts, QueueEvent, Run } from "./types.ts";

/** Takes one fact in. What follows from it is decided by `settle`, from the facts alone. */
export function fold(draft: Draft, event: QueueEvent): void {
  switch (event.type) {
    case "wake":
      return;
    case "configured":
      draft.config = event.config;
      return;
    case "submitted":
      return foldSubmitted(draft, event.entry);
    case "asked":
      return foldAsked(draft, event);
    case "news":
      return foldNews(draft, event);
    case "pull-request":
      return foldFacts(draft, event);
    case "pull-request-unknown":
      return foldUnknown(draft, event);
    case "tip":
      return foldTip(draft, event);
    case "tip-missing":
      return foldTipMissing(draft, event);
    case "targets-compared":
      return foldCompared(draft, event);
    case "targets-computed":
      return foldComputed(draft, event);
    case "run-built":
      return foldBuilt(draft, event);
    case "run-not-built":
      return foldNotBuilt(draft, event.run, event.why);
    case "statuses":
      return foldStatuses(draft, event);
    case "forgiveness":
      return foldForgiveness(draft, event);
    case "run-broken":
      return breakRun(draft, event.run, event.what);
    case "landed":
      return foldLanded(draft, event);
    case "not-landed":
      return foldNotLanded(draft, event);
  }
}

type Of<T extends QueueEvent["type"]> = Extract<QueueEvent, { type: T }>;

const liveByNumber = (draft: Draft, prNumber: number): Entry | undefined =>
  [...draft.entries.values()].find((entry) => entry.prNumber === prNumber);

function foldSubmitted(draft: Draft, submitted: NewEntry): void {
  if (draft.entries.has(submitted.id) || liveByNumber(draft, submitted.prNumber) !== undefined) return;
  draft.announce(newEntry(submitted, draft.closedMs()), {
    reason: "SUBMITTED",
    message: `submitted by ${submitted.submittedBy}`,
    cause: `user:${submitted.submittedBy}`,
  });
}

/** Wishes lie on the entry until they are granted: a message about them may be lost or come twice. */
function foldAsked(draft: Draft, { entry: id, asked }: Of<"asked">): void {
  const entry = draft.entries.get(id);
  if (entry === undefined) return;
  const wishes = { ...entry.asked, ...asked };
  if (JSON.stringify(wishes) !== JSON.stringify(entry.asked)) draft.patch(id, { asked: wishes });
}

/** A target that comes back as it went away is news as well. */
const isMissing = (draft: Draft): boolean => draft.holds.some((hold) => hold.kind === "TARGET_MISSING");

function foldNews(draft: Draft, news: Of<"news">): void {
  if (news.tip !== null && (news.tip.sha === null || news.tip.sha !== draft.tip?.sha || isMissing(draft))) {
    draft.tipDoubted = true;
    // The read under way may have looked before this happened: its answer would hide it.
    draft.tipRead = null;
  }
  const live = new Set([...draft.entries.values()].map((entry) => entry.prNumber));
  draft.readsDue = [...new Set([...draft.readsDue, ...news.prNumbers.filter((number) => live.has(number))])];
}

function foldFacts(draft: Draft, { prNumber, facts, readAt: at }: Of<"pull-request">): void {
  const entry = liveByNumber(draft, prNumber);
  if (entry === undefined || (entry.factsAt !== null && at < entry.factsAt)) return;
  draft.patch(entry.id, { pr: facts, factsAt: at, trouble: undecided(draft, facts) });
  // The host judged it against a target that we have not seen: the news of that movement was lost or is on its way.
  if (facts.judgedOn !== null && draft.tip !== null && facts.judgedOn !== draft.tip.sha) draft.tipDoubted = true;
}

/** Nobody tells when a host has made up its mind about mergeability: it is asked again, like one that did not answer. */
function undecided(draft: Draft, facts: PullRequestFacts): Entry["trouble"] {
  if (facts.mergeability !== "IN_PROGRESS") return null;
  const what = "it is still working out whether the pull request can be merged";
  return { kind: "UNREACHABLE", what, count: 1, retryAt: retryAt(draft.now, 1) };
}

function foldUnknown(draft: Draft, { prNumber, kind, what }: Of<"pull-request-unknown">): void {
  const entry = liveByNumber(draft, prNumber);
  if (entry === undefined) return;
  const { trouble } = entry;
  // The same again before it was asked again says nothing new, and must not put the next question off.
  if (trouble?.kind === kind && draft.now < trouble.retryAt) return;
  // Facts that are known stay: an outage says nothing about the pull request. Only "there is none" does.
  const count = trouble?.kind === kind ? trouble.count + 1 : 1;
  draft.patch(entry.id, { trouble: { kind, what, count, retryAt: askAgainAt(draft.now, kind, count) } });
}

function foldTip(draft: Draft, { read, tip, reached }: Of<"tip">): void {
  if (read !== draft.tipRead) return;
  draft.tipRead = null;
  draft.tipDoubted = false;
  draft.lift("TARGET_MISSING");
  if (tip.sha !== draft.tip?.sha) {
    draft.lineage = [];
    // What made the tip fail may be mended now; and what is to be tested is always the present tip.
    if (draft.holds.some((hold) => hold.kind === "TIP_FAILED" || hold.kind === "LANDING_INCOMPLETE"))
      draft.tipTestDue ??= "the target moved while the service held the queue";
  }
  draft.tip = tip;
  draft.reached = [...new Set([...draft.reached, ...reached])];
  draft.reorder();
}

function foldTipMissing(draft: Draft, { read, what }: Of<"tip-missing">): void {
  if (read !== draft.tipRead) return;
  draft.tipRead = null;
  draft.tipDoubted = false;
  draft.hold("TARGET_MISSING", what);
}

function foldBuilt(draft: Draft, event: Of<"run-built">): void {
  const run = draft.runs.get(event.run);
  if (run === undefined || run.phase !== "BUILDING") return;
  const minutes = draft.config.settings.testingTimeoutMinutes;
  draft.setRun({
    ...run,
    phase: "TESTING",
    commit: event.commit,
    tree: event.tree,
    testingSince: draft.now,
    deadline: minutes === 0 ? null : later(draft.now, minutes * MINUTE_MS),
  });
  retellAll(draft, run.group);
}

function foldNotBuilt(draft: Draft, id: RunId, why: NotBuilt): void {
  const run = draft.runs.get(id);
  if (run === undefined || run.phase !== "BUILDING") return;
  if (why.kind === "INFRASTRUCTURE") return breakRun(draft, id, why.what);
  const entry = draft.entries.get(why.entry);
  const isIn = run.predecessors.includes(why.entry) || run.group.includes(why.entry);
  // Not about anything that could be built here: as if it had not been answered.
  if (entry === undefined || entry.pr === null || !isIn || !isAdmitted(entry) || draft.isLanding(entry.id))
    return breakRun(draft, id, "the code host's answer is not about this test");
  if (why.kind === "OWN") return foldOwnFault(draft, run, entry, why.what);
  if (why.with !== null) return foldConflict(draft, run, entry, why.with);
  draft.closeRun(run, "CANCELLED", conflictIn(entry));
  const paths = why.paths.slice(0, 10).join(", ");
  const obstacle = `it conflicts with ${draft.branch}${paths === "" ? "" : ` in ${paths}`}: rebase it and push`;
  draft.patch(entry.id, { pr: { ...entry.pr, mergeability: "NOT_MERGEABLE", judgedOn: run.base, obstacle } });
}

function foldOwnFault(draft: Draft, run: Run, entry: Entry, what: string): void {
  // It was built before: whatever is wrong now is not in the commit that it stands for.
  if (entry.state !== "PENDING") return breakRun(draft, run.id, what);
  const why = { reason: "CANNOT_BE_BUILT", message: what, cause: `run:${run.id}`, run: run.id } as const;
  draft.closeRun(run, "CANCELLED", why);
  draft.end(entry, "FAILED", why);
}

function foldConflict(draft: Draft, run: Run, entry: Entry, opponent: EntryId): void {
  const order = [...run.predecessors, ...run.group];
  const at = order.indexOf(opponent);
  if (at < 0 || at >= order.indexOf(entry.id))
    return breakRun(draft, run.id, "the code host names a conflict with a pull request that is not ahead");
  draft.closeRun(run, "CANCELLED", conflictIn(entry));
  // It cannot be tested with the rest of its batch; its place it keeps.
  draft.leaves(entry);
  draft.patch(entry.id, { conflictsWith: opponent, group: null });
}

const conflictIn = (entry: Entry): Why => ({
  reason: "MERGE_CONFLICT",
  message: `PR #${entry.prNumber} conflicts in text`,
  cause: "host",
});

function foldStatuses(draft: Draft, event: Of<"statuses">): void {
  const run = draft.runs.get(event.run);
  if (run === undefined || event.repeats !== run.repeats || run.phase === "PASSED") return;
  const isLate = run.deadline !== null && event.readAt !== null && event.readAt >= run.deadline;
  draft.setRun({
    ...run,
    statuses: event.statuses,
    complete: event.complete,
    lateRead: isLate ? "ANSWERED" : run.lateRead,
  });
}

/** A run that infrastructure ended has no verdict; it is repeated later, on what is true then. */
function breakRun(draft: Draft, id: RunId, what: string): void {
  const run = draft.runs.get(id);
  if (run === undefined || run.phase === "PASSED" || run.phase === "FAILED") return;
  const broken = (before: Broken | null | undefined): Broken => {
    const count = (before?.count ?? 0) + 1;
    return { what, count, retryAt: retryAt(draft.now, count) };
  };
  const [first] = run.group;
  if (first !== undefined) draft.patch(first, { broken: broken(draft.entries.get(first)?.broken) });
  if (run.kind === "TIP") {
    draft.tipTestDue = `the last test of the tip ended without a verdict: ${what}`;
    draft.tipTestBroken = broken(draft.tipTestBroken);
  }
  closeRun(draft, run, { reason: "NO_VERDICT", message: `no verdict: ${what}`, cause: "queue", run: run.id });
}
