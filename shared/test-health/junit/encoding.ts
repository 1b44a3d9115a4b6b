/** Which encoding a file is in: what its first bytes show goes before what it declares. */

export type Encoding = {
  /** A label that TextDecoder knows. */
  readonly label: string;
  /** Bytes of the byte-order mark. */
  readonly skip: number;
  /** What was declared and not followed, null where nothing was. */
  readonly passedOver: string | null;
};

const DECLARATION_BYTES_MAX = 1_024;
const DECLARED = /<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/iu;

export function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { label: "utf-8", skip: 3, passedOver: null };
  if (first === 0xff && second === 0xfe) return { label: "utf-16le", skip: 2, passedOver: null };
  if (first === 0xfe && second === 0xff) return { label: "utf-16be", skip: 2, passedOver: null };
  if (first === 0x3c && second === 0) return { label: "utf-16le", skip: 0, passedOver: null };
  if (first === 0 && second === 0x3c) return { label: "utf-16be", skip: 0, passedOver: null };
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_BYTES_MAX));
  const declared = DECLARED.exec(head)?.[1];
  if (declared === undefined) return { label: "utf-8", skip: 0, passedOver: null };
  const label = labelOf(declared);
  // The declaration was read byte by byte, so it is not in UTF-16, whatever it says: .NET's StringWriter says it always.
  if (label === null || label.startsWith("utf-16")) return { label: "utf-8", skip: 0, passedOver: declared };
  return { label, skip: 0, passedOver: null };
}

function labelOf(declared: string): string | null {
  try {
    return new TextDecoder(declared).encoding;
  } catch {
    return null;
  }
}
