import type { EntryId } from "../../kernel/ids.ts";
import type { Draft, Why } from "./draft.ts";
import type { Group } from "./line.ts";
import { freeSlots } from "./runs.ts";
import { describe, tellUntold } from "./states.ts";
import type { Bisection, Run, RunFailure } from "./types.ts";

/**
 * Takes a batch that failed apart: into as many parts as bisection slots are free, two at least. Each part is tested on
 * the parts before it (in lanes, on those that it overlaps), so that what passes can land as it was tested. In one line
 * the last of these tests is one that was made already: with BISECTION_SKIP_REDUNDANT_TESTS the failed run stands for it, and is only confirmed by a repeat.
 */
export function bisect(draft: Draft, run: Run, group: Group, failure: RunFailure): void {
  const parts = cut(group.members, Math.max(2, freeSlots(draft, "BISECTION")));
  const last = parts.at(-1) ?? [];
  const ahead = group.members.slice(0, group.members.length - last.length);
  draft.bisections = withParts(draft, group, parts);
  draft.reorder();
  draft.count({ bisections: 1 });
  const why: Why = {
    reason: "BISECTED",
    message: `${describe(failure)} in a batch of ${group.members.length}: it is taken apart into ${parts.length}`,
    cause: `run:${run.id}`,
    run: run.id,
  };
  if (draft.config.settings.optimizationMode === "OFF") draft.closeRun(run, "FAILED", why);
  else {
    draft.regroup({ ...run, kind: "BISECTION", predecessors: [...run.predecessors, ...ahead], group: last });
    const { reason, message, cause } = why;
    draft.untold = [...draft.untold, { entries: ahead, reason, message, cause, run: run.id }];
  }
  tellUntold(draft);
}

/** Into so many parts of nearly the same size, in order. */
function cut(members: readonly EntryId[], wanted: number): readonly (readonly EntryId[])[] {
  const count = Math.min(wanted, members.length);
  return Array.from({ length: count }, (_, at) =>
    members.slice(Math.floor((at * members.length) / count), Math.floor(((at + 1) * members.length) / count)),
  );
}

/** A part that is cut again is replaced by its own parts. */
function withParts(draft: Draft, group: Group, parts: readonly (readonly EntryId[])[]): readonly Bisection[] {
  const [first] = group.members;
  const batch = first === undefined ? null : (draft.entries.get(first)?.group ?? null);
  if (batch === null) return draft.bisections;
  const known = draft.bisections.find((one) => one.group === batch);
  const deeper = (depth: number): Bisection["parts"] => parts.map((members) => ({ members, depth: depth + 1 }));
  if (known === undefined) return [...draft.bisections, { group: batch, parts: deeper(0) }];
  const isThis = ({ members }: Bisection["parts"][number]): boolean => first !== undefined && members.includes(first);
  const next = known.parts.flatMap((part) => (isThis(part) ? deeper(part.depth) : [part]));
  return draft.bisections.map((one) => (one === known ? { group: batch, parts: next } : one));
}

/** Forgets those of which nobody is left. */
export function forgetBisections(draft: Draft): void {
  if (draft.bisections.length === 0) return;
  const live = new Set([...draft.entries.values()].map((entry) => entry.group));
  if (draft.bisections.some((one) => !live.has(one.group)))
    draft.bisections = draft.bisections.filter((one) => live.has(one.group));
}
