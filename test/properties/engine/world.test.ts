import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Command, KINDS, Player } from "./player.ts";
import { settings } from "./settings.ts";
import { settle } from "./settle.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 250);
const command: fc.Arbitrary<Command> = fc.tuple(fc.nat(KINDS), fc.nat(10_000), fc.nat(10_000));
const play = (commands: readonly Command[], player: Player): readonly string[] => {
  for (const one of commands) player.play(one);
  settle(player);
  return player.problems;
};

describe("whatever a consistent host does", () => {
  it("keeps every promise after every step, and every entry ends", () => {
    fc.assert(
      fc.property(settings, fc.array(command, { maxLength: 150, size: "max" }), (chosen, commands) => {
        expect(play(commands, new Player(chosen)).slice(0, 3)).toEqual([]);
      }),
      // Shrinking a queue that does not settle takes long: what has been found by then is shown.
      { numRuns: runs, interruptAfterTimeLimit: Math.max(30_000, runs * 100) },
    );
  });
});
