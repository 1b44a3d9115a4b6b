import type { CommitSha, EntryId } from "../../kernel/ids.ts";
import { retryAt } from "./backoff.ts";
import type { Draft, Why } from "./draft.ts";
import { contradictedBy, doubtedBy, staledBy } from "./evidence.ts";
import type { Group } from "./line.ts";
import type { Permits } from "./permits.ts";
import { changesOf, closeRun } from "./runs.ts";
import { successorIn } from "./telling.ts";
import type { Entry, Landing, QueueEvent, QueueState, Run } from "./types.ts";
import { requiredNow } from "./verdict.ts";

type Of<T extends QueueEvent["type"]> = Extract<QueueEvent, { type: T }>;

/** What is to land: a tested commit and all that it adds to the target, or the head of a pull request as it is. */
type Landable = Pick<Landing, "of" | "run" | "group" | "commit" | "tree" | "base">;

/**
 * Sends the first group that may land: its evidence is good at the present tip, nothing that it depends on is still
 * ahead, nobody says that the target moved, and no other landing is on its way. One at a time per target.
 */
export function beginLanding(draft: Draft, permits: Permits): void {
  // A step that was cut has not looked at everything: what it did not see may speak against landing.
  if (draft.landing !== null || draft.tipDoubted || draft.tip === null || !draft.hasRoom() || draft.untold.length > 0)
    return;
  const line = draft.line();
  for (const group of line.groups) {
    if (line.hasPredecessors(group)) {
      if (draft.mode === "SINGLE") return;
      continue;
    }
    const found = landable(draft, permits, group);
    if (found === undefined || !found.group.every((id) => mayLand(draft, permits, id))) continue;
    // A number of its own: what is told of an earlier sending of the same run, of which a part may have landed, or
    // which met another target, is not about this one.
    const of = `${found.of}.${draft.nextRead}`;
    draft.nextRead += 1;
    send(draft, { ...found, of }, draft.tip.sha, 1);
    return;
  }
}

/** Targets that are being compared may make it depend on somebody whom nobody knows of yet. */
const mayLand = (draft: Draft, permits: Permits, id: EntryId): boolean => {
  const entry = draft.entries.get(id);
  if (entry === undefined || !permits.lands(entry)) return false;
  return draft.mode === "SINGLE" || entry.comparing === null;
};

function landable(draft: Draft, permits: Permits, group: Group): Landable | undefined {
  const [first] = group.members;
  if (first === undefined) return undefined;
  const run = provingRun(draft, first);
  if (run !== undefined) return landableRun(run, run.group);
  const clearing = draft.clearingRun(first);
  // All of it at once: the target moves to what was tested, and to nothing in between that failed.
  const standing = clearing === undefined ? undefined : draft.standing(clearing);
  if (clearing !== undefined && standing?.kind === "GOOD")
    return landableRun(clearing, [...standing.before, ...clearing.group]);
  const entry = draft.entries.get(first);
  const own = mergesDirectly(draft, permits, first) ? entry?.pr?.own : undefined;
  if (entry === undefined || entry.headSha === null || own === undefined || own === null) return undefined;
  return { of: `direct-${first}`, run: null, group: [first], commit: entry.headSha, tree: own.tree, base: own.tip };
}

function landableRun({ id, commit, tree, base }: Run, group: readonly EntryId[]): Landable | undefined {
  return commit === null || tree === null ? undefined : { of: id, run: id, group, commit, tree, base };
}

/** The run whose pass lets the entry land now. */
function provingRun(draft: Draft, id: EntryId): Run | undefined {
  return draft.runsOf(id).find((run) => {
    if (run.phase !== "PASSED") return false;
    const standing = draft.standing(run);
    return standing.kind === "GOOD" && standing.before.length === 0 && standing.without.length === 0;
  });
}

/**
 * Whether the entry is merged without a run: the queue says so, its head contains the target as it is now, everything
 * required has passed on the head itself, and nobody that overlaps it is ahead.
 */
export function mergesDirectly(draft: Draft, permits: Permits, id: EntryId): boolean {
  const { tip, config } = draft;
  const entry = draft.entries.get(id);
  if (config.settings.directMergeMode === "OFF" || entry === undefined || tip === null) return false;
  if (entry.state !== "PENDING" || draft.runsOf(id).length > 0 || !permits.lands(entry)) return false;
  const group = draft.groupOf(id);
  if (group === undefined || group.members.length > 1 || draft.line().hasPredecessors(group)) return false;
  return isGreen(draft, entry);
}

/** Its own statuses prove it at the present tip. */
export function isGreen(state: Pick<QueueState, "config" | "tip">, { pr }: Entry): boolean {
  const required = requiredNow(state).statuses;
  const own = pr?.own;
  if (own === undefined || own === null || own.tip !== state.tip?.sha || required.length === 0) return false;
  const green = new Set(own.statuses.filter((one) => one.state === "SUCCESS").map((one) => one.context));
  return required.every((context) => green.has(context));
}

function send(draft: Draft, what: Landable, expectedTip: CommitSha, attempt: number): void {
  const { of, run, group, commit, tree, base } = what;
  const id = attempt === 1 ? of : `${of}.${attempt}`;
  draft.landing = {
    id,
    of,
    run,
    group,
    commit,
    tree,
    base,
    expectedTip,
    attempt,
    sentAt: draft.now,
    landed: false,
    trouble: null,
  };
  draft.reorder();
  draft.add({
    type: "land",
    key: `land:${id}`,
    landing: id,
    run,
    commit,
    tree,
    base,
    expectedTip,
    changes: changesOf(draft, group),
    mergeMethod: draft.config.settings.mergeMethod,
  });
}

/** Goes on with a landing that was sent: ends the entries of one that succeeded, tries one again that broke. */
export function continueLanding(draft: Draft): void {
  const { landing } = draft;
  if (landing === null) return;
  if (landing.landed) return endLanded(draft);
  if (landing.refused !== undefined) return tellRefused(draft, landing, landing.refused);
  if (landing.run !== null && !draft.runs.has(landing.run)) return forgetLanding(draft);
  if (landing.trouble === null || draft.now < landing.trouble.retryAt) return;
  send(draft, landing, landing.expectedTip, landing.attempt + 1);
}

function forgetLanding(draft: Draft): void {
  draft.landing = null;
  draft.reorder();
}

function endLanded(draft: Draft): void {
  const { landing } = draft;
  if (landing === null) return;
  for (const id of landing.group) {
    const entry = draft.entries.get(id);
    if (entry === undefined) continue;
    if (!draft.hasRoom()) return;
    const sha = draft.lineage.at(-1)?.to ?? draft.tip?.sha ?? landing.expectedTip;
    draft.end(entry, "MERGED", mergedWhy(draft, landing, entry, sha));
  }
  forgetLanding(draft);
}

/** Says so where what landed had not passed by itself. */
function mergedWhy(draft: Draft, landing: Landing, entry: Entry, sha: CommitSha): Why {
  const message = `merged into ${draft.branch} as ${sha.slice(0, 12)}`;
  if (landing.run === null) {
    draft.count({ mergedDirectly: 1 });
    const why = `${message} directly: it contains the target, and everything required has passed on it`;
    return { reason: "MERGED_DIRECTLY", message: why, cause: "queue" };
  }
  const by = { reason: "MERGED", cause: `run:${landing.run}`, run: landing.run } as const;
  const run = draft.runs.get(landing.run);
  if (run === undefined || run.group.includes(entry.id) || draft.runsOf(entry.id).some((own) => own.phase === "PASSED"))
    return { ...by, message };
  draft.count({ mergedByOptimism: 1 });
  const failed = draft.runsOf(entry.id).some((own) => own.failure !== null)
    ? "its own test failed"
    : "its own test had not ended";
  return {
    ...by,
    message: `${message}; ${failed}, and ${successorIn(draft, run.group)}, passed`,
  };
}

/** The target was moved. An answer to an earlier attempt counts as well: what landed, landed. */
export function foldLanded(draft: Draft, event: Of<"landed">): void {
  const { landing } = draft;
  if (landing === null || landing.landed || landing.refused !== undefined || !isAttemptAt(landing, event.landing))
    return;
  const { totals, lineage } = draft;
  const entries = landing.group.filter((id) => event.entries.includes(id));
  // While what landed is still there to be compared with: the lineage only keeps whom it contradicts.
  const standing = (run: Run) => draft.standing(run);
  const step = {
    number: totals.landings,
    from: landing.expectedTip,
    to: event.tip.sha,
    entries,
    voids: contradictedBy(draft, entries, standing),
    doubts: doubtedBy(draft, entries, standing),
    stale: staledBy(draft, entries, standing),
  };
  draft.lineage = event.onMovedTip ? [] : [...lineage, step];
  draft.tip = event.tip;
  draft.landing = { ...landing, landed: true, group: entries };
  draft.reorder();
  draft.count({ landings: 1 });
  if (event.trees === "DIFFERENT") draft.hold("LANDING_MISMATCH", "what landed is not what was tested");
  if (event.onMovedTip) draft.tipTestDue = "a landing met a target that somebody else had moved";
  if (entries.length < landing.group.length) {
    draft.tipTestDue = "a landing stopped half-way";
    draft.hold("LANDING_INCOMPLETE", `${entries.length} of ${landing.group.length} pull requests landed`);
  }
}

const isAttemptAt = ({ of }: Landing, id: string): boolean => id === of || id.startsWith(`${of}.`);

export function foldNotLanded(draft: Draft, event: Of<"not-landed">): void {
  const { landing } = draft;
  if (landing === null || landing.landed || landing.refused !== undefined || landing.id !== event.landing) return;
  const { why } = event;
  // A head that contains the target has nothing to conflict with; what the host says of it then will not change by asking.
  if (why.kind === "REFUSED" || (why.kind === "CONFLICT" && landing.run === null)) {
    draft.landing = { ...landing, refused: why.what, trouble: null };
    return;
  }
  if (why.kind === "INFRASTRUCTURE") {
    draft.landing = { ...landing, trouble: { what: why.what, retryAt: retryAt(draft.now, landing.attempt) } };
    return;
  }
  forgetLanding(draft);
  // The target is read again before anything else lands; what is void then shows against the new tip.
  draft.tipDoubted = true;
  if (why.kind === "CONFLICT") conflicted(draft, landing, why.what);
}

/** What was tested does not merge any more: it is tested on what is there now, if the host still calls it mergeable. */
function conflicted(draft: Draft, { run: of, group }: Landing, what: string): void {
  const run = of === null ? undefined : draft.runs.get(of);
  if (run !== undefined) closeRun(draft, run, { reason: "MERGE_CONFLICT", message: what, cause: "host" });
  const numbers = group.flatMap((id) => draft.entries.get(id)?.prNumber ?? []);
  draft.readsDue = [...new Set([...draft.readsDue, ...numbers])];
}

function tellRefused(draft: Draft, landing: Landing, what: string): void {
  for (const [at, id] of landing.group.entries()) {
    if (!draft.hasRoom()) {
      draft.landing = { ...landing, group: landing.group.slice(at) };
      draft.reorder();
      return;
    }
    refuse(draft, draft.entries.get(id), what);
  }
  forgetLanding(draft);
}

/**
 * The host refuses to land it. Once: the facts are asked for again. Twice in a row for one reason: it has failed. By
 * then it is alone: whoever was refused together with others may not be the one whom it is about.
 */
function refuse(draft: Draft, entry: Entry | undefined, what: string): void {
  if (entry === undefined) return;
  const why = {
    reason: "LANDING_REFUSED",
    message: `the code host refused to land it: ${what}`,
    cause: "host",
  } as const;
  if (entry.refusal === what) {
    draft.end(entry, "FAILED", why);
    return;
  }
  for (const run of draft.runsOf(entry.id)) draft.closeRun(run, "CANCELLED", why);
  // It is ready again when the host has been asked again and calls it mergeable still, not on the old word.
  const obstacle = `${why.message}; it is asked again`;
  const pr: Entry["pr"] = entry.pr === null ? null : { ...entry.pr, mergeability: "IN_PROGRESS", obstacle };
  draft.move({ ...entry, pr, refusal: what }, "NOT_READY", why);
  draft.readPullRequest(entry.prNumber);
}
