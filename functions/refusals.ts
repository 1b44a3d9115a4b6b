/** What was refused lately, by one process: enough that whoever is wrong again and again costs no look-up each time. */
import type { EpochMs } from "../shared/kernel/time.ts";

export type Refusals = {
  /** Why one was refused, as long as that is remembered. */
  readonly of: (one: string, now: EpochMs) => string | undefined;
  /** How many of a group were refused lately. */
  readonly count: (group: string, now: EpochMs) => number;
  /** Counts for the group from the beginning of a question, so that many at once are counted; `right` takes it back. */
  readonly begin: (group: string, until: EpochMs) => { readonly right: () => void };
  readonly keep: (one: string, why: string, until: EpochMs) => void;
};

/** Strangers decide how many there are: the oldest go first. */
const KEPT_MAX = 10_000;

export function createRefusals(): Refusals {
  const known = new Map<string, { readonly why: string; readonly until: EpochMs }>();
  const groups = new Map<string, Set<{ readonly until: EpochMs }>>();
  /** Strangers decide which groups there are, too; of those that are counted there are few, and the others go. */
  const counted = (group: string, now: EpochMs): number => {
    for (const [name, of] of groups) {
      for (const one of of) if (one.until <= now) of.delete(one);
      if (of.size === 0) groups.delete(name);
    }
    return groups.get(group)?.size ?? 0;
  };
  return {
    of: (one, now) => {
      const found = known.get(one);
      return found !== undefined && now < found.until ? found.why : undefined;
    },
    count: counted,
    begin: (group, until) => {
      const one = { until };
      const of = groups.get(group) ?? new Set();
      groups.set(group, of.add(one));
      return { right: () => void of.delete(one) };
    },
    keep: (one, why, until) => {
      known.delete(one);
      known.set(one, { why, until });
      if (known.size > KEPT_MAX) known.delete(known.keys().next().value ?? "");
    },
  };
}
