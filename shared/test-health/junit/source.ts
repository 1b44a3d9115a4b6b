/** A file as text, in pieces, from its first markup on. */
import { CHUNK_BYTES, READ_BYTES_MAX } from "./caps.ts";
import { type Encoding, encodingOf } from "./encoding.ts";
import { type Issues, type Place, quoted, TOP } from "./issues.ts";

export type Source = {
  /** Where the first piece begins in the file. */
  readonly start: Place;
  /** The file was longer than what is read of it. */
  readonly isCut: boolean;
  /** From the beginning, each time it is called. */
  readonly pieces: () => Iterable<string>;
};

/** What comes before the markup, or all there is where `source` is null. */
export type Opened = { readonly source: Source | null; readonly before: string };

const BEFORE_CHARACTERS_MAX = 1_000;

export function openSource(bytes: Uint8Array, issues: Issues): Opened {
  const encoding = encodingOf(bytes);
  if (encoding.passedOver !== null)
    issues.add(TOP, `The file says its encoding is ${encoding.passedOver}; it was read as UTF-8.`);
  const isCut = bytes.length > READ_BYTES_MAX;
  if (isCut) issues.add(TOP, `The file is larger than 20 MiB; only the first 20 MiB were read.`);
  const kept = bytes.subarray(encoding.skip, READ_BYTES_MAX);
  const { skip, start, before } = markupOf(decoded(kept, encoding));
  if (start === null) return { source: null, before };
  if (before.trim() !== "") issues.add(TOP, `Before the XML there is ${quoted(before.trim())}, which was passed over.`);
  return { source: { start, isCut, pieces: () => from(skip, decoded(kept, encoding, issues)) }, before };
}

/** The first `<` that opens something, in characters and as a place; `start` is null where there is none. */
function markupOf(pieces: Iterable<string>): { skip: number; start: Place | null; before: string } {
  let skip = 0;
  let before = "";
  let { line, column } = TOP;
  for (const piece of pieces) {
    const found = piece.search(/<(?:[?!\p{L}_]|$)/u);
    const passed = found < 0 ? piece : piece.slice(0, found);
    if (before.length < BEFORE_CHARACTERS_MAX) before += passed.slice(0, BEFORE_CHARACTERS_MAX);
    for (const [at, text] of passed.split("\n").entries()) {
      if (at > 0) line += 1;
      column = at > 0 ? text.length + 1 : column + text.length;
    }
    skip += passed.length;
    if (found >= 0) return { skip, start: { line, column }, before };
  }
  return { skip, start: null, before };
}

function* from(skip: number, pieces: Iterable<string>): Iterable<string> {
  let left = skip;
  for (const piece of pieces) {
    if (left < piece.length) yield left === 0 ? piece : piece.slice(left);
    left = Math.max(0, left - piece.length);
  }
}

function* decoded(bytes: Uint8Array, { label }: Encoding, issues?: Issues): Iterable<string> {
  const decoder = new TextDecoder(label, { ignoreBOM: true });
  const isUtf8 = label === "utf-8";
  for (let at = 0; at < bytes.length; ) {
    const end = isUtf8 ? characterEnd(bytes, at + CHUNK_BYTES) : at + CHUNK_BYTES;
    // Whole characters are decoded at once, which is several times as fast as a stream.
    const piece = decoder.decode(bytes.subarray(at, end), { stream: !isUtf8 });
    if (issues !== undefined && piece.includes("\uFFFD"))
      issues.once(TOP, `Some characters are not valid ${label.toUpperCase()}; they were read as "\uFFFD".`);
    yield piece;
    at = end;
  }
}

/** At or up to three bytes before `end`: where no UTF-8 character is cut through. */
function characterEnd(bytes: Uint8Array, end: number): number {
  for (let at = end; at > end - 4; at -= 1) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  return end;
}
