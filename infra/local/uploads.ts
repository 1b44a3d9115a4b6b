/**
 * The upload side door: a form POST, or a PUT, that was signed beforehand, as S3's presigned ones on AWS. The grant is
 * the signature itself, so nothing is stored for uploads that never come. A granted upload is taken once.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../shared/http/event.ts";
import type { Clock, EpochMs } from "../../shared/kernel/time.ts";
import type { BlobStore } from "./blob-folder.ts";
import { writeFileAtomically } from "./files.ts";
import type { Exchange } from "./gateway.ts";
import type { Target } from "./gateway-event.ts";

export type UploadGrant = { readonly uploadId: string; readonly maxBytes: number; readonly expiresAt: EpochMs };

/** What a client sends, with `file` as the last part of the form. */
export type UploadForm = { readonly url: string; readonly fields: Readonly<Record<string, string>> };

export type Uploads = {
  readonly grantUpload: (grant: UploadGrant) => Promise<UploadForm>;
  /** What was uploaded, as it came (gzip stays gzip); undefined before. */
  readonly readUpload: (uploadId: string) => Promise<Buffer | undefined>;
  /** An address that takes exactly this upload by PUT. */
  readonly grantPut: (grant: UploadGrant) => Promise<string>;
  readonly removeUpload: (uploadId: string) => Promise<void>;
};

export type UploadParts = {
  readonly blobs: BlobStore;
  readonly secret: Buffer;
  /** `http://127.0.0.1:8080`, known once the port is. */
  readonly origin: () => string;
  readonly clock: Clock;
};

const PATH = /^\/uploads\/([A-Za-z0-9_-]{1,100})$/u;
/** The form around the file. */
const FORM_BYTES_MAX = 64 * 1024;
/** No grant of a form is larger. */
const UPLOAD_BYTES_MAX = 20 * 1024 * 1024;

/** No grant of a PUT is larger. */
const PUT_BYTES_MAX = 256 * 1024 * 1024;

const blobKey = (uploadId: string): string => `uploads/${uploadId}`;

/** Kept, so that a grant outlives a restart. */
export function uploadSecret(data: string): Buffer {
  const path = join(data, "upload-secret");
  if (!existsSync(path)) writeFileAtomically(path, randomBytes(32));
  return readFileSync(path);
}

type Signed = { readonly uploadId: string; readonly maxBytes: number; readonly expiresAt: number };

const signature = (
  secret: Buffer,
  { uploadId, maxBytes, expiresAt }: Signed,
  method: "POST" | "PUT" = "POST",
): string => createHmac("sha256", secret).update(`${method}\n${uploadId}\n${maxBytes}\n${expiresAt}`).digest("hex");

const equal = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));

const refusal = (statusCode: number, code: string, message: string): Answer => ({
  statusCode,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

const DENIED = refusal(
  403,
  "AccessDenied",
  "The form is not signed for this upload, has expired, or was used already.",
);
const TOO_LARGE = refusal(400, "EntityTooLarge", "The file is larger than the upload allows.");
const NO_FORM = refusal(400, "MalformedPOSTRequest", "Send multipart/form-data with all given fields, and file last.");
const TAKEN: Answer = { statusCode: 204, headers: {}, body: "" };
const PUT: Answer = { statusCode: 200, headers: {}, body: "" };

/** The platform's own multipart parser. */
async function readForm(body: Buffer<ArrayBuffer>, contentType: string): Promise<FormData | undefined> {
  try {
    return await new Response(body, { headers: { "content-type": contentType } }).formData();
  } catch {
    return undefined;
  }
}

const text = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
};

async function fileOf(form: FormData): Promise<Buffer | undefined> {
  const file = form.get("file");
  if (file === null) return undefined;
  return typeof file === "string" ? Buffer.from(file, "utf8") : Buffer.from(await file.arrayBuffer());
}

export function uploads({ blobs, secret, origin, clock }: UploadParts): Uploads & {
  readonly sideDoor: (target: Target, exchange: Exchange) => Promise<Answer> | undefined;
} {
  /** Before any of the body is read: the signature, the time, and that nothing was uploaded under it yet. */
  const granted = async (uploadId: string, query: string, method: "POST" | "PUT"): Promise<Signed | undefined> => {
    const sent = new URLSearchParams(query);
    const grant = { uploadId, maxBytes: Number(sent.get("max-bytes")), expiresAt: Number(sent.get("expires")) };
    const isSigned = equal(sent.get("signature") ?? "", signature(secret, grant, method));
    if (!isSigned || grant.expiresAt <= clock()) return undefined;
    return (await blobs.exists(blobKey(uploadId))) ? undefined : grant;
  };

  const take = async (uploadId: string, query: string, { request, body }: Exchange): Promise<Answer> => {
    const grant = await granted(uploadId, query, "POST");
    if (grant === undefined) return DENIED;
    const bytesMax = Math.min(grant.maxBytes, UPLOAD_BYTES_MAX) + FORM_BYTES_MAX;
    const bytes = await body(bytesMax);
    if (bytes.length > bytesMax) return TOO_LARGE;
    const form = await readForm(Buffer.from(bytes), request.headers["content-type"] ?? "");
    const file = form === undefined ? undefined : await fileOf(form);
    if (form === undefined || file === undefined) return NO_FORM;
    if (text(form, "key") !== uploadId) return DENIED;
    if (file.length > grant.maxBytes) return TOO_LARGE;
    return (await blobs.putNew(blobKey(uploadId), file)) ? TAKEN : DENIED;
  };

  const takePut = async (uploadId: string, query: string, { body }: Exchange): Promise<Answer> => {
    const grant = await granted(uploadId, query, "PUT");
    if (grant === undefined) return DENIED;
    const bytesMax = Math.min(grant.maxBytes, PUT_BYTES_MAX);
    const bytes = await body(bytesMax);
    if (bytes.length > bytesMax) return TOO_LARGE;
    return (await blobs.putNew(blobKey(uploadId), bytes)) ? PUT : DENIED;
  };

  const urlOf = (grant: Signed, method: "POST" | "PUT"): string => {
    const query = new URLSearchParams({
      "max-bytes": String(grant.maxBytes),
      expires: String(grant.expiresAt),
      signature: signature(secret, grant, method),
    });
    return `${origin()}/uploads/${grant.uploadId}?${query.toString()}`;
  };

  return {
    grantPut: async (grant) => urlOf(grant, "PUT"),
    removeUpload: (uploadId) => blobs.remove(blobKey(uploadId)),
    grantUpload: async (grant) => ({ url: urlOf(grant, "POST"), fields: { key: grant.uploadId } }),
    readUpload: (uploadId) => blobs.get(blobKey(uploadId)),
    sideDoor: (target, exchange) => {
      const { method } = exchange.request;
      const uploadId = method === "POST" || method === "PUT" ? PATH.exec(target.path)?.[1] : undefined;
      if (uploadId === undefined) return undefined;
      return method === "PUT" ? takePut(uploadId, target.query, exchange) : take(uploadId, target.query, exchange);
    },
  };
}
