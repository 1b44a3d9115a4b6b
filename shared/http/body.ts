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
    `The body is larger than ${BODY_BYTES_MAX} bytes (20 MiB) when decoded. Where it is a list of impacted targets, send "ALL" in its place, or upload it by /setImpactedTargets/upload.`,
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

function wrongType(event: ApiEvent): string | undefined {
  const type = header(event, "content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && type !== "application/gzip")
    return "Send JSON with Content-Type: application/json (or application/gzip where it is compressed).";
  const encoding = header(event, "content-encoding")?.trim().toLowerCase() ?? "";
  if (["", "identity", "gzip", "x-gzip"].includes(encoding)) return undefined;
  return "Of all content encodings only gzip is understood.";
}

const fromText = (text: string): Read<string> => (Buffer.byteLength(text) > BODY_BYTES_MAX ? tooLarge() : ok(text));

/** Of bytes that may be gzip. The bytes decide: a gateway may have undone the encoding and left the header. */
export async function textOfBytes(sent: Buffer): Promise<Read<string>> {
  const isGzip = sent[0] === 0x1f && sent[1] === 0x8b;
  const bytes = isGzip ? await inflated(sent) : ok(sent);
  if (!bytes.ok) return bytes;
  return bytes.value.length > BODY_BYTES_MAX ? tooLarge() : decoded(bytes.value);
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
