import { retryAt } from "./backoff.ts";
import type { Draft } from "./draft.ts";
import { predecessorsOf } from "./lanes.ts";
import type { Permits } from "./permits.ts";
import { changeOf, closeRun } from "./runs.ts";
import type { Entry, QueueEvent, Run } from "./types.ts";

type Of<T extends QueueEvent["type"]> = Extract<QueueEvent, { type: T }>;

/**
 * Sends the first group that may land: its evidence is good at the present tip, nothing that it depends on is still
 * ahead, nobody says that the target moved, and no other landing is on its way. One at a time per target.
 */
export function beginLanding(draft: Draft, permits: Permits): void {
  // A step that was cut has not looked at everything: what it did not see may speak against landing.
  if (draft.landing !== null || draft.tipDoubted || draft.tip === null || !draft.hasRoom()) return;
  const order = draft.admitted();
  for (const [at, entry] of order.entries()) {
    if (predecessorsOf([entry], order.slice(0, at), draft.mode).length > 0) {
      if (draft.mode === "SINGLE") return;
      continue;
    }
    const run = provingRun(draft, entry);
    if (run === undefined || !permits.lands(entry)) continue;
    send(draft, run, 1);
    return;
  }
}

/** The run whose pass lets the entry land now. */
function provingRun(draft: Draft, entry: Entry): Run | undefined {
  return draft.runsOf(entry.id).find((run) => {
    if (run.phase !== "PASSED") return false;
    const standing = draft.standing(run);
    return standing.kind === "GOOD" && standing.before.length === 0 && standing.without.length === 0;
  });
}

function send(draft: Draft, run: Run, attempt: number): void {
  if (draft.tip === null || run.commit === null || run.tree === null) return;
  // Not the attempt's number: a run that is sent again after the target moved away and back begins at one again.
  const id = `${run.id}.${draft.nextRead}`;
  draft.nextRead += 1;
  const expectedTip = draft.landing?.expectedTip ?? draft.tip.sha;
  const { group } = run;
  draft.landing = {
    id,
    of: run.id,
    run: run.id,
    group,
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
    run: run.id,
    commit: run.commit,
    tree: run.tree,
    base: run.base,
    expectedTip,
    changes: group.flatMap((entry) => draft.entries.get(entry) ?? []).flatMap(changeOf),
    mergeMethod: draft.config.settings.mergeMethod,
  });
}

/** Goes on with a landing that was sent: ends the entries of one that succeeded, tries one again that broke. */
export function continueLanding(draft: Draft): void {
  const { landing } = draft;
  if (landing === null) return;
  if (landing.landed) return endLanded(draft);
  const run = landing.run === null ? undefined : draft.runs.get(landing.run);
  if (run === undefined) return forgetLanding(draft);
  if (landing.trouble === null || draft.now < landing.trouble.retryAt) return;
  send(draft, run, landing.attempt + 1);
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
    const message = `merged into ${draft.branch} as ${sha.slice(0, 12)}`;
    draft.end(entry, "MERGED", { reason: "MERGED", message, cause: `run:${landing.run}`, run: landing.run });
  }
  forgetLanding(draft);
}

/** The target was moved. An answer to an earlier attempt counts as well: what landed, landed. */
export function foldLanded(draft: Draft, event: Of<"landed">): void {
  const { landing } = draft;
  if (landing === null || landing.landed || !event.landing.startsWith(`${landing.of}.`)) return;
  const { totals, lineage } = draft;
  const entries = landing.group.filter((id) => event.entries.includes(id));
  const step = { number: totals.landings, from: landing.expectedTip, to: event.tip.sha, entries, voids: [] };
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

export function foldNotLanded(draft: Draft, event: Of<"not-landed">): void {
  const { landing } = draft;
  if (landing === null || landing.landed || landing.id !== event.landing) return;
  const { why } = event;
  if (why.kind === "INFRASTRUCTURE") {
    draft.landing = { ...landing, trouble: { what: why.what, retryAt: retryAt(draft.now, landing.attempt) } };
    return;
  }
  forgetLanding(draft);
  // The target is read again before anything else lands; what is void then shows against the new tip.
  if (why.kind !== "REFUSED") draft.tipDoubted = true;
  const run = landing.run === null ? undefined : draft.runs.get(landing.run);
  if (run === undefined) return;
  if (why.kind === "CONFLICT") conflicted(draft, run, why.what);
  if (why.kind === "REFUSED") for (const id of run.group) refuse(draft, draft.entries.get(id), why.what);
}

/** What was tested does not merge any more: it is tested on what is there now, if the host still calls it mergeable. */
function conflicted(draft: Draft, run: Run, what: string): void {
  closeRun(draft, run, { reason: "MERGE_CONFLICT", message: what, cause: "host" });
  for (const id of run.group) {
    const entry = draft.entries.get(id);
    if (entry !== undefined) draft.readPullRequest(entry.prNumber);
  }
}

/** The host refuses to land it. Once: the facts are asked for again. Twice in a row for one reason: it has failed. */
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
  for (const run of draft.runsOf(entry.id)) draft.closeRun(run, "CANCELLED", why.message);
  // It is ready again when the host has been asked again and calls it mergeable still, not on the old word.
  const obstacle = `${why.message}; it is asked again`;
  const pr: Entry["pr"] = entry.pr === null ? null : { ...entry.pr, mergeability: "IN_PROGRESS", obstacle };
  draft.move({ ...entry, pr, refusal: what }, "NOT_READY", why);
  draft.readPullRequest(entry.prNumber);
}
