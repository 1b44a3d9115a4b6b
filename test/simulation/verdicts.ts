/** What the tests of all three tiers ask of many seeds. */
import { simulateMany, type Verdict } from "./many.ts";

/** Of trouble, where a seed has no number of its own. */
export const HOURS = 0.1;
/** As many as there are cores where this runs. */
const PROCESSES = 2;

/** Every second one is simulated in another process. */
export async function verdictsOf(seeds: readonly number[], hours = HOURS): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const notTried = await simulateMany({ seeds, hours, processes: PROCESSES, done: (one) => verdicts.push(one) });
  if (notTried.length > 0) throw new Error(notTried.join("; "));
  return verdicts;
}

/** The stories of those that broke a promise. */
export const broken = (verdicts: readonly Verdict[]): readonly string[] =>
  verdicts.filter((one) => one.problems.length > 0).map((one) => one.text);

export const landingsOf = (verdicts: readonly Verdict[]): number =>
  verdicts.reduce((sum, one) => sum + (one.counts["landings"] ?? 0), 0);
