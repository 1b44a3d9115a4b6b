import { entryId } from "../../kernel/ids.ts";
import { toRfc3339 } from "../../kernel/time.ts";
import { batchFrom, type Formed } from "./batching.ts";
import type { Draft } from "./draft.ts";
import { mergesDirectly } from "./landing.ts";
import type { Group } from "./line.ts";
import { chancesNow, chanceOnPath, isWorthIt } from "./paths.ts";
import { permitsOf } from "./permits.ts";
import { isInProgress } from "./run-index.ts";
import { assumptionsFor, cannotBeBuilt, freeSlots } from "./runs.ts";
import { type Blocker, blocker, matesOf, named, names, type Told, told, undecidedAheadOf } from "./telling.ts";
import type { Broken, Entry } from "./types.ts";

/** Why an admitted entry is not tested yet: the same questions, in the same order, as the plan asks. */
export function explainPending(draft: Draft, entry: Entry): Told {
  const found = pendingBlockers(draft, entry);
  const mates = matesOf(draft, entry);
  const blockers =
    mates.length === 0 ? found : [...found, blocker("BATCH", `it is tested and lands together with ${names(mates)}`)];
  return told(entry, "waits to be tested", blockers, [
    "a free testing slot when its turn comes",
    "a more urgent priority moves it forward",
  ]);
}

function pendingBlockers(draft: Draft, entry: Entry): readonly Blocker[] {
  const permits = permitsOf(draft, draft.now);
  if (draft.isLanding(entry.id) || mergesDirectly(draft, permits, entry.id)) return [directBlocker(draft)];
  const found: Blocker[] = [];
  if (!permits.starts(entry))
    found.push(blocker(permits.state, `the queue starts no tests: ${permits.reason ?? permits.state}`));
  const opponent = entry.conflictsWith === null ? undefined : draft.entries.get(entry.conflictsWith);
  if (opponent !== undefined)
    found.push(
      blocker(
        "CONFLICT",
        `it conflicts in text with PR #${opponent.prNumber}, which is ahead of it`,
        opponent.prNumber,
      ),
    );
  const broken = brokenOf(draft, entry);
  if (broken !== undefined)
    found.push(
      blocker(
        "INFRASTRUCTURE",
        `its last test had no verdict (${broken.what}); it is repeated at ${toRfc3339(broken.retryAt)}`,
      ),
    );
  if (draft.runsOf(entry.id).some((run) => run.phase === "BUILDING"))
    found.push(blocker("BUILDING", "its testing branch is being built"));
  if (draft.tipDoubted || draft.tip === null)
    found.push(blocker("TARGET_READ", `${draft.branch} moved and is being read again`));
  return found.length > 0 ? found : [...passedInVain(draft, entry), ...waiting(draft, entry)];
}

function directBlocker(draft: Draft): Blocker {
  if (draft.tipDoubted) return blocker("TARGET_READ", `${draft.branch} is being read again before anything lands`);
  const kind = draft.landing === null ? "START" : "LANDING";
  return blocker(kind, "it contains the target and is green by itself: it is merged without a test");
}

/** What broke the last test of its batch stands on the first of it. */
const brokenOf = (draft: Draft, entry: Entry): Broken | undefined =>
  named(draft, draft.groupOf(entry.id)?.members ?? [entry.id]).flatMap(({ broken }) =>
    broken !== null && broken.retryAt > draft.now ? [broken] : [],
  )[0];

/** It passed on something that is not the likeliest any more: said, because its tests did pass. */
function passedInVain(draft: Draft, entry: Entry): readonly Blocker[] {
  const run = draft.runsOf(entry.id).find((one) => one.phase === "PASSED");
  const ahead = run === undefined ? [] : undecidedAheadOf(draft, run);
  const failing = ahead.filter((other) => other.state === "PENDING_FAILURE");
  if (run === undefined || failing.length === 0) return [];
  const message = `${run.id} passed with ${names(failing)}, which has failed since: it is tested without`;
  return [blocker("PREDECESSOR", message, failing[0]?.prNumber ?? null)];
}

/** Nothing is wrong: it waits for a slot, for others to be tested with, or for those ahead to be decided. */
function waiting(draft: Draft, entry: Entry): readonly Blocker[] {
  const group = draft.groupOf(entry.id);
  if (group === undefined) return [blocker("START", "its test starts in a moment")];
  const kind = group.isBisected ? "BISECTION" : "MAIN";
  if (freeSlots(draft, kind) < 1) return [slotsBlocker(draft, kind)];
  return [
    ...unlikely(draft, group),
    ...conflictAhead(draft, group),
    ...batchBlocker(draft, group),
    blocker("START", "its test starts in a moment"),
  ].slice(0, 1);
}

/** Too much ahead of it is undecided: most likely a test started now would be in vain. */
function unlikely(draft: Draft, group: Group): readonly Blocker[] {
  const chances = chancesNow(draft);
  if (group.isBisected || isWorthIt(draft, chances, group)) return [];
  const on = assumptionsFor(draft, group);
  const ahead = named(draft, [...on.predecessors, ...on.assumedOut]);
  const percent = Math.round(chanceOnPath(chances, on) * 100);
  const message = `${names(ahead)} ahead of it are undecided: a test now would be needed in ${percent} of 100 cases`;
  return [blocker("UNDECIDED_PREDECESSORS", message, ahead[0]?.prNumber ?? null)];
}

/** Two of those ahead conflict in text, and both are likely to land: no test can hold both. */
function conflictAhead(draft: Draft, group: Group): readonly Blocker[] {
  const on = assumptionsFor(draft, group);
  if (!cannotBeBuilt(draft, group, on)) return [];
  const [one] = named(draft, on.predecessors).filter(({ conflictsWith }) =>
    on.predecessors.includes(conflictsWith ?? NOBODY),
  );
  const [other] = named(draft, one?.conflictsWith === null || one === undefined ? [] : [one.conflictsWith]);
  if (one === undefined || other === undefined) return [];
  const message = `${names([other, one])} ahead of it conflict in text: one of them has to be settled first`;
  return [blocker("CONFLICT", message, one.prNumber)];
}

const NOBODY = entryId("");

function batchBlocker(draft: Draft, group: Group): readonly Blocker[] {
  const formed = formingWith(draft, group);
  if (formed?.waitsUntil === undefined) return [];
  const size = draft.config.settings.batchingMinSize;
  const message = `it waits for others to be tested with, ${formed.members.length} of ${size}, until ${toRfc3339(formed.waitsUntil)}`;
  return [blocker("BATCH_FORMING", message)];
}

/** The batch that waits and would take it in: whoever begins that is the first of those it depends on, or itself. */
function formingWith(draft: Draft, group: Group): Formed | undefined {
  const permits = permitsOf(draft, draft.now);
  const seeds = draft
    .line()
    .predecessorsOf(group)
    .flatMap((id) => draft.groupOf(id) ?? []);
  for (const seed of [...seeds, group]) {
    const formed = batchFrom(draft, seed, permits);
    if (formed.waitsUntil !== undefined && group.members.every((id) => formed.members.includes(id))) return formed;
  }
  return undefined;
}

function slotsBlocker(draft: Draft, kind: "MAIN" | "BISECTION"): Blocker {
  const used = [...draft.runs.values()].filter(
    (run) => (run.kind === "BISECTION") === (kind === "BISECTION") && isInProgress(run),
  );
  const { concurrency, bisectionConcurrency } = draft.config.settings;
  const [slots, what] = kind === "MAIN" ? [concurrency, "testing"] : [bisectionConcurrency, "bisection"];
  const holders = named(draft, [...new Set(used.flatMap((run) => run.group))]);
  const by = holders.length === 0 ? "a test of the target itself" : names(holders);
  const all = slots === 1 ? `the only ${what} slot is in use` : `all ${slots} ${what} slots are in use`;
  return blocker("SLOTS", `${all} by ${by}`, holders[0]?.prNumber ?? null);
}
