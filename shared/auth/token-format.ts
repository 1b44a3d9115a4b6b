/**
 * An API token: `mlq_` + 30 random base62 digits (178 bits) + 6 digits of checksum. Letters and digits only after the
 * prefix, so that a double click selects it whole; a known prefix, so that secret scanners recognise it. The checksum
 * (CRC-32, which finds every single wrong character and every swap of neighbours) refuses a typo without a look-up;
 * it is no secret and proves nothing. The format follows GitHub's: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Brand } from "../kernel/brand.ts";
import { type RandomBytes, randomBase62, toBase62 } from "./base62.ts";

/** A token whose form and checksum are right. Says nothing about whether it was ever given out. */
export type ApiToken = Brand<string, "ApiToken">;

export const TOKEN_PREFIX = "mlq";
const RANDOM_DIGITS = 30;
/** 62^6 > 2^32. */
const CHECKSUM_DIGITS = 6;
const SHAPE = new RegExp(`^${TOKEN_PREFIX}_[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}$`, "u");

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_DIGITS);

const isToken = (text: string): text is ApiToken =>
  SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS);

export function mintToken(random: RandomBytes): ApiToken {
  const unsigned = `${TOKEN_PREFIX}_${randomBase62(RANDOM_DIGITS, random)}`;
  const token = unsigned + checksum(unsigned);
  if (!isToken(token)) throw new Error("a minted token must parse");
  return token;
}

/** The token, or undefined for anything that was certainly never given out. */
export const parseToken = (text: string): ApiToken | undefined => (isToken(text) ? text : undefined);

/** SHA-256 in lower-case hex: all that is ever stored. A plain hash is enough for 178 bits of randomness. */
export const hashToken = (token: ApiToken): string => createHash("sha256").update(token, "utf8").digest("hex");
