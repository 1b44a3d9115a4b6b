import { ReadableStream } from "node:stream/web";
import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { BUNDLE_BYTES_MAX } from "./announce.ts";
import { type ByteLimits, BundleRefused, decompressed, messageOf } from "./bundle-bytes.ts";
import { type BundleMeta, readBundleMeta } from "./bundle-meta.ts";
import { screened } from "./bundle-tar.ts";

/*
 * A bundle is what existing upload clients send: an archive of `meta.json`, the reports it lists, and the repository's
 * CODEOWNERS if there is one. Nothing of it is ever written to a disk, and what it says of itself is not believed.
 */

export type BundleLimits = ByteLimits & {
  readonly entriesMax: number;
  readonly metaBytesMax: number;
  readonly codeownersBytesMax: number;
  /** Of one report; a larger one is left out. */
  readonly fileBytesMax: number;
  /** Of all reports: they are held in memory. */
  readonly filesBytesMax: number;
};

const MIB = 1024 * 1024;

export const BUNDLE_LIMITS: BundleLimits = {
  compressedBytesMax: BUNDLE_BYTES_MAX,
  bytesMax: 1024 * MIB,
  ratioMax: 200,
  freeBytes: MIB,
  entriesMax: 10_000,
  metaBytesMax: MIB,
  codeownersBytesMax: 3 * MIB,
  fileBytesMax: 20 * MIB,
  filesBytesMax: 256 * MIB,
};

export type BundledFile = { readonly path: string; readonly bytes: Uint8Array };
/** Something that was left out, and why. */
export type BundleIssue = { readonly path: string; readonly message: string };

export type Bundle =
  | {
      readonly kind: "READ";
      readonly meta: BundleMeta;
      /** The JUnit reports, in the archive's order; `path` is the one `meta.file_sets` lists them by. */
      readonly files: readonly BundledFile[];
      /** The text of CODEOWNERS, null when none was sent. */
      readonly codeowners: string | null;
      /** At most 100. */
      readonly issues: readonly BundleIssue[];
    }
  /** `why`: a sentence for whoever sent it. */
  | { readonly kind: "REFUSED"; readonly why: string };

type Chunks = AsyncIterable<Uint8Array>;

/**
 * Reads a bundle: a tar archive, compressed with zstd or gzip or not at all. One chunk and what is returned are held.
 *
 * @param source the bytes as they arrive
 * @throws only what the source throws: whether another attempt helps is for the caller to say
 */
export async function readBundle(source: Chunks, limits: BundleLimits = BUNDLE_LIMITS): Promise<Bundle> {
  const failures: unknown[] = [];
  const watched = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* source;
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  try {
    return await readEntries(screened(decompressed(watched(), limits)), limits);
  } catch (error) {
    if (failures.length > 0) throw failures[0];
    if (error instanceof BundleRefused) return { kind: "REFUSED", why: error.message };
    return { kind: "REFUSED", why: `The bundle cannot be read as a tar archive (${messageOf(error)}).` };
  }
}

/** What has been read so far. */
type Reading = {
  readonly limits: BundleLimits;
  meta: BundleMeta | null;
  /** The reports that it lists. */
  listed: ReadonlySet<string>;
  codeowners: string | null;
  readonly files: Map<string, Uint8Array>;
  filesBytes: number;
  readonly issues: BundleIssue[];
};

async function readEntries(archive: Chunks, limits: BundleLimits): Promise<Bundle> {
  const reading: Reading = {
    limits,
    meta: null,
    listed: new Set(),
    codeowners: null,
    files: new Map(),
    filesBytes: 0,
    issues: [],
  };
  let entries = 0;
  for await (const entry of ReadableStream.from(archive).pipeThrough(createTarDecoder({ strict: true }))) {
    if (++entries > limits.entriesMax)
      throw new BundleRefused(`The bundle has more than ${limits.entriesMax} entries.`);
    await readEntry(reading, entry);
  }
  if (entries === 0) throw new BundleRefused("The bundle is empty.");
  return finished(reading);
}

async function readEntry(reading: Reading, entry: ParsedTarEntry): Promise<void> {
  const { limits, files } = reading;
  const path = pathOf(entry.header.name);
  const unread = whyUnread(reading, entry, path);
  if (unread !== null) {
    await entry.body.cancel();
    if (unread !== "") note(reading, entry.header.name, unread);
  } else if (path === "meta.json") {
    const read = readBundleMeta(await bytesOf(entry));
    if (typeof read === "string") throw new BundleRefused(read);
    reading.meta = read;
    reading.listed = reportsOf(read);
  } else if (path === "CODEOWNERS") {
    reading.codeowners = new TextDecoder().decode(await bytesOf(entry));
  } else if (path !== null) {
    reading.filesBytes += entry.header.size;
    if (reading.filesBytes > limits.filesBytesMax) {
      throw new BundleRefused(
        `The reports have more than ${limits.filesBytesMax} bytes; send them in several bundles.`,
      );
    }
    files.set(path, await bytesOf(entry));
  }
}

/** Why an entry is left out: a sentence, "" where that is nothing to speak of, null where it is read. */
function whyUnread(reading: Reading, { header }: ParsedTarEntry, path: string | null): string | null {
  const { limits, meta, codeowners, files } = reading;
  const { size, type = "file" } = header;
  if (type === "directory") return "";
  if (type !== "file") return `It is a ${type}, and only files are read.`;
  if (path === null) return "It names a place outside of the bundle.";
  if (path === "meta.json") {
    if (size > limits.metaBytesMax) throw new BundleRefused(`meta.json has more than ${limits.metaBytesMax} bytes.`);
    return meta === null ? null : "It is there twice; the first was read.";
  }
  if (path === "CODEOWNERS") {
    if (size > limits.codeownersBytesMax) return `It has more than ${limits.codeownersBytesMax} bytes.`;
    return codeowners === null ? null : "It is there twice; the first was read.";
  }
  if (!isReport(reading, path)) return OWN_FORMATS.test(path) ? "" : "meta.json does not list it.";
  if (files.has(path)) return "It is there twice; the first was read.";
  return size > limits.fileBytesMax ? `It has more than ${limits.fileBytesMax} bytes.` : null;
}

/** What clients send beside the reports, in formats of their own. */
const OWN_FORMATS = /^(?:internal\/|bazel_bep\.json$)/u;

/** Listed as JUnit, or, where nothing is, put where clients put reports. All may be one while the list is not known. */
function isReport({ meta, listed }: Reading, path: string): boolean {
  if (meta === null) return true;
  return listed.size === 0 ? /^junit\/|\.xml$/iu.test(path) : listed.has(path);
}

const reportsOf = (meta: BundleMeta): ReadonlySet<string> =>
  new Set(
    meta.file_sets
      .filter((set) => set.file_set_type.toLowerCase() === "junit")
      .flatMap((set) => set.files.map((file) => pathOf(file.path) ?? file.path)),
  );

/** Where it is within the bundle; null where it is outside, or where no file of a bundle is. */
function pathOf(name: string): string | null {
  const path = name.replace(/^(?:\.\/)+/u, "");
  const isOutside = path === "" || /^[/\\]|^[A-Za-z]:|\\|(?:^|\/)\.\.(?:\/|$)/u.test(path);
  return isOutside || path.length > PATH_MAX || path.includes("\u0000") ? null : path;
}

const PATH_MAX = 1_024;

/** All of it; its size was judged before. */
async function bytesOf({ header, body }: ParsedTarEntry): Promise<Uint8Array> {
  const bytes = new Uint8Array(header.size);
  let at = 0;
  for await (const chunk of body) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

const ISSUES_MAX = 100;

function note({ issues }: Reading, path: string, message: string): void {
  if (issues.length < ISSUES_MAX) issues.push({ path: path.slice(0, PATH_MAX), message });
}

function finished(reading: Reading): Bundle {
  const { meta, files, codeowners, issues } = reading;
  if (meta === null) throw new BundleRefused("The bundle has no meta.json.");
  for (const path of files.keys()) {
    if (isReport(reading, path)) continue;
    files.delete(path);
    if (!OWN_FORMATS.test(path)) note(reading, path, "meta.json does not list it.");
  }
  const spoken = new Set(issues.map((issue) => pathOf(issue.path)));
  for (const path of reading.listed) {
    if (!files.has(path) && !spoken.has(path)) note(reading, path, "meta.json lists it, and it is not there.");
  }
  return { kind: "READ", meta, files: [...files].map(([path, bytes]) => ({ path, bytes })), codeowners, issues };
}
