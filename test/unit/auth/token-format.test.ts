import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomBase62 } from "../../../shared/auth/base62.ts";
import { hashToken, mintToken, parseToken } from "../../../shared/auth/token-format.ts";

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".split("");
const RANDOM_DIGITS = 30;

const token = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((seed) => {
  let at = 0;
  // Never ends: the fixed bytes come round, shifted so that no byte value can repeat for ever.
  return mintToken((length) => Uint8Array.from({ length }, () => ((seed[at % 64] ?? 0) + 7 * at++) % 256));
});

describe("a minted token", () => {
  it("is its prefix followed by letters and digits only", () => {
    expect(mintToken(randomBytes)).toMatch(/^mlq_[0-9A-Za-z]{36}$/u);
  });

  it("carries at least 160 bits", () => {
    expect(RANDOM_DIGITS * Math.log2(LETTERS.length)).toBeGreaterThanOrEqual(160);
  });

  it("parses as itself", () => {
    fc.assert(fc.property(token, (minted) => parseToken(minted) === minted));
  });

  it("never comes twice", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => mintToken(randomBytes))).size).toBe(10_000);
  });
});

describe("random digits", () => {
  it("come equally often", () => {
    const counts = new Map<string, number>();
    for (const digit of randomBase62(62_000, randomBytes)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    const chiSquared = LETTERS.reduce((sum, digit) => sum + ((counts.get(digit) ?? 0) - 1_000) ** 2 / 1_000, 0);
    // 61 degrees of freedom: one run in a thousand million exceeds 150.
    expect(chiSquared).toBeLessThan(150);
  });
});

describe("a token that was typed wrong", () => {
  it("is refused when any one character differs", () => {
    const minted = mintToken(randomBytes);
    for (let at = 0; at < minted.length; at += 1)
      for (const letter of LETTERS)
        if (letter !== minted[at])
          expect(parseToken(minted.slice(0, at) + letter + minted.slice(at + 1))).toBeUndefined();
  });

  it("is refused when two neighbours are swapped", () => {
    fc.assert(
      fc.property(token, fc.nat({ max: 38 }), (minted, at) => {
        const swapped = minted.slice(0, at) + minted.charAt(at + 1) + minted.charAt(at) + minted.slice(at + 2);
        return swapped === minted || parseToken(swapped) === undefined;
      }),
    );
  });

  it.each(["", "mlq_", "mlq", " ", "mlq_\0", "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "Bearer mlq_x"])(
    "is refused when it is %j",
    (text) => expect(parseToken(text)).toBeUndefined(),
  );

  it("is refused with anything around it", () => {
    const minted = mintToken(randomBytes);
    for (const text of [
      ` ${minted}`,
      `${minted} `,
      `${minted}\n`,
      `${minted}0`,
      minted.slice(0, -1),
      minted.toUpperCase(),
    ])
      expect(parseToken(text)).toBeUndefined();
  });

  it("is refused whatever it is", () => {
    fc.assert(fc.property(fc.string(), (text) => parseToken(text) === undefined));
  });
});

describe("a token's hash", () => {
  it("is SHA-256 in hex", () => {
    expect(hashToken(mintToken(randomBytes))).toMatch(/^[0-9a-f]{64}$/u);
  });

  it("differs for different tokens", () => {
    expect(hashToken(mintToken(randomBytes))).not.toBe(hashToken(mintToken(randomBytes)));
  });
});
