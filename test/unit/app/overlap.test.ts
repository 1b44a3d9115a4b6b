import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lookupOf, sharesOne } from "../../../shared/queue/app/overlap.ts";
import { hashesOf } from "../../../shared/table/target-hashes.ts";

/** As the store gives them. */
const hashed = (targets: readonly string[]) => new Uint32Array(new Uint8Array(hashesOf(targets)).buffer);

const naive = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((target) => others.includes(target));

const target = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((number) => `//pkg:${number}`),
  fc.constantFrom("__proto__", "constructor", "", " ", "é", "e\u0301", "😀", "\u0000"),
);
const targets = fc.uniqueArray(target, { maxLength: 40 });

describe("two sets of targets", () => {
  test("share one exactly where their strings do, whichever is looked up in the other", () => {
    fc.assert(
      fc.property(targets, targets, (some, others) => {
        const expected = naive(some, others);
        expect(sharesOne(lookupOf(hashed(some)), hashed(others))).toBe(expected);
        expect(sharesOne(lookupOf(hashed(others)), hashed(some))).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });

  test("share one when all that they share is the last of a hundred thousand", () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `target-${at}`);
    const others = many.map((one) => `other-${one}`);
    const [all, last] = [hashed(many), many.slice(-1)];
    expect(sharesOne(lookupOf(all), hashed(others))).toBe(false);
    expect(sharesOne(lookupOf(all), hashed([...others, ...last]))).toBe(true);
    expect(sharesOne(lookupOf(hashed(last)), all)).toBe(true);
  });

  test("that differ in one half of a hash only share nothing", () => {
    const lookup = lookupOf(new Uint32Array([1, 1, 0, 0, 7, 9]));
    for (const other of [
      [1, 2],
      [2, 1],
      [0, 1],
      [1, 0],
      [9, 7],
    ]) {
      expect(sharesOne(lookup, new Uint32Array(other))).toBe(false);
    }
    for (const same of [
      [1, 1],
      [0, 0],
      [7, 9],
    ])
      expect(sharesOne(lookup, new Uint32Array(same))).toBe(true);
  });

  test("of which many fall on one place are told apart all the same", () => {
    const crowded = Array.from({ length: 200 }, (_, at) => [64, at]).flat();
    const lookup = lookupOf(new Uint32Array(crowded));
    expect(sharesOne(lookup, new Uint32Array([64, 200]))).toBe(false);
    expect(sharesOne(lookup, new Uint32Array([128, 3]))).toBe(false);
    expect(sharesOne(lookup, new Uint32Array([64, 199]))).toBe(true);
  });
});
