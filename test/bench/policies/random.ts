/** Random numbers that are a function of what they are for: the same question gets the same answer in every policy. */

/** Mixes two 32-bit numbers into one; the finishing rounds are murmur3's. */
export function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export const mixAll = (...parts: readonly number[]): number => parts.reduce(mix, 0x2545f491);

/** From [0, 1). */
export const unitOf = (hash: number): number => (hash >>> 0) / 4_294_967_296;

/** A stream of numbers from [0, 1) (mulberry32). */
export type Draw = () => number;

export function drawsOf(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return unitOf(t ^ (t >>> 14));
  };
}

/** Exponential with mean 1. */
export const exponential = (draw: Draw): number => -Math.log(1 - draw());

/** Standard normal (Box and Muller; the second of the pair is thrown away). */
export const normal = (draw: Draw): number => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());

/** Gamma with scale 1 (Marsaglia and Tsang; below shape 1 by their boost). */
function gamma(draw: Draw, shape: number): number {
  if (shape < 1) return gamma(draw, shape + 1) * (1 - draw()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(draw);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - draw()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Beta by its mean and its weight (the sum of its two parameters). */
export function beta(draw: Draw, mean: number, weight: number): number {
  const good = gamma(draw, mean * weight);
  const bad = gamma(draw, (1 - mean) * weight);
  return good / (good + bad);
}
