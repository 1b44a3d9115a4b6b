/**
 * Lists of ascending whole numbers as bytes: what each adds to the one before, seven bits at a time. A queue in which
 * everybody overlaps everybody holds half a million of them, and as numbers of the table they would take longer to read
 * than all the rest together.
 */
const BITS = 128;

export function toBytes(ascending: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const number of ascending) {
    let left = number - before;
    for (; left >= BITS; left = Math.floor(left / BITS)) bytes.push((left % BITS) + BITS);
    bytes.push(left);
    before = number;
  }
  return Uint8Array.from(bytes);
}

export function fromBytes(bytes: Uint8Array): number[] {
  const ascending: number[] = [];
  let number = 0;
  let unit = 1;
  for (const byte of bytes) {
    number += (byte % BITS) * unit;
    unit *= BITS;
    if (byte >= BITS) continue;
    ascending.push(number);
    unit = 1;
  }
  return ascending;
}
