import { describe, expect, test } from "vitest";
import { batchAndBisect } from "../../bench/policies/peers/batches.ts";
import { bestFirst } from "../../bench/policies/peers/best-first.ts";
import { oracle } from "../../bench/policies/peers/oracle.ts";
import { type Guess, guesses } from "../../bench/policies/peers/paths.ts";
import { github, gitlab, zuul } from "../../bench/policies/peers/prefixes.ts";
import { serial, serialLanes } from "../../bench/policies/peers/serial.ts";
import { simulate } from "../../bench/policies/peers/site.ts";
import { aWorld, story, sum } from "./a-world.ts";

describe("the oracle", () => {
  const world = aWorld(
    2,
    { at: 0, takes: 30 },
    { at: 0, takes: 10, overlaps: [0] },
    { at: 0, takes: 10, bad: true },
    { at: 5, takes: 20, overlaps: [2] },
  );

  test("builds each change once, in order, and lands it behind what overlaps it", () => {
    const ledger = simulate(world, oracle);
    expect(story(ledger)).toEqual(["lands 30", "lands 30", "out 20", "lands 40"]);
    expect([...ledger.runs]).toEqual([1, 1, 1, 1]);
  });

  test("of two that cannot be together the first lands", () => {
    const pair = aWorld(2, { at: 0, takes: 30 }, { at: 0, takes: 10, overlaps: [0], conflicts: [0] });
    const ledger = simulate(pair, oracle);
    expect(story(ledger)).toEqual(["lands 30", "out 30"]);
    expect(sum(ledger.wronged)).toBe(0);
  });
});

describe("serial", () => {
  const world = aWorld(
    4,
    { at: 0, takes: 10 },
    { at: 1, takes: 20, bad: true },
    { at: 2, takes: 5, overlaps: [1] },
    { at: 3, takes: 5 },
  );

  test("in one lane each begins when the one before is decided", () => {
    expect(story(simulate(world, serial))).toEqual(["lands 10", "out 30", "lands 35", "lands 40"]);
  });

  test("in lanes only what overlaps waits", () => {
    expect(story(simulate(world, serialLanes))).toEqual(["lands 10", "out 21", "lands 26", "lands 8"]);
  });
});

test("batch and bisect: what has arrived meanwhile is one batch, a failed one is halved, older halves come first", () => {
  const world = aWorld(
    9,
    { at: 0, takes: 10 },
    { at: 1, takes: 4 },
    { at: 2, takes: 6, bad: true },
    { at: 3, takes: 2 },
    { at: 11, takes: 1 },
  );
  const ledger = simulate(world, batchAndBisect);
  // 0-10 the first; 10-16 the three; 16-22 the first two of them; 22-26, 26-32 one by one; 32-34 the third; 34-35 the last.
  expect(story(ledger)).toEqual(["lands 10", "lands 26", "out 32", "lands 34", "lands 35"]);
  expect(sum(ledger.runs)).toBe(7);
});

describe("prefixes", () => {
  const world = aWorld(9, { at: 0, takes: 30, bad: true }, { at: 0, takes: 10 }, { at: 0, takes: 50 });

  test("GitHub: a failure behind an undecided one waits, and is built again when that one is thrown out", () => {
    const ledger = simulate(world, github);
    expect(story(ledger)).toEqual(["out 30", "lands 40", "lands 80"]);
    expect(sum(ledger.wronged)).toBe(0);
    expect(sum(ledger.aborted)).toBe(1);
  });

  test("GitLab: it leaves at once, whoever is to blame", () => {
    const ledger = simulate(world, gitlab);
    expect(story(ledger)).toEqual(["out 30", "out 10", "lands 80"]);
    expect([...ledger.wronged]).toEqual([0, 1, 0]);
  });

  test("Zuul: what is behind a failure is built without it at once", () => {
    const ledger = simulate(world, zuul);
    // At 10 the third moves onto the first, at 30 both move onto the branch, and the third onto the second.
    expect(story(ledger)).toEqual(["out 30", "lands 40", "lands 80"]);
    expect(sum(ledger.aborted)).toBe(2);
    expect(sum(ledger.runs)).toBe(6);
  });

  test("a window of 5 builds five at a time", () => {
    const many = aWorld(9, ...Array.from({ length: 6 }, () => ({ at: 0, takes: 10 })));
    expect(story(simulate(many, github)).at(-1)).toBe("lands 20");
    expect(story(simulate(many, gitlab)).at(-1)).toBe("lands 10");
  });
});

describe("best first", () => {
  const world = aWorld(3, { at: 0, takes: 30, bad: true, chance: 0.9 }, { at: 0, takes: 20, overlaps: [0] });

  test("with workers to spare both outcomes of what is ahead are built", () => {
    const ledger = simulate(world, bestFirst(0));
    expect(story(ledger)).toEqual(["out 30", "lands 30"]);
    expect(sum(ledger.runs)).toBe(3);
    expect(sum(ledger.aborted)).toBe(0);
  });

  test("below the threshold the unlikely one is built when it has come true", () => {
    const ledger = simulate(world, bestFirst(0.2));
    expect(story(ledger)).toEqual(["out 30", "lands 50"]);
  });

  test("short of workers the likeliest goes first, and a wrong guess is stopped", () => {
    const chain = aWorld(2, { at: 0, takes: 10, bad: true }, { at: 0, takes: 30, overlaps: [0] }, { at: 1, takes: 5 });
    const ledger = simulate(chain, bestFirst(0));
    // At 10 the first is out: the guess that it lands is stopped, its worker and the free one take what is left.
    expect(story(ledger)).toEqual(["out 10", "lands 40", "lands 15"]);
    expect([...ledger.aborted]).toEqual([0, 1, 0]);
  });

  test("guesses come in falling order, each once", () => {
    const lands = [0.9, 0.3, 0.6];
    const open = [4, 5, 6];
    const best = 0.9 * 0.7 * 0.6;
    const draw = guesses([{ change: 9, open, lands, best }]);
    const drawn: Guess[] = [];
    for (let guess = draw(); guess !== undefined; guess = draw()) drawn.push(guess);
    expect(drawn).toHaveLength(8);
    expect(new Set(drawn.map((guess) => guess.landing.join())).size).toBe(8);
    for (const { landing, score } of drawn) {
      const chance = open.map((change, at) => (landing.includes(change) ? (lands[at] ?? 0) : 1 - (lands[at] ?? 0)));
      expect(score).toBeCloseTo(chance.reduce((a, b) => a * b, 1));
    }
    const scores = drawn.map((guess) => guess.score);
    expect(scores.map((score, at) => score <= (scores[at - 1] ?? 1) + 1e-12).every(Boolean)).toBe(true);
  });
});
