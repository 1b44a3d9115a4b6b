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

const tooLarge = () =>
  fail(
    "BODY_TOO_LARGE",
    `The body is larger than ${BODY_BYTES_MAX} bytes (20 MiB) when decoded. Where it is a list of impacted targets, send "ALL" in its place, or upload it by /setImpactedTargets/upload; test results may come in several files.`,
  );

/** An empty body counts as `{}`, whatever its type. */
export async function bodyText(event: ApiEvent): Promise<Result<string, Code>> {
  if (event.body === undefined || event.body === "") return ok("{}");
  const refusal = wrongType(event);
  if (refusal !== undefined) return fail("UNSUPPORTED_MEDIA_TYPE", refusal);
  const text = event.isBase64Encoded ? await textOfBytes(Buffer.from(event.body, "base64")) : fromText(event.body);
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
  return bytes.length > BODY_BYTES_MAX ? tooLarge() : ok(bytes);
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

const fromText = (text: string): Read<string> => (Buffer.byteLength(text) > BODY_BYTES_MAX ? tooLarge() : ok(text));

/** Of bytes that may be gzip. The bytes decide: a gateway may have undone the encoding and left the header. */
export async function textOfBytes(sent: Buffer): Promise<Read<string>> {
  const bytes = await bytesOf(sent);
  return bytes.ok ? decoded(bytes.value) : bytes;
}

async function bytesOf(sent: Buffer): Promise<Read<Buffer>> {
  const isGzip = sent[0] === 0x1f && sent[1] === 0x8b;
  const bytes = isGzip ? await inflated(sent) : ok(sent);
  return bytes.ok && bytes.value.length > BODY_BYTES_MAX ? tooLarge() : bytes;
}

/** Stops at the limit: a bomb costs no more memory than an honest body. */
async function inflated(bytes: Buffer): Promise<Read<Buffer>> {
  try {
    return ok(await inflate(bytes, { maxOutputLength: BODY_BYTES_MAX }));
  } catch (error) {
    if (error instanceof RangeError) return tooLarge();
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
