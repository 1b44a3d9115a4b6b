import type { EntryId } from "../../kernel/ids.ts";
import type { Draft } from "./draft.ts";
import type { Group } from "./line.ts";
import { isUrgent } from "./order.ts";
import { chanceOnPath } from "./paths.ts";
import { type Chances, isLikelyEnoughToTakeOver, KEPT_FROM } from "./policy.ts";
import { isInProgress } from "./run-index.ts";
import { type Assumptions, closeRun } from "./runs.ts";
import type { Run } from "./types.ts";

export const isUrgentGroup = (draft: Draft, group: Group): boolean => hasUrgent(draft, group.members);

const hasUrgent = (draft: Draft, ids: readonly EntryId[]): boolean =>
  ids.some((id) => {
    const entry = draft.entries.get(id);
    return entry !== undefined && isUrgent(entry);
  });

const numbersOf = (draft: Draft, group: Group): string =>
  group.members.map((id) => `#${draft.entries.get(id)?.prNumber ?? "?"}`).join(", ");

/** An urgent entry takes the slot of the last run of a group that is not urgent. */
export function interruptLast(draft: Draft, urgent: Group): boolean {
  for (const group of draft.line().groups.toReversed()) {
    const [first] = group.members;
    if (first === undefined || isUrgentGroup(draft, group)) continue;
    const run = draft.runsOf(first).find((one) => one.kind === "MAIN" && isInProgress(one));
    if (run === undefined) continue;
    const message = `gave up its slot to PR ${numbersOf(draft, urgent)}, which is urgent`;
    closeRun(draft, run, { reason: "SKIP_THE_LINE_INTERRUPTED", message, cause: "queue" });
    return true;
  }
  return false;
}

/** The run in progress that is the least likely to be needed; undefined when all are likely enough to be kept. */
export function leastLikelyRun(draft: Draft, chances: Chances): { run: Run; chance: number } | undefined {
  let least: { run: Run; chance: number } | undefined;
  for (const run of draft.runs.values()) {
    if (run.kind !== "MAIN" || (run.phase !== "TESTING" && run.phase !== "BUILDING")) continue;
    // What has only just begun is given its time: what is likeliest may change several times in one moment.
    if (run.startedAt === draft.now) continue;
    // An urgent one would take a slot back at once, and so for ever. And so it would go on where its end made another
    // outcome of its entries the likeliest: what it gave way to would then not be needed any more.
    if (hasUrgent(draft, run.group) || hasFailedBesides(draft, run)) continue;
    const standing = draft.standing(run);
    if (standing.kind === "VOID" || mayClear(draft, run, standing.before)) continue;
    const chance = chanceOnPath(chances, { predecessors: standing.before, assumedOut: standing.without });
    if (chance < (least?.chance ?? KEPT_FROM)) least = { run, chance };
  }
  return least;
}

/** Without this run its entries would be ones that failed, and those behind would be tested without them. */
const hasFailedBesides = (draft: Draft, run: Run): boolean =>
  run.group.slice(0, 1).some((id) => draft.runsOf(id).some((other) => other.id !== run.id && other.failure !== null));

/** A failure waits for it: it would clear what it contains. */
function mayClear(draft: Draft, run: Run, before: readonly EntryId[]): boolean {
  const { canOptimisticallyMerge, pendingFailureDepth } = draft.config.settings;
  if (!canOptimisticallyMerge || pendingFailureDepth === 0) return false;
  const group = run.group[0] === undefined ? undefined : draft.groupOf(run.group[0]);
  return before.some((id) => {
    const failed = draft.entries.get(id)?.state === "PENDING_FAILURE" ? draft.groupOf(id) : undefined;
    if (failed === undefined || group === undefined || draft.line().hasPredecessors(failed)) return false;
    return draft.line().dependentsOf(failed, pendingFailureDepth).includes(group);
  });
}

/** With all slots in use, a run that has become unlikely to be needed gives its slot to one that is much likelier. */
export function takeOver(draft: Draft, chances: Chances, group: Group, on: Assumptions): boolean {
  const least = leastLikelyRun(draft, chances);
  if (least === undefined || !isLikelyEnoughToTakeOver(chanceOnPath(chances, on), least.chance)) return false;
  const percent = Math.round(least.chance * 100);
  const to = group.members.some((id) => least.run.group.includes(id))
    ? "a likelier test of the same"
    : `PR ${numbersOf(draft, group)}`;
  const message = `gave up its slot to ${to}: it would be needed in ${percent} of 100 cases`;
  closeRun(draft, least.run, { reason: "PREDECESSORS_CHANGED", message, cause: "queue" });
  return true;
}
