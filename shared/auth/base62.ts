const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;
/** The largest multiple of 62 in a byte: bytes from here on would favour the first digits and are thrown away. */
const FAIR_BELOW = 256 - (256 % BASE);

/** Gives `length` new unpredictable bytes. A port, so that a test can choose them. */
export type RandomBytes = (length: number) => Uint8Array;

/** `length` digits, each equally likely. */
export function randomBase62(length: number, random: RandomBytes): string {
  let text = "";
  while (text.length < length)
    for (const byte of random(length - text.length)) if (byte < FAIR_BELOW) text += DIGITS.charAt(byte % BASE);
  return text;
}

/** A non-negative integer in exactly `length` digits. */
export function toBase62(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / BASE)) text = DIGITS.charAt(rest % BASE) + text;
  return text;
}
