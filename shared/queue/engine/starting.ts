import type { Draft } from "./draft.ts";
import type { Group } from "./line.ts";
import type { Permits } from "./permits.ts";

/** Nothing but a slot, and somebody ahead, stands between the group and a test. */
export function mayStart(draft: Draft, permits: Permits, group: Group): boolean {
  return group.members.every((id) => {
    const entry = draft.entries.get(id);
    if (entry === undefined || draft.isLanding(id) || !permits.starts(entry)) return false;
    return entry.broken === null || draft.now >= entry.broken.retryAt;
  });
}
