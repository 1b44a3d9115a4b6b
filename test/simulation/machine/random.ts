import { createHash } from "node:crypto";
import { type Random, seeded } from "../../crash/random.ts";

/** Independent numbers for one purpose of a seed: what one part draws changes nothing for the others. */
export const randomFor = (seed: number, purpose: string): Random =>
  seeded(createHash("sha256").update(`${seed} ${purpose}`).digest().readUInt32BE());

/** Waiting time until the next of events that come independently, `mean` apart. */
export const exponential = (random: Random, mean: number): number => -Math.log(1 - random.next()) * mean;

/** Mostly near the median, now and then many times it. */
export function lognormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return median * Math.exp(sigma * normal);
}
