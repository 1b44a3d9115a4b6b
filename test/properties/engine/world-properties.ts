/** What holds in every world of a consistent host. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type Command, KINDS, Player } from "./player.ts";
import { settings } from "./settings.ts";
import { settle } from "./settle.ts";

const number = fc.nat(10_000);
const anything = fc.tuple(fc.nat(KINDS), number, number);
/** Submissions, work, wishes and a little meddling: what makes lanes long, and changes their targets. */
const inLanes = fc.tuple(fc.constantFrom(0, 0, 8, 12, 16, 20, 22, 33, 34, 35, 28), number, number);

const play = (commands: readonly Command[], player: Player): readonly string[] => {
  for (const one of commands) player.play(one);
  settle(player);
  return player.problems;
};

/** Every promise under random commands, so many times each. */
export function propertiesOfWorlds(runs: number): void {
  // Shrinking a queue that does not settle takes long: what has been found is shown as it is.
  const bounds = { numRuns: runs, endOnFailure: true };
  it("keeps every promise after every step, and every entry ends", () => {
    const commands = fc.array(anything, { maxLength: 150, size: "max" });
    fc.assert(
      fc.property(settings, commands, (chosen, all) => {
        expect(play(all, new Player(chosen)).slice(0, 3)).toEqual([]);
      }),
      bounds,
    );
  });

  it("keeps them in long lanes whose targets change", () => {
    const commands = fc.array(inLanes, { maxLength: 100, size: "max" });
    fc.assert(
      fc.property(settings, commands, (chosen, all) => {
        expect(play(all, new Player({ ...chosen, mode: "PARALLEL" })).slice(0, 3)).toEqual([]);
      }),
      bounds,
    );
  });
}
