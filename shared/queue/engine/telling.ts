import type { EntryId } from "../../kernel/ids.ts";
import type { Draft } from "./draft.ts";
import type { Entry, Run } from "./types.ts";

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

export type Told = Omit<Explanation, "position">;

export const blocker = (kind: string, message: string, prNumber: number | null = null): Blocker => ({
  kind,
  message,
  prNumber,
});

export function told(
  entry: Entry,
  what: string,
  blockers: readonly Blocker[],
  whatWouldMoveIt: readonly string[],
  waitsFor: readonly string[] = blockers.map((one) => one.message),
): Told {
  const why = blockers.map((one) => one.message).join("; ");
  return { summary: `PR #${entry.prNumber} ${what}: ${why}.`, blockers, waitsFor, whatWouldMoveIt };
}

/** `PR #1, PR #2 and 7 more`. */
export function names(entries: readonly Entry[]): string {
  const shown = entries.slice(0, 5).map((one) => `PR #${one.prNumber}`);
  return entries.length > 5 ? `${shown.join(", ")} and ${entries.length - 5} more` : shown.join(", ");
}

export const named = (draft: Draft, ids: readonly EntryId[]): readonly Entry[] =>
  ids.flatMap((id) => draft.entries.get(id) ?? []);

/** The live entries that it depends on, in order. */
export function aheadOf(draft: Draft, entry: Entry): readonly Entry[] {
  const group = draft.groupOf(entry.id);
  return group === undefined ? [] : named(draft, draft.line().predecessorsOf(group));
}

/** The live entries ahead that its run contains or leaves out. */
export function undecidedAheadOf(draft: Draft, run: Run): readonly Entry[] {
  const standing = draft.standing(run);
  return standing.kind === "VOID" ? [] : named(draft, [...standing.before, ...standing.without]);
}

/** What a run takes for granted, in words; empty where it takes nothing for granted. */
export function assumptionsOf(draft: Draft, run: Run): string {
  const standing = draft.standing(run);
  if (standing.kind === "VOID") return "";
  const parts = [
    ...(standing.before.length === 0 ? [] : [`that ${namesWith(draft, standing.before, "lands", "land")} before it`]),
    ...(standing.without.length === 0
      ? []
      : [`that ${namesWith(draft, standing.without, "does not land", "do not land")}`]),
  ];
  return parts.length === 0 ? "" : `it assumes ${parts.join(", and ")}`;
}

function namesWith(draft: Draft, ids: readonly EntryId[], ofOne: string, ofMany: string): string {
  const entries = named(draft, ids);
  return `${names(entries)} ${entries.length === 1 ? ofOne : ofMany}`;
}

/** `the test of PR #2 behind it, which contains it`: what clears it, or may. */
export function successorIn(draft: Draft, ids: readonly EntryId[]): string {
  const entries = named(draft, ids);
  return `the test of ${entries.length === 0 ? "a pull request" : names(entries)} behind it, which contains it`;
}

/** Those that are tested together with it. */
export function matesOf(draft: Draft, entry: Entry): readonly Entry[] {
  const group = draft.groupOf(entry.id);
  return named(draft, group?.members ?? []).filter((other) => other.id !== entry.id);
}
