/** The figures of all seeds of one policy in one cell, alone and held against the oracle in the same worlds. */
import type { Cell } from "./cells.ts";
import type { Figures } from "./measure.ts";
import { ORACLE } from "./policies.ts";
import { type Known, nameOf } from "./tasks.ts";

/** Over the seeds. */
export type Spread = { readonly mean: number; readonly least: number; readonly most: number };

export type Summary = {
  readonly cell: Cell;
  readonly policy: string;
  readonly seeds: number;
  /** Why some seeds are missing; empty when none is. */
  readonly problems: readonly string[];
  /** In most seeds more and more changes were left undecided, or half of them took many times the oracle's time. */
  readonly isOverloaded: boolean;
  /** Divided by the oracle's of the same seed. */
  readonly ratio: Readonly<Record<Ratio, Spread>>;
  readonly figure: Readonly<Record<Plain, Spread>>;
};

const PLAIN = [
  "mergesPerHour",
  "runsPerLanded",
  "workerHoursPerLanded",
  "abortedShare",
  "wrongedPer100",
  "greenShare",
  "fairness",
] as const satisfies readonly (keyof Figures)[];
export type Plain = (typeof PLAIN)[number];

const RATIOS = {
  "all p50": (of: Figures) => of.all.p50,
  "all p95": (of: Figures) => of.all.p95,
  "all p99": (of: Figures) => of.all.p99,
  p50: (of: Figures) => of.landed.p50,
  p95: (of: Figures) => of.landed.p95,
  p99: (of: Figures) => of.landed.p99,
  "merges per hour": (of: Figures) => of.mergesPerHour,
} as const;
export type Ratio = keyof typeof RATIOS;
/** A ratio beyond this only says how long the overload lasted. */
export const RATIO_MAX = 10;
const RATIO_NAMES = Object.keys(RATIOS) as readonly Ratio[];

export type Summaries = {
  readonly of: (cell: Cell, policy: string) => Summary | undefined;
  readonly all: readonly Summary[];
};

export function summarize(cells: readonly Cell[], seeds: number, known: Known): Summaries {
  const all = cells.flatMap((cell) => cell.policies.flatMap((policy) => summaryOf(cell, policy, seeds, known) ?? []));
  const byName = new Map(all.map((one) => [keyOf(one.cell, one.policy), one]));
  return { all, of: (cell, policy) => byName.get(keyOf(cell, policy)) };
}

const keyOf = (cell: Cell, policy: string): string => JSON.stringify([cell.part, cell.label, policy]);

/** Undefined when nothing of it was run. */
function summaryOf(cell: Cell, policy: string, seeds: number, known: Known): Summary | undefined {
  const pairs: { readonly own: Figures; readonly oracle: Figures }[] = [];
  const problems = new Set<string>();
  let count = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const own = known.get(nameOf({ policy, load: cell.load, seed }));
    const oracle = known.get(nameOf({ policy: ORACLE, load: cell.load, seed }))?.figures ?? null;
    if (own === undefined) continue;
    count += 1;
    if (own.problem !== null) problems.add(own.problem);
    if (own.figures !== null && oracle !== null) pairs.push({ own: own.figures, oracle });
  }
  if (count === 0) return undefined;
  const figures = pairs.map((pair) => pair.own);
  const ratio = named(RATIO_NAMES, (name) =>
    spread(pairs.map(({ own, oracle }) => RATIOS[name](own) / RATIOS[name](oracle))),
  );
  const grows = 2 * figures.filter((one) => one.isOverloaded).length > figures.length;
  return {
    cell,
    policy,
    seeds: pairs.length,
    problems: [...problems],
    isOverloaded: grows || ratio.p50.mean > RATIO_MAX,
    ratio,
    figure: named(PLAIN, (name) => spread(figures.map((one) => one[name]))),
  };
}

const named = <Name extends string>(names: readonly Name[], valueOf: (name: Name) => Spread): Record<Name, Spread> =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Spread>;

export const spread = (values: readonly number[]): Spread => ({
  mean: values.reduce((sum, value) => sum + value, 0) / values.length,
  least: Math.min(...values),
  most: Math.max(...values),
});
