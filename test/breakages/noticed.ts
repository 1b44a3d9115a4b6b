/**
 * Ways to break the engine. Each is done to a copy of it, which then decides whatever is played. It is judged by the
 * invariants as they are and by the properties, and the one that is named must notice it.
 */
import * as fc from "fast-check";
import * as z from "zod";
import type { Settings } from "../../shared/queue/engine/types.ts";
import { overtakes } from "../properties/engine/overtaking.ts";
import { KINDS, Player, type Step } from "../properties/engine/player.ts";
import { settings } from "../properties/engine/settings.ts";
import { settle } from "../properties/engine/settle.ts";
import type { Breakage, Under } from "./breakages.ts";
import { brokenEngine, type Edit } from "./broken-engine.ts";

const MOST_RUNS = 500;

type Act = readonly [number, number, number];
const act: fc.Arbitrary<Act> = fc.tuple(fc.nat(), fc.nat(10_000), fc.nat(10_000));
const plays = fc.tuple(settings, fc.array(act, { maxLength: 150, size: "max" }));

const copy = z.object({ step: z.custom<Step>((value) => typeof value === "function") });

/** What is said first of what this expects, of an engine with these edits; undefined if nothing ever is. */
export async function noticed(
  edits: readonly Edit[],
  says: RegExp,
  under: Under,
  most: number,
): Promise<string | undefined> {
  const engine = brokenEngine(edits);
  try {
    const { step } = copy.parse(await import(engine.step));
    let found: string | undefined;
    const play = (chosen: Partial<Settings>, acts: readonly Act[]): boolean => {
      const player = new Player({ ...chosen, ...under.settings }, overtakes, step);
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

/** What is said of the engine when it is broken so. */
export const noticedOf = ({ edits, says, under = {} }: Breakage): Promise<string | undefined> =>
  noticed(edits, says, under, MOST_RUNS);

/** Titles and breakages, for `it.each`. */
export const titled = (breakages: readonly Breakage[]): [string, Breakage][] =>
  breakages.map((one) => [`${one.name} is noticed by ${one.noticedBy}`, one]);
