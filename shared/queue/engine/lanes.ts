import type { Entry, Mode } from "./types.ts";

/**
 * Whether two entries may influence each other's tests. In SINGLE mode they always do. In PARALLEL mode every entry
 * counts as `ALL` until lanes are made from impacted targets, so they always do there as well.
 */
export const overlaps = (_a: Entry, _b: Entry, _mode: Mode): boolean => true;

/**
 * The entries of `ahead` that overlap the group, and the ones that those depend on in turn, in order.
 * `ahead` is in queue order.
 */
export function predecessorsOf(group: readonly Entry[], ahead: readonly Entry[], mode: Mode): readonly Entry[] {
  if (mode === "SINGLE") return ahead;
  const reached = [...group];
  const found: Entry[] = [];
  for (let at = ahead.length - 1; at >= 0; at -= 1) {
    const entry = ahead[at];
    if (entry === undefined || !reached.some((other) => overlaps(entry, other, mode))) continue;
    reached.push(entry);
    found.unshift(entry);
  }
  return found;
}
