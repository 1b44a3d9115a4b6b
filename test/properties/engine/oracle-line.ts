/**
 * The order, and who depends on whom, as the rules say it: by trying everything. Nothing of the engine is called here;
 * impacted targets are compared by name.
 */
import type { EntryId } from "../../../shared/kernel/ids.ts";
import type { Entry, QueueState } from "../../../shared/queue/engine/types.ts";
import { namesOf, shareOne } from "./names.ts";

/** Tested and landed as one; `bisected`: a part of a batch that is being taken apart. */
export type NaiveGroup = { readonly members: readonly EntryId[]; readonly bisected: boolean };

export const isLive = (entry: Entry | undefined): entry is Entry => entry !== undefined && entry.state !== "NOT_READY";

export const doOverlap = (state: QueueState, a: Entry, b: Entry): boolean =>
  state.mode === "SINGLE" || shareOne(namesOf(a.targets), namesOf(b.targets));

/** Urgent first, then kept places, then priority, then submission; what is landing stays in front, as it was sent. */
function isBefore({ landing }: QueueState, a: Entry, b: Entry): boolean {
  const rank = (entry: Entry): readonly number[] => [
    landing?.group.includes(entry.id) === true ? landing.group.indexOf(entry.id) : 1e9,
    entry.priority.value === 0 ? 0 : 1,
    entry.place ?? 1e9,
    entry.priority.value,
    entry.submittedAt,
    entry.prNumber,
  ];
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}

/** Who is admitted and not landed yet, each where as many stand before it as there are better ones. */
function naiveOrder(state: QueueState): readonly Entry[] {
  const gone = state.landing?.landed === true ? state.landing.group : [];
  const admitted = [...state.entries.values()].filter((entry) => isLive(entry) && !gone.includes(entry.id));
  const order: Entry[] = [];
  for (const entry of admitted) order[admitted.filter((other) => isBefore(state, other, entry)).length] = entry;
  return order.filter(() => true);
}

/**
 * A batch stands where its first member stands; one that is taken apart stands there in its parts. What lands of it
 * stands in front by itself.
 */
export function naiveGroups(state: QueueState): readonly NaiveGroup[] {
  const order = naiveOrder(state);
  const groups: NaiveGroup[] = [];
  for (const entry of order) {
    if (groups.some((group) => group.members.includes(entry.id))) continue;
    const isLanding = ({ id }: Entry): boolean => state.landing?.group.includes(id) === true;
    const batch = order.filter((other) => other.group === entry.group && isLanding(other) === isLanding(entry));
    const ids = entry.group === null ? [entry.id] : batch.map((one) => one.id);
    const taken = state.bisections.find((one) => one.group === entry.group);
    if (taken === undefined) groups.push({ members: ids, bisected: false });
    else
      for (const part of taken.parts) {
        const left = part.members.filter((id) => ids.includes(id));
        if (left.length > 0) groups.push({ members: left, bisected: true });
      }
  }
  return groups;
}

const groupsOverlap = (state: QueueState, a: NaiveGroup, b: NaiveGroup): boolean =>
  a.members.some((one) =>
    b.members.some((other) => {
      const [left, right] = [state.entries.get(one), state.entries.get(other)];
      return left !== undefined && right !== undefined && doOverlap(state, left, right);
    }),
  );

/** The groups ahead that overlap it. */
export const naiveAhead = (
  state: QueueState,
  groups: readonly NaiveGroup[],
  group: NaiveGroup,
): readonly NaiveGroup[] =>
  groups.slice(0, groups.indexOf(group)).filter((other) => groupsOverlap(state, other, group));

export const naivePredecessors = (
  state: QueueState,
  groups: readonly NaiveGroup[],
  group: NaiveGroup,
): readonly EntryId[] => naiveAhead(state, groups, group).flatMap((one) => one.members);
