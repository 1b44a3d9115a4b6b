/** From the event's body to JSON text: base64, gzip, the size limit. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fail, ok, type Result } from "../kernel/result.ts";
import { type ApiEvent, header } from "./event.ts";
import { nestsDeeperThan } from "./nesting.ts";

export const BODY_BYTES_MAX = 20 * 1024 * 1024;
/** The deepest body that means anything has four levels; unknown fields may bring some of their own. */
const DEPTH_MAX = 64;

type Code = "INVALID_REQUEST" | "BODY_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE";
type Read<T> = Result<T, Exclude<Code, "UNSUPPORTED_MEDIA_TYPE">>;

const inflate = promisify(gunzip);

/** How much of a body is looked at, by who sends it. */
export type BodyLimits = {
  /** As it arrives. */
  readonly sentBytesMax: number;
  /** Decoded. */
  readonly bytesMax: number;
  /** What to do where that is not enough. */
  readonly tooLarge: string;
};

/** A gzip body that holds exactly the limit is a little larger than it when nothing in it compresses. */
const GZIP_BYTES_MAX = 64 * 1024;

export const WITH_TOKEN: BodyLimits = {
  sentBytesMax: BODY_BYTES_MAX + GZIP_BYTES_MAX,
  bytesMax: BODY_BYTES_MAX,
  tooLarge: `The body is larger than ${BODY_BYTES_MAX} bytes (20 MiB) when decoded. Where it is a list of impacted targets, send "ALL" in its place, or upload it by /setImpactedTargets/upload; test results may come in several files.`,
};

/** Of a fork's workflow, which has shown nothing yet that not everybody could show. */
export const WITHOUT_TOKEN: BodyLimits = {
  sentBytesMax: 64 * 1024,
  bytesMax: 1024 * 1024,
  tooLarge:
    'A request without an x-api-token may bring at most 64 KiB, and 1 MiB when decoded. Where a list of impacted targets is longer, send "ALL" in its place.',
};

const tooLarge = (limits: BodyLimits) => fail("BODY_TOO_LARGE", limits.tooLarge);

/** An empty body counts as `{}`, whatever its type. */
export async function bodyText(event: ApiEvent, limits: BodyLimits = WITH_TOKEN): Promise<Result<string, Code>> {
  if (event.body === undefined || event.body === "") return ok("{}");
  const refusal = wrongType(event);
  if (refusal !== undefined) return fail("UNSUPPORTED_MEDIA_TYPE", refusal);
  if (Buffer.byteLength(event.body, event.isBase64Encoded ? "base64" : "utf8") > limits.sentBytesMax)
    return tooLarge(limits);
  const text = event.isBase64Encoded
    ? await textOfBytes(Buffer.from(event.body, "base64"), limits)
    : fromText(event.body, limits);
  if (text.ok && nestsDeeperThan(text.value, DEPTH_MAX))
    return fail("INVALID_REQUEST", `The body nests deeper than ${DEPTH_MAX} levels.`);
  return text;
}

/** What programs say of a file; curl says the last of itself. */
const FILE_TYPES = new Set([
  "",
  "application/xml",
  "text/xml",
  "application/gzip",
  "application/octet-stream",
  "application/x-www-form-urlencoded",
]);

/** A file as it is, or compressed. */
export async function bodyFile(event: ApiEvent): Promise<Result<Uint8Array, Code>> {
  if (!FILE_TYPES.has(typeOf(event)))
    return fail("UNSUPPORTED_MEDIA_TYPE", "Send the file as it is, with Content-Type: application/xml or text/xml.");
  const refusal = wrongEncoding(event);
  if (refusal !== undefined) return fail("UNSUPPORTED_MEDIA_TYPE", refusal);
  return bytesOf(Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8"));
}

/** Bytes as they were sent: a signature is of nothing else. */
export function signedBytes(event: ApiEvent): Result<Uint8Array, Code> {
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  return bytes.length > BODY_BYTES_MAX ? tooLarge(WITH_TOKEN) : ok(bytes);
}

const typeOf = (event: ApiEvent): string => header(event, "content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";

function wrongType(event: ApiEvent): string | undefined {
  const type = typeOf(event);
  if (type !== "application/json" && type !== "application/gzip")
    return "Send JSON with Content-Type: application/json (or application/gzip where it is compressed).";
  return wrongEncoding(event);
}

function wrongEncoding(event: ApiEvent): string | undefined {
  const encoding = header(event, "content-encoding")?.trim().toLowerCase() ?? "";
  if (["", "identity", "gzip", "x-gzip"].includes(encoding)) return undefined;
  return "Of all content encodings only gzip is understood.";
}

const fromText = (text: string, limits: BodyLimits): Read<string> =>
  Buffer.byteLength(text) > limits.bytesMax ? tooLarge(limits) : ok(text);

/** Of bytes that may be gzip. The bytes decide: a gateway may have undone the encoding and left the header. */
export async function textOfBytes(sent: Buffer, limits: BodyLimits = WITH_TOKEN): Promise<Read<string>> {
  const bytes = await bytesOf(sent, limits);
  return bytes.ok ? decoded(bytes.value) : bytes;
}

async function bytesOf(sent: Buffer, limits: BodyLimits = WITH_TOKEN): Promise<Read<Buffer>> {
  const isGzip = sent[0] === 0x1f && sent[1] === 0x8b;
  const bytes = isGzip ? await inflated(sent, limits) : ok(sent);
  return bytes.ok && bytes.value.length > limits.bytesMax ? tooLarge(limits) : bytes;
}

/** Stops at the limit: a bomb costs no more memory than an honest body. */
async function inflated(bytes: Buffer, limits: BodyLimits): Promise<Read<Buffer>> {
  try {
    return ok(await inflate(bytes, { maxOutputLength: limits.bytesMax }));
  } catch (error) {
    if (error instanceof RangeError) return tooLarge(limits);
    return fail("INVALID_REQUEST", "The gzip body is damaged or was cut short. Compress and send it again.");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decoded(bytes: Buffer): Read<string> {
  try {
    return ok(utf8.decode(bytes));
  } catch {
    return fail("INVALID_REQUEST", "The body is not valid UTF-8.");
  }
}
