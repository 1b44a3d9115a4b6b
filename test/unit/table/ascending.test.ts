import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromBytes, toBytes } from "../../../shared/table/ascending.ts";

describe("ascending numbers as bytes", () => {
  test("are read back as they were", () => {
    const number = fc.oneof(fc.nat(300), fc.nat(2 ** 31 - 1), fc.maxSafeNat());
    fc.assert(
      fc.property(fc.uniqueArray(number, { maxLength: 200 }), (numbers) => {
        const ascending = numbers.toSorted((a, b) => a - b);
        expect(fromBytes(toBytes(ascending))).toEqual(ascending);
      }),
      { numRuns: 2000 },
    );
  });

  test("take one byte each where they stand close together", () => {
    const numbers = Array.from({ length: 1_000 }, (_, at) => 1_000_000 + at * 3);
    expect(toBytes(numbers).length).toBeLessThan(1_003);
    expect(toBytes([]).length).toBe(0);
  });
});
