/** What holds where everything but tests goes well. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { Calm, type Scene } from "./calm.ts";
import { settings } from "./settings.ts";
import { settle } from "./settle.ts";

const MOST = 7;
/** Tests in which one entry may be: each start, failure and end of one ahead may cost it one more, or two where slots idle. */
const RUNS_MOST = 5 * MOST;

const pair = fc.tuple(fc.nat(MOST - 1), fc.nat(MOST - 1));
const change = fc.record({
  impact: fc.nat(120),
  claimsAll: fc.nat(6).map((at) => at === 0),
  isBad: fc.nat(3).map((at) => at === 0),
  noBatch: fc.nat(5).map((at) => at === 0),
  priority: fc.constantFrom(50, 100, 100, 200),
});
const scene = (flakes: fc.Arbitrary<number[]>): fc.Arbitrary<Scene> =>
  fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: MOST }),
    clashes: fc.array(pair, { maxLength: 3 }),
    mends: fc.array(pair, { maxLength: 2 }),
    flakes,
  });
const acts = fc.array(fc.tuple(fc.nat(10), fc.nat(100)), { maxLength: 120, size: "max" });

function play(calm: Calm, all: readonly (readonly [number, number])[]): readonly string[] {
  for (const [kind, a] of all) calm.act(kind, a);
  calm.submitRest();
  settle(calm.player);
  return calm.player.problems;
}

/** What holds of every scene, so many of which are played. */
export function propertiesOfCalm(runs: number): void {
  // Shrinking a queue that does not settle takes long: what has been found is shown as it is.
  const bounds = { numRuns: runs, endOnFailure: true };

  it("who is at fault fails, nobody else does, and nothing is tested twice", () => {
    fc.assert(
      fc.property(settings, scene(fc.constant([])), acts, (chosen, what, all) => {
        const calm = new Calm(chosen, what);
        expect(play(calm, all).slice(0, 3)).toEqual([]);
        expect(calm.mostRuns()).toBeLessThanOrEqual(RUNS_MOST);
      }),
      bounds,
    );
  });

  it("a failure by chance that a repeat disproves ejects nobody", () => {
    const repeating = fc.tuple(settings, fc.integer({ min: 1, max: 3 }));
    const flakes = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 6 });
    fc.assert(
      fc.property(repeating, scene(flakes), acts, ([chosen, retriesBeforeFailure], what, all) => {
        const calm = new Calm({ ...chosen, retriesBeforeFailure }, what);
        expect(play(calm, all).slice(0, 3)).toEqual([]);
      }),
      bounds,
    );
  });
}
