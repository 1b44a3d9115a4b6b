/**
 * Whether sets of impacted targets share one. The set that many others are held against is made a table first: then
 * each of the others costs its own size, however large that one is. (A merge of sorted lists costs both, every time:
 * with 100,000 targets against a thousand sets of a thousand, ten times as long; with equal sizes, the same.)
 */
import type { Hashes } from "./ports.ts";

export type Lookup = {
  readonly hashes: Hashes;
  /** A power of two, at least twice the targets: which of them is looked for at each place, counted from 1. */
  readonly places: Uint32Array;
};

const PLACES_MIN = 8;

export function lookupOf(hashes: Hashes): Lookup {
  const count = hashes.length / 2;
  let size = PLACES_MIN;
  while (size < count * 2) size *= 2;
  const places = new Uint32Array(size);
  const mask = size - 1;
  for (let at = 0; at < count; at += 1) {
    // Words of a digest are as good as random: no further hashing.
    let place = (hashes[2 * at] ?? 0) & mask;
    while (places[place] !== 0) place = (place + 1) & mask;
    places[place] = at + 1;
  }
  return { hashes, places };
}

/** Whether any of `others` is in the set. */
export function sharesOne({ hashes, places }: Lookup, others: Hashes): boolean {
  const mask = places.length - 1;
  for (let at = 0; at < others.length; at += 2) {
    const low = others[at];
    const high = others[at + 1];
    let place = (low ?? 0) & mask;
    for (let found = places[place] ?? 0; found !== 0; found = places[place] ?? 0) {
      if (hashes[2 * found - 2] === low && hashes[2 * found - 1] === high) return true;
      place = (place + 1) & mask;
    }
  }
  return false;
}
