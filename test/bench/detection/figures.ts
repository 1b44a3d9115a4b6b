/** What came of one rule, over the seeds. */
import { DAY_MS } from "../../../shared/kernel/time.ts";
import type { Kind } from "./population.ts";
import type { Call, Simulation } from "./simulate.ts";

/** Mean over the seeds, the least and the most. */
export type Spread = { readonly mean: number; readonly least: number; readonly most: number };

export const BANDS = ["p ≥ 1 %", "p 0.1–1 %", "p < 0.1 %", "all flaky"] as const;
export type Band = (typeof BANDS)[number];

const FROM_TO: Readonly<Record<Band, readonly [number, number]>> = {
  "p ≥ 1 %": [0.01, 1],
  "p 0.1–1 %": [0.001, 0.01],
  "p < 0.1 %": [0, 0.001],
  "all flaky": [0, 1],
};

export type Figures = {
  readonly recall: Readonly<Record<Band, Spread>>;
  /** Called flaky although they are not: tests of each kind. */
  readonly falseCalls: Readonly<Record<Exclude<Kind, "flaky">, Spread>>;
  /** Of the tests it called, those that are flaky. */
  readonly precision: Spread;
  /** From a test's first failure to its call, of those called: the middle one of all. */
  readonly daysToCall: Readonly<Record<Band, Spread>>;
};

export function figuresOf(simulations: readonly Simulation[], rule: string): Figures {
  const seeds = simulations.map((one) => one.calls.get(rule) ?? []);
  const over = (of: (calls: readonly Call[]) => number): Spread => spreadOf(seeds.map(of));
  const wrong = (kind: Kind): Spread => over((calls) => calls.filter((one) => isCalled(one, kind)).length);
  const perBand = (of: (calls: readonly Call[]) => number): Readonly<Record<Band, Spread>> => {
    const at = (band: Band): Spread => over((calls) => of(calls.filter((one) => isIn(band, one))));
    return { "p ≥ 1 %": at(BANDS[0]), "p 0.1–1 %": at(BANDS[1]), "p < 0.1 %": at(BANDS[2]), "all flaky": at(BANDS[3]) };
  };
  return {
    recall: perBand((calls) => calls.filter((one) => one.at !== null).length / calls.length),
    falseCalls: { stable: wrong("stable"), regressed: wrong("regressed"), broken: wrong("broken") },
    precision: over((calls) => {
      const called = calls.filter((one) => one.at !== null);
      return called.filter((one) => one.test.kind === "flaky").length / called.length;
    }),
    daysToCall: perBand((calls) => median(calls.flatMap(daysOf))),
  };
}

const isCalled = ({ test, at }: Call, kind: Kind): boolean => at !== null && test.kind === kind;

function isIn(band: Band, { test }: Call): boolean {
  const [from, to] = FROM_TO[band];
  return test.kind === "flaky" && test.failureProbability >= from && test.failureProbability < to;
}

const daysOf = ({ at, firstFailureAt }: Call): readonly number[] =>
  at === null || firstFailureAt === null ? [] : [Math.max(0, at - firstFailureAt) / DAY_MS];

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function spreadOf(values: readonly number[]): Spread {
  const known = values.filter((value) => !Number.isNaN(value));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return { mean, least: Math.min(...known), most: Math.max(...known) };
}
