/**
 * So much of S3 as the service uses, over real HTTP: objects, presigned addresses and forms, in one bucket and in
 * memory. What is presigned is verified as S3 does (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html,
 * sigv4-post-example.html); of what the SDK signs in a header, that it is signed at all.
 */
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod";

export const BUCKET = "mainline-test";
const SECRET = "local";

export type S3 = {
  readonly endpoint: string;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** `PUT uploads/x` and so on, as they came. */
  readonly requests: readonly string[];
  /** How many answers nobody wanted to the end. */
  readonly cut: () => number;
  /** As if somebody had put it there. */
  readonly place: (key: string, bytes: Uint8Array) => void;
  /** Every request is answered with this error until it is undefined again. */
  readonly fail: (error: { readonly status: number; readonly code: string } | undefined) => void;
  readonly stop: () => Promise<void>;
};

type Answer = { readonly status: number; readonly body?: Buffer | string };
const refusal = (status: number, code: string): Answer => ({
  status,
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});
const DENIED = refusal(403, "AccessDenied");
const WRONG = refusal(403, "SignatureDoesNotMatch");

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** `credential` is `<key id>/<day>/<region>/s3/aws4_request`. */
function signatureOf(credential: string, text: string): string {
  const [, day = "", region = "", service = "", end = ""] = credential.split("/");
  return hmac(hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), region), service), end), text).toString("hex");
}

const timeOf = (stamp: string): number =>
  Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/u, "$1-$2-$3T$4:$5:$6Z"));

function presignedIsGood(request: IncomingMessage, url: URL, now: number): boolean {
  const query = url.searchParams;
  const value = (name: string): string => query.get(`X-Amz-${name}`) ?? "";
  const canonicalQuery = [...query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .sort()
    .join("&");
  const signed = value("SignedHeaders").split(";");
  const headers = signed.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`).join("");
  const parts = [request.method, url.pathname, canonicalQuery, headers, signed.join(";"), "UNSIGNED-PAYLOAD"];
  const digest = createHash("sha256").update(parts.join("\n")).digest("hex");
  const scope = value("Credential").split("/").slice(1).join("/");
  const text = ["AWS4-HMAC-SHA256", value("Date"), scope, digest].join("\n");
  const ends = timeOf(value("Date")) + Number(value("Expires")) * 1_000;
  return value("Signature") === signatureOf(value("Credential"), text) && now < ends;
}

const policyShape = z.object({
  expiration: z.string(),
  conditions: z.array(
    z.union([z.tuple([z.literal("content-length-range"), z.int(), z.int()]), z.record(z.string(), z.string())]),
  ),
});

/** Undefined where the form may put this file; every field but these three must be named by the policy. */
function formRefused(fields: ReadonlyMap<string, string>, bytes: number, now: number): Answer | undefined {
  const policy64 = fields.get("Policy") ?? "";
  if (fields.get("X-Amz-Signature") !== signatureOf(fields.get("X-Amz-Credential") ?? "", policy64)) return WRONG;
  const policy = policyShape.parse(JSON.parse(Buffer.from(policy64, "base64").toString("utf8")));
  if (Date.parse(policy.expiration) <= now) return DENIED;
  const named = new Map<string, string>();
  for (const condition of policy.conditions) {
    if (!Array.isArray(condition)) for (const [name, value] of Object.entries(condition)) named.set(name, value);
    else if (bytes > condition[2]) return refusal(400, "EntityTooLarge");
    else if (bytes < condition[1]) return refusal(400, "EntityTooSmall");
  }
  const free = new Set(["Policy", "X-Amz-Signature", "bucket"]);
  const isNamed = [...fields].every(([name, value]) => free.has(name) || named.get(name) === value);
  return isNamed && named.get("bucket") === BUCKET ? undefined : DENIED;
}

async function formOf(request: IncomingMessage, body: Buffer) {
  const type = request.headers["content-type"] ?? "";
  const form = await new Response(Uint8Array.from(body), { headers: { "content-type": type } }).formData();
  const fields = new Map<string, string>();
  let file = Buffer.alloc(0);
  for (const [name, value] of form)
    if (typeof value === "string") fields.set(name, value);
    else file = Buffer.from(await value.arrayBuffer());
  return { fields, file };
}

export async function startS3(clock: () => number = Date.now): Promise<S3> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  let cut = 0;
  let failing: { readonly status: number; readonly code: string } | undefined;

  const put = (request: IncomingMessage, key: string, body: Buffer): Answer => {
    if (request.headers["if-none-match"] === "*" && objects.has(key)) return refusal(412, "PreconditionFailed");
    objects.set(key, body);
    return { status: 200 };
  };

  const removed = (key: string): Answer => {
    objects.delete(key);
    return { status: 204 };
  };

  const post = async (request: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { fields, file } = await formOf(request, body);
    const refused = formRefused(fields, file.length, clock());
    if (refused === undefined) objects.set(fields.get("key") ?? "", file);
    return refused ?? { status: 204 };
  };

  const answerTo = async (request: IncomingMessage): Promise<Answer> => {
    const url = new URL(request.url ?? "/", endpoint());
    const key = decodeURIComponent(url.pathname.slice(`/${BUCKET}/`.length));
    requests.push(`${request.method} ${key}`);
    const body = await buffer(request);
    if (failing !== undefined) return refusal(failing.status, failing.code);
    if (!`${url.pathname}/`.startsWith(`/${BUCKET}/`)) return refusal(404, "NoSuchBucket");
    if (request.method === "POST") return post(request, body);
    const isSigned = request.headers.authorization?.startsWith("AWS4-HMAC-SHA256 ") === true;
    if (!isSigned && !presignedIsGood(request, url, clock())) return WRONG;
    if (request.method === "PUT") return put(request, key, body);
    if (request.method === "DELETE") return removed(key);
    const found = objects.get(key);
    return found === undefined ? refusal(404, "NoSuchKey") : { status: 200, body: found };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, body = "" } = await answerTo(request);
    response.on("close", () => {
      if (!response.writableFinished) cut += 1;
    });
    response.writeHead(status, { "content-length": Buffer.byteLength(body) }).end(body);
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const endpoint = (): string => `http://127.0.0.1:${port}`;
  return {
    endpoint: endpoint(),
    objects,
    requests,
    cut: () => cut,
    place: (key, bytes) => void objects.set(key, Buffer.from(bytes)),
    fail: (error) => {
      failing = error;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
