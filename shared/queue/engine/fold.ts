import type { RunId } from "../../kernel/ids.ts";
import { later, MINUTE_MS } from "../../kernel/time.ts";
import { retryAt } from "./backoff.ts";
import type { Draft } from "./draft.ts";
import { foldLanded, foldNotLanded } from "./landing.ts";
import { isUrgent } from "./order.ts";
import { closeRun, retell } from "./runs.ts";
import type { Entry, NewEntry, NotBuilt, QueueEvent, Run } from "./types.ts";

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
    case "run-built":
      return foldBuilt(draft, event);
    case "run-not-built":
      return foldNotBuilt(draft, event.run, event.why);
    case "statuses":
      return foldStatuses(draft, event);
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
  const entry: Entry = {
    ...submitted,
    headSha: submitted.pr?.headSha ?? null,
    state: "NOT_READY",
    stateChangedAt: submitted.submittedAt,
    askedAgainFor: null,
    closedMsBefore: draft.closedMs(),
    admittedAt: null,
    place: null,
    group: null,
    conflictsWith: null,
    broken: null,
    refusal: null,
    lastRun: null,
    verifiedBy: null,
    firstTestAt: null,
    testedMs: 0,
    restartedAt: [],
    moves: 0,
    endedAt: null,
    conclusion: null,
    asked: {},
  };
  draft.announce(entry, {
    reason: "SUBMITTED",
    message: `submitted by ${submitted.submittedBy}`,
    cause: `user:${submitted.submittedBy}`,
  });
}

/** Requests wrote these wishes onto the entry; a wish that comes twice finds nothing left to do. */
function foldAsked(draft: Draft, { entry: id, asked }: Of<"asked">): void {
  const entry = draft.entries.get(id);
  if (entry === undefined) return;
  if (asked.cancel !== undefined && !draft.isLanding(id)) {
    const by = asked.cancel.by;
    draft.end(entry, "CANCELLED", { reason: "CANCELLED_BY_USER", message: `cancelled by ${by}`, cause: `user:${by}` });
    return;
  }
  const priority = asked.priority ?? entry.priority;
  const becameUrgent = isUrgent({ priority }) && !isUrgent(entry);
  draft.patch(id, {
    priority,
    noBatch: asked.noBatch ?? entry.noBatch,
    targets: asked.targets ?? entry.targets,
    // Made urgent, it goes behind other urgent entries, not back to the place it had among the rest.
    place: becameUrgent ? null : entry.place,
    asked: {},
  });
  if (asked.restart === undefined || draft.isLanding(id)) return;
  const by = asked.restart.by;
  const why = { reason: "RESTARTED_BY_USER", message: `tests restarted by ${by}`, cause: `user:${by}` } as const;
  for (const run of draft.runsOf(id)) closeRun(draft, run, why);
  draft.patch(id, { broken: null, conflictsWith: null });
}

function foldNews(draft: Draft, news: Of<"news">): void {
  if (news.tip !== null && (news.tip.sha === null || news.tip.sha !== draft.tip?.sha)) draft.tipDoubted = true;
  const numbers = new Set(news.prNumbers);
  for (const entry of draft.entries.values()) if (numbers.has(entry.prNumber)) draft.readPullRequest(entry.prNumber);
}

function foldFacts(draft: Draft, { prNumber, facts, readAt: at }: Of<"pull-request">): void {
  const entry = liveByNumber(draft, prNumber);
  if (entry === undefined || (entry.factsAt !== null && at < entry.factsAt)) return;
  draft.patch(entry.id, { pr: facts, factsAt: at, trouble: null });
  // The host judged it against a target that we have not seen: the news of that movement was lost or is on its way.
  if (facts.judgedOn !== null && draft.tip !== null && facts.judgedOn !== draft.tip.sha) draft.tipDoubted = true;
}

function foldUnknown(draft: Draft, { prNumber, kind, what }: Of<"pull-request-unknown">): void {
  const entry = liveByNumber(draft, prNumber);
  if (entry === undefined) return;
  // Facts that are known stay: an outage says nothing about the pull request. Only "there is none" does.
  const count = entry.trouble?.kind === kind ? entry.trouble.count + 1 : 1;
  const again = kind === "NOT_CONNECTED" ? later(draft.now, 10 * MINUTE_MS) : retryAt(draft.now, count);
  draft.patch(entry.id, { trouble: { kind, what, count, retryAt: again } });
}

function foldTip(draft: Draft, { read, tip, reached }: Of<"tip">): void {
  if (read !== draft.tipRead) return;
  draft.tipRead = null;
  draft.tipDoubted = false;
  draft.holds = draft.holds.filter((hold) => hold.kind !== "TARGET_MISSING");
  if (tip.sha !== draft.tip?.sha) draft.lineage = [];
  draft.tip = tip;
  for (const entry of draft.entries.values()) {
    if (entry.headSha === null || !reached.includes(entry.headSha) || entry.pr === null) continue;
    if (!draft.isLanding(entry.id)) draft.patch(entry.id, { pr: { ...entry.pr, state: "MERGED" } });
  }
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
  for (const id of run.group)
    retell(draft, id, {
      reason: "TEST_STARTED",
      message: startedMessage(draft, run),
      cause: `run:${run.id}`,
      run: run.id,
    });
}

function startedMessage(draft: Draft, run: Run): string {
  const ahead = run.predecessors.flatMap((id) => draft.entries.get(id)?.prNumber ?? []);
  return ahead.length === 0
    ? `testing on ${draft.branch}`
    : `testing on ${draft.branch} with ${ahead.map((number) => `#${number}`).join(", ")} ahead of it`;
}

function foldNotBuilt(draft: Draft, id: RunId, why: NotBuilt): void {
  const run = draft.runs.get(id);
  if (run === undefined || run.phase !== "BUILDING") return;
  if (why.kind === "INFRASTRUCTURE") return breakRun(draft, id, why.what);
  const entry = draft.entries.get(why.entry);
  draft.closeRun(run, "CANCELLED", why.kind === "OWN" ? why.what : "conflicts in text");
  if (entry === undefined || entry.pr === null) return;
  if (why.kind === "OWN") {
    draft.end(entry, "FAILED", { reason: "CANNOT_BE_BUILT", message: why.what, cause: `run:${id}`, run: id });
    return;
  }
  if (why.with !== null) {
    draft.patch(entry.id, { conflictsWith: why.with });
    return;
  }
  const paths = why.paths.slice(0, 10).join(", ");
  const obstacle = `it conflicts with ${draft.branch} in ${paths}: rebase it and push`;
  draft.patch(entry.id, { pr: { ...entry.pr, mergeability: "NOT_MERGEABLE", judgedOn: run.base, obstacle } });
}

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
  for (const member of run.group) {
    const count = (draft.entries.get(member)?.broken?.count ?? 0) + 1;
    draft.patch(member, { broken: { what, count, retryAt: retryAt(draft.now, count) } });
  }
  if (run.kind === "TIP") draft.tipTestDue = `the last test of the tip ended without a verdict: ${what}`;
  closeRun(draft, run, { reason: "NO_VERDICT", message: `no verdict: ${what}`, cause: "queue", run: run.id });
}
