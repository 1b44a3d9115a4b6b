import { toRfc3339 } from "../../kernel/time.ts";
import type { Draft } from "./draft.ts";
import { forgivenUntil } from "./forgiving.ts";
import { mayRepeat } from "./judge.ts";
import type { Group } from "./line.ts";
import { successorFor, waitsUntil } from "./optimism.ts";
import { permitsOf } from "./permits.ts";
import {
  aheadOf,
  type Blocker,
  blocker,
  matesOf,
  named,
  names,
  successorIn,
  type Told,
  told,
  undecidedAheadOf,
} from "./telling.ts";
import type { Entry, Run } from "./types.ts";
import { requiredNow, verdictOf } from "./verdict.ts";

/** Why a failure does not count yet, and what may still undo it. */
export function explainFailing(draft: Draft, entry: Entry): Told {
  const runs = draft.runsOf(entry.id);
  const run = runs.find((one) => one.phase === "REPEATING") ?? runs.find((one) => one.phase === "FAILED");
  if (run === undefined)
    return told(
      entry,
      "failed its tests",
      [blocker("STATE", "its state is being set anew")],
      ["nothing: it follows at once"],
    );
  const failed = failedOf(run);
  const blockers: Blocker[] = [];
  if (run.phase === "REPEATING")
    blockers.push(blocker("REPEAT", `${failed} failed in ${run.id} and is being repeated`));
  for (const other of undecidedAheadOf(draft, run))
    blockers.push(
      blocker(
        "PREDECESSOR",
        `whether PR #${other.prNumber} caused it is not known before that one is settled`,
        other.prNumber,
      ),
    );
  if (run.phase === "FAILED") blockers.push(...openBlockers(draft, entry, run));
  if (blockers.length === 0) blockers.push(blocker("JUDGEMENT", `its failure in ${run.id} is judged in a moment`));
  return told(entry, `failed ${failed} in ${run.id}`, blockers, whatHelps(draft, entry));
}

const failedOf = (run: Run): string => run.failure?.contexts.join(", ") || "its tests";

function whatHelps(draft: Draft, entry: Entry): readonly string[] {
  const mates = matesOf(draft, entry);
  return [
    mates.length === 0
      ? "a repeat that passes"
      : `the bisection of its batch, which shows whether it or ${names(mates)} failed`,
    ...(draft.config.settings.canOptimisticallyMerge ? ["a pull request behind it that contains it and passes"] : []),
    "the pull requests ahead being settled",
  ];
}

/** What keeps a failed run from its repeat, from being taken apart, or, when none is left, from being judged. */
function openBlockers(draft: Draft, entry: Entry, run: Run): readonly Blocker[] {
  const permits = permitsOf(draft, draft.now);
  const until = forgivenUntil(draft, run);
  if (until !== undefined) {
    const message = `whether only quarantined tests failed in ${failedOf(run)} is awaited, until ${toRfc3339(until)} at most`;
    return [blocker("FORGIVENESS", message)];
  }
  if (!mayRepeat(draft, run)) return judgement(draft, entry, run);
  if (!permits.starts(entry))
    return [blocker(permits.state, `the queue starts no repeat: ${permits.reason ?? permits.state}`)];
  const verdict = verdictOf(run, requiredNow(draft).statuses);
  const open = verdict.kind === "FAILED" && run.deadline !== null && draft.now < run.deadline ? verdict.open : [];
  const waits = open.length > 0 ? `${open.join(", ")}, still to come` : "a slot, or for the pull requests ahead";
  return [
    blocker(
      "REPEAT",
      `${run.failure?.contexts.join(", ") ?? "what failed"} in ${run.id}: the repeat waits for ${waits}`,
    ),
  ];
}

function judgement(draft: Draft, entry: Entry, run: Run): readonly Blocker[] {
  const hold = draft.holds.find((one) => one.kind === "TIP_FAILED");
  if (hold !== undefined) return [blocker(hold.kind, `nobody is judged while ${draft.branch} itself fails`)];
  const group = draft.groupOf(entry.id);
  if (group !== undefined && aheadOf(draft, entry).length === 0) return clearingBlocker(draft, run, group);
  return [];
}

/** A successor that contains it may still clear it. */
function clearingBlocker(draft: Draft, run: Run, group: Group): readonly Blocker[] {
  const successor = successorFor(draft, run, group, permitsOf(draft, draft.now));
  if (successor === undefined) return [];
  const until = toRfc3339(waitsUntil(draft, run));
  const message = `${successorIn(draft, successor.members)}, would clear it; it waits for that until ${until} at most`;
  return [blocker("SUCCESSOR", message, named(draft, successor.members)[0]?.prNumber ?? null)];
}
