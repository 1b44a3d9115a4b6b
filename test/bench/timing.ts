export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/**
 * Milliseconds of several works, by name, that take turns, so that whatever else the machine does falls on all of them
 * alike. The first rounds are not counted.
 */
export async function interleaved<Name extends string>(
  works: Readonly<Record<Name, () => Promise<unknown>>>,
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<(name: Name) => readonly number[]> {
  const taken = new Map(Object.keys(works).map((name): [string, number[]] => [name, []]));
  for (let round = -warmUp; round < rounds; round += 1)
    for (const name in works) {
      const took = await timed(works[name]);
      if (round >= 0) taken.get(name)?.push(took);
    }
  return (name) => taken.get(name) ?? [];
}
