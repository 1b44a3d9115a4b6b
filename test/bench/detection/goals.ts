/** What detection is promised to reach. Recall by its mean over the seeds; false calls in no seed at all. */
import { type Band, type Figures, figuresOf } from "./figures.ts";
import { MAINLINE, type Simulation } from "./simulate.ts";

export type Goal = { readonly goal: string; readonly measured: string; readonly isHeld: boolean };

export function goalsOf(withRetries: readonly Simulation[], without: readonly Simulation[]): readonly Goal[] {
  const [on, off] = [figuresOf(withRetries, MAINLINE), figuresOf(without, MAINLINE)];
  return [
    recall("retries", on, "p ≥ 1 %", 0.99),
    recall("retries", on, "p 0.1–1 %", 0.72),
    falseCalls("retries", on),
    outage("retries", withRetries),
    recall("no retries", off, "all flaky", 0.6),
    falseCalls("no retries", off),
    outage("no retries", without),
  ];
}

function recall(where: string, figures: Figures, band: Band, least: number): Goal {
  const { mean } = figures.recall[band];
  return {
    goal: `${where}: recall ≥ ${least} for ${band}`,
    measured: mean.toFixed(3),
    isHeld: mean >= least,
  };
}

function falseCalls(where: string, { falseCalls: { stable, regressed, broken } }: Figures): Goal {
  const most = [stable.most, regressed.most, broken.most];
  return {
    goal: `${where}: no stable, regressed or broken test called flaky`,
    measured: `at most ${most.join(", ")} in a seed`,
    isHeld: most.every((count) => count === 0),
  };
}

/**
 * Of tests that are not flaky every status they had; of those that are, that none is called by it. One whose rare
 * failure falls among the uploads that are not counted may be missed by it: that is shown, and in the recall.
 */
function outage(where: string, simulations: readonly Simulation[]): Goal {
  const sum = (of: (one: Simulation) => number): number => simulations.reduce((all, one) => all + of(one), 0);
  const [others, gained] = [sum(({ changed }) => changed.others), sum(({ changed }) => changed.gained)];
  return {
    goal: `${where}: the outage changes nothing`,
    measured: `${others} others changed, ${gained} flaky called by it; ${sum(({ changed }) => changed.lost)} missed`,
    isHeld: others + gained === 0,
  };
}
