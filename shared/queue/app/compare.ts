/** Holds the impacted targets of one entry against those of all live entries that came before them. */
import { setImmediate as breath } from "node:timers/promises";
import { globOf, partsOf } from "../../kernel/glob.ts";
import type { OrgSlug, QueueKey } from "../../kernel/ids.ts";
import type { Effect, Entry, QueueEvent, Targets } from "../engine/types.ts";
import { lookupOf, sharesOne } from "./overlap.ts";
import type { LoadedQueue, QueueApp, TargetSet } from "./ports.ts";
import { viewTogether } from "./view-together.ts";

type Comparing = Extract<Effect, { type: "compare-targets" }>;

/** Null when it is not wanted any more: the entry has gone, or has other targets. */
export async function compareTargets(app: QueueApp, key: QueueKey, effect: Comparing): Promise<QueueEvent | null> {
  const queue = await viewTogether(app.queues, key);
  const entry = queue?.state.entries.get(effect.entry);
  if (queue === undefined || entry?.comparing?.number !== effect.number) return null;
  const { targets } = entry.comparing;
  const { number } = effect;
  const earlier = earlierSets(queue, entry, number);
  const shared = isComparable(targets) ? await sharing(app, key.org, targets, earlier) : [];
  const overlaps = shared.toSorted((a, b) => a - b);
  const isolated = await isIsolated(app, queue, effect, targets);
  return { type: "targets-compared", entry: entry.id, number, overlaps, isolated };
}

/** ALL and the empty set need no comparing: their kind says whom they overlap. */
const isComparable = (targets: Targets | null): targets is TargetSet => targets?.kind === "SET" && targets.count > 0;

type Numbered = { readonly number: number; readonly set: TargetSet };

/** In force, and being compared: whichever of the two will hold, it is known how it stands to this one. */
function earlierSets({ state }: LoadedQueue, entry: Entry, before: number): readonly Numbered[] {
  const found: Numbered[] = [];
  const add = (number: number | undefined, set: Targets | null): void => {
    if (number !== undefined && number < before && isComparable(set)) found.push({ number, set });
  };
  for (const other of state.entries.values()) {
    if (other.id === entry.id) continue;
    add(other.lane?.number, other.targets);
    add(other.comparing?.number, other.comparing?.targets ?? null);
  }
  return found;
}

/** So much is in memory beside what the store remembers; and so much is compared before others get their turn. */
const PORTION_BYTES_MAX = 4 * 1024 * 1024;
const PORTION_SETS_MAX = 500;
const HASH_BYTES = 8;

/** Numbers of those that share a target, in no order. What cannot be found any more counts as sharing one. */
async function sharing(app: QueueApp, org: OrgSlug, set: TargetSet, others: readonly Numbered[]) {
  const numbers = Map.groupBy(others, (other) => other.set.digest);
  const same = numbers.get(set.digest) ?? [];
  numbers.delete(set.digest);
  if (numbers.size === 0) return same.map(({ number }) => number);
  const own = (await app.targets.hashes(org, [set])).get(set.digest);
  if (own === undefined) return others.map(({ number }) => number);
  const lookup = lookupOf(own);
  const found = same.map(({ number }) => number);
  for (const portion of portionsOf([...numbers.values()].flatMap(([first]) => first?.set ?? []))) {
    const hashes = await app.targets.hashes(org, portion);
    for (const { digest } of portion) {
      const theirs = hashes.get(digest);
      if (theirs !== undefined && !sharesOne(lookup, theirs)) continue;
      for (const { number } of numbers.get(digest) ?? []) found.push(number);
    }
    await breath();
  }
  return found;
}

function portionsOf(sets: readonly TargetSet[]): readonly (readonly TargetSet[])[] {
  const portions: TargetSet[][] = [];
  let left = 0;
  for (const set of sets) {
    const bytes = set.count * HASH_BYTES;
    const last = portions.at(-1);
    if (last === undefined || bytes > left || last.length === PORTION_SETS_MAX) {
      portions.push([set]);
      left = PORTION_BYTES_MAX - bytes;
    } else {
      last.push(set);
      left -= bytes;
    }
  }
  return portions;
}

/**
 * Whether a batching rule names one of the targets. Only the strings that are kept for showing can be looked at: where
 * there are more, or they are gone, any rule isolates.
 */
async function isIsolated(app: QueueApp, { record }: LoadedQueue, effect: Comparing, targets: Targets) {
  const { settings } = record.config;
  const { org, repo } = record.key;
  const rules = settings.batchingRules.filter((rule) => rule.policy === "ISOLATE");
  if (rules.length === 0) return false;
  if (targets.kind === "ALL") return true;
  if (targets.count === 0) return false;
  const kept = await app.targets.find(org, repo, effect.prNumber, effect.headSha);
  const isKept = kept?.targets.kind === "SET" && kept.targets.digest === targets.digest;
  if (!isKept || kept.shown.length < targets.count) return true;
  const shown = kept.shown.map(partsOf);
  for (const { targetPattern } of rules) {
    if (shown.some(globOf(targetPattern))) return true;
    await breath();
  }
  return false;
}
