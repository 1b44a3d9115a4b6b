import type { Entry, Mode, Targets } from "./types.ts";

type Standing = Pick<Entry, "targets" | "lane">;

const isNone = (targets: Targets | null): boolean => targets?.kind === "SET" && targets.count === 0;

/**
 * Whether two entries may influence each other's tests. In SINGLE mode they always do. In PARALLEL mode they do when
 * their sets of impacted targets share one; ALL shares one with every set but the empty one, and with ALL; the empty set
 * shares none with anybody. Sets that were never compared count as sharing one.
 */
export function overlaps(a: Standing, b: Standing, mode: Mode): boolean {
  if (mode === "SINGLE") return true;
  if (isNone(a.targets) || isNone(b.targets)) return false;
  if (a.targets?.kind !== "SET" || b.targets?.kind !== "SET" || a.lane === null || b.lane === null) return true;
  return a.lane.number > b.lane.number ? has(a.lane.overlaps, b.lane.number) : has(b.lane.overlaps, a.lane.number);
}

/** It overlaps every entry that overlaps anybody: it changes all, or nobody knows what it changes. */
export const overlapsAll = ({ targets, lane }: Standing): boolean =>
  targets?.kind !== "SET" || (targets.count > 0 && lane === null);

export const overlapsNobody = ({ targets }: Standing): boolean => isNone(targets);

/** Whether an ascending list holds a number. */
function has(ascending: readonly number[], wanted: number): boolean {
  let from = 0;
  let to = ascending.length - 1;
  while (from <= to) {
    const at = (from + to) >> 1;
    const found = ascending[at] ?? 0;
    if (found === wanted) return true;
    if (found < wanted) from = at + 1;
    else to = at - 1;
  }
  return false;
}
