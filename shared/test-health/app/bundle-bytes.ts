import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";

/** Thrown where a bundle is refused, caught where it is read. The message is a sentence for whoever sent it. */
export class BundleRefused extends Error {}

export type ByteLimits = {
  readonly compressedBytesMax: number;
  readonly bytesMax: number;
  /** How many bytes one byte may become, once `freeBytes` have come out. */
  readonly ratioMax: number;
  readonly freeBytes: number;
};

type Chunks = AsyncIterable<Uint8Array>;

/** A frame of zstd may ask for a window of as much memory; 2^27 bytes are what every decoder grants. */
const WINDOW_LOG_MAX = 27;
const CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of an archive, decompressed when they begin as zstd (RFC 8878) or gzip (RFC 1952) do, else as they are.
 * Only the first frame of zstd is read: clients write one. One chunk at a time is held.
 *
 * @throws BundleRefused where a limit is passed or the bytes are damaged, and where the source fails: who hands it in
 *   knows that
 */
export async function* decompressed(source: Chunks, limits: ByteLimits): AsyncGenerator<Uint8Array, void, undefined> {
  let bytesIn = 0;
  let bytesOut = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of source) {
      bytesIn += chunk.length;
      if (bytesIn > limits.compressedBytesMax) {
        throw new BundleRefused(`The bundle has more than ${limits.compressedBytesMax} bytes.`);
      }
      yield chunk;
    }
  };
  for await (const chunk of unpacked(counted())) {
    bytesOut += chunk.length;
    if (bytesOut > limits.bytesMax) {
      throw new BundleRefused(`The bundle holds more than ${limits.bytesMax} bytes decompressed.`);
    }
    if (bytesOut - limits.freeBytes > limits.ratioMax * bytesIn) {
      throw new BundleRefused(`The bundle grows to more than ${limits.ratioMax} times its size.`);
    }
    yield chunk;
  }
}

const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP = [0x1f, 0x8b];

async function* unpacked(
  source: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const head = await headOf(source);
  const whole = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    if (head.length > 0) yield head;
    yield* source;
  };
  if (beginsWith(head, ZSTD)) {
    const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX };
    yield* through(whole(), createZstdDecompress({ chunkSize: CHUNK_BYTES, params }), "zstd");
  } else if (beginsWith(head, GZIP)) {
    yield* through(whole(), createGunzip({ chunkSize: CHUNK_BYTES }), "gzip");
  } else {
    yield* whole();
  }
}

/** As many of the first chunks as it takes to say what it is. */
async function headOf(source: AsyncGenerator<Uint8Array, void, undefined>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  while (head.length < ZSTD.length) {
    const next = await source.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

const beginsWith = (head: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, at) => head[at] === byte);

async function* through(
  source: Chunks,
  decoder: Transform,
  format: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Errors arrive where the decoder is read; the callback is what keeps them from being nobody's.
  pipeline(Readable.from(source, { objectMode: true, highWaterMark: 1 }), decoder, () => {});
  try {
    for await (const chunk of decoder) yield asBytes(chunk);
  } catch (error) {
    if (error instanceof BundleRefused) throw error;
    throw new BundleRefused(`The bundle is damaged: its ${format} cannot be read (${messageOf(error)}).`);
  }
}

function asBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new TypeError("a decoder gave something else than bytes");
}

/** What was said of it, short enough to pass on. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 200);
