/** Choices that a seed fixes. Who meets whom at which moment it cannot fix: the machine decides that. */
export type Random = {
  /** In [0, 1). */
  readonly next: () => number;
  /** In [from, to], both possible. */
  readonly int: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(from: readonly T[]) => T | undefined;
  readonly shuffled: <T>(from: readonly T[]) => T[];
};

/** mulberry32: small, and good enough to choose by. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(0, from.length - 1)],
    shuffled: (from) =>
      from
        .map((value) => ({ value, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ value }) => value),
  };
}
