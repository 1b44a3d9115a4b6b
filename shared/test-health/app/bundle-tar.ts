import { BundleRefused } from "./bundle-bytes.ts";

/*
 * What an archive may ask of the library that reads it. Extended headers are read whole, and their records in a time
 * that grows with the square of what they hold, so those that nobody needs are refused before they get there. Blocks,
 * sizes and types are read as the library reads them: an archive that two readers divide differently hides something.
 */

type Chunks = AsyncIterable<Uint8Array>;

const BLOCK_BYTES = 512;
/** Long names, times with fractions, attributes of files: hundreds of bytes. */
const EXTENDED_BYTES_MAX = 64 * 1024;
/** At most so many in a row or in all: one for each entry, and few entries have one. */
const EXTENDED_MAX = 10_000;

const TYPES = { pax: 0x78, globalPax: 0x67, longName: 0x4c, longLink: 0x4b } as const;
const EXTENDED: readonly number[] = [TYPES.pax, TYPES.longName, TYPES.longLink];
/** Links, devices, directories, pipes: nothing follows them, whatever size they state. */
const isBodyless = (type: number): boolean => type >= 0x31 && type <= 0x36;

type Reading = {
  /** The header or the extended header that is being gathered. */
  gathered: Uint8Array;
  /** How much of it there is, and how much makes it whole. */
  have: number;
  kind: "HEADER" | "EXTENDED" | "LONG";
  /** Bytes to pass over before the next header, padding included. */
  over: number;
  extended: number;
  atEnd: boolean;
};

/**
 * The bytes of a tar archive (POSIX.1-1988 ustar, pax, GNU), unchanged.
 *
 * @throws BundleRefused at an extended header that is for all entries, too large, damaged, or that states a size, and
 *   at a size that is no number
 */
export async function* screened(source: Chunks): AsyncGenerator<Uint8Array, void, undefined> {
  const reading: Reading = {
    gathered: new Uint8Array(BLOCK_BYTES),
    have: 0,
    kind: "HEADER",
    over: 0,
    extended: 0,
    atEnd: false,
  };
  for await (const chunk of source) {
    let at = 0;
    while (at < chunk.length && !reading.atEnd) at += step(reading, chunk.subarray(at));
    yield chunk;
  }
}

/** @returns how many of the bytes it has dealt with; at least one */
function step(reading: Reading, bytes: Uint8Array): number {
  if (reading.over > 0) {
    const passed = Math.min(reading.over, bytes.length);
    reading.over -= passed;
    return passed;
  }
  const { gathered, have } = reading;
  const taken = bytes.subarray(0, gathered.length - have);
  gathered.set(taken, have);
  reading.have += taken.length;
  if (reading.have === gathered.length) complete(reading);
  return taken.length;
}

function complete(reading: Reading): void {
  const { gathered, kind } = reading;
  if (kind === "EXTENDED") checkRecords(gathered);
  if (kind === "HEADER") return begin(reading, gathered);
  expectHeader(reading, paddingOf(gathered.length));
}

function begin(reading: Reading, header: Uint8Array): void {
  const type = header[156] ?? 0;
  // What follows the first of the two blocks that end an archive is zeros, or the library refuses it.
  if (header.every((byte) => byte === 0)) reading.atEnd = true;
  if (type === TYPES.globalPax) throw new BundleRefused("The archive has a header for all entries, which is not read.");
  const size = isBodyless(type) ? 0 : sizeOf(header);
  if (!EXTENDED.includes(type)) return expectHeader(reading, size + paddingOf(size));
  if (size > EXTENDED_BYTES_MAX) throw new BundleRefused("The archive has an extended header of more than 64 KB.");
  if (++reading.extended > EXTENDED_MAX)
    throw new BundleRefused(`The archive has more than ${EXTENDED_MAX} extended headers.`);
  if (size === 0) return expectHeader(reading, 0);
  reading.kind = type === TYPES.pax ? "EXTENDED" : "LONG";
  reading.gathered = new Uint8Array(size);
  reading.have = 0;
}

function expectHeader(reading: Reading, over: number): void {
  reading.kind = "HEADER";
  reading.gathered = new Uint8Array(BLOCK_BYTES);
  reading.have = 0;
  reading.over = over;
}

const paddingOf = (size: number): number => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;

const SIZE = { at: 124, end: 136 } as const;

/** Octal digits up to a NUL, blanks passed over; or, its first bit set, a number in base 256 (GNU). */
function sizeOf(header: Uint8Array): number {
  const digits = header.subarray(SIZE.at, SIZE.end);
  const [first = 0] = digits;
  let size = 0;
  if (first >= 0x80) {
    for (const [at, byte] of digits.entries()) size = size * 256 + (at === 0 ? byte - 0x80 : byte);
  } else {
    for (const byte of digits) {
      if (byte === 0) break;
      if (byte === 0x20) continue;
      if (byte < 0x30 || byte > 0x37) throw new BundleRefused("The archive is damaged: a size is no number.");
      size = size * 8 + (byte - 0x30);
    }
  }
  if (!Number.isSafeInteger(size)) throw new BundleRefused("The archive is damaged: a size is no number.");
  return size;
}

/** Each record is `<length> <keyword>=<value>\n`, its own length included (POSIX.1-2001, pax). */
function checkRecords(bytes: Uint8Array): void {
  const text = Buffer.from(bytes).toString("latin1");
  let at = 0;
  while (at < text.length) {
    const [, digits = "", keyword = ""] = RECORD.exec(text.slice(at, at + RECORD_HEAD_MAX)) ?? [];
    const end = at + Number(digits);
    if (digits === "" || end <= at || text.charAt(end - 1) !== "\n") {
      throw new BundleRefused("The archive is damaged: an extended header cannot be read.");
    }
    if (keyword === "size")
      throw new BundleRefused("The archive states a size in an extended header, which is not read.");
    at = end;
  }
}

const RECORD = /^([1-9]\d{0,5}) ([^=\n]+)=/u;
const RECORD_HEAD_MAX = 1_024;
