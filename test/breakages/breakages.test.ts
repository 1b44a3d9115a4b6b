import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Settings } from "../../shared/queue/engine/types.ts";
import { overtakes } from "../properties/engine/overtaking.ts";
import { settings } from "../properties/engine/settings.ts";
import { BREAKAGES, type Under } from "./breakages.ts";
import { brokenEngine, type Edit } from "./broken-engine.ts";

/*
 * Ten ways to break the engine. Each is done to a copy of it, which then decides whatever is played. It is judged by
 * the invariants as they are and by the properties, and the one that is named must notice it.
 */

const STEP = "../../shared/queue/engine/step.ts";
const MOST_RUNS = 500;

type Act = readonly [number, number, number];
const act: fc.Arbitrary<Act> = fc.tuple(fc.nat(), fc.nat(10_000), fc.nat(10_000));
const plays = fc.tuple(settings, fc.array(act, { maxLength: 150, size: "max" }));

afterEach(() => {
  vi.doUnmock(STEP);
});

/** What is said first of what this expects, of an engine with these edits; undefined if nothing ever is. */
async function noticed(edits: readonly Edit[], says: RegExp, under: Under, most: number): Promise<string | undefined> {
  const engine = brokenEngine(edits);
  try {
    vi.resetModules();
    vi.doMock(STEP, () => import(engine.step));
    const { KINDS, Player } = await import("../properties/engine/player.ts");
    const { settle } = await import("../properties/engine/settle.ts");
    let found: string | undefined;
    const play = (chosen: Partial<Settings>, acts: readonly Act[]): boolean => {
      const player = new Player({ ...chosen, ...under.settings }, overtakes);
      const isNoticed = (): boolean => {
        found = player.problems.find((problem) => says.test(problem));
        return found !== undefined;
      };
      under.begin?.(player);
      for (const [kind, a, b] of acts) {
        if (under.also !== undefined && kind % 3 === 0) under.also(player, a, b);
        else player.play([kind % (KINDS + 1), a, b]);
        if (isNoticed()) return false;
      }
      settle(player);
      return !isNoticed();
    };
    const all = fc.property(plays, ([chosen, acts]) => play(chosen, acts));
    fc.check(all, { numRuns: most, seed: 1, endOnFailure: true });
    return found;
  } finally {
    engine.remove();
  }
}

describe("the engine", () => {
  it("as it is lets nobody overtake", async () => {
    expect(await noticed([], /overtakes/u, {}, 60)).toBeUndefined();
  });

  const named = BREAKAGES.map((one) => [`${one.name} is noticed by ${one.noticedBy}`, one] as const);
  it.each(named)("broken by %s", async (_, { edits, says, under }) => {
    expect(await noticed(edits, says, under ?? {}, MOST_RUNS)).toBeDefined();
  });

  it("that is not as a breakage expects it is an error", () => {
    expect(() => brokenEngine([{ file: "step.ts", from: "no such line", to: "" }])).toThrow("mend the breakage");
  });
});
