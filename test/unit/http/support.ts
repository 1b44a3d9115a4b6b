import type { Context } from "aws-lambda";
import * as z from "zod";
import type { Principal } from "../../../shared/http/authorizer-answer.ts";
import { toAuthorizerContext } from "../../../shared/http/authorizer-answer.ts";
import type { Answer, ApiEvent, ApiHandler } from "../../../shared/http/event.ts";
import type { Begun, IdempotencyKey, IdempotencyStore } from "../../../shared/http/idempotency.ts";
import type { EndpointPorts } from "../../../shared/http/use-case.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { type Log, silentLog } from "../../../shared/kernel/log.ts";
import type { Receipt } from "../../../shared/kernel/receipt.ts";
import { DAY_MS, type EpochMs, epochMs, later } from "../../../shared/kernel/time.ts";

export const NOW = epochMs(1_790_000_000_000);

export const aPrincipal = (more: Partial<Principal> = {}): Principal => ({
  org: orgSlug("acme"),
  tokenId: "t1",
  tokenName: "ci",
  scopes: ["read", "submit", "admin"],
  enumCase: "upper",
  ...more,
});

type Sent = {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** What the authorizer answered; a good token's principal unless said otherwise. */
  readonly lambda?: unknown;
};

/** As API Gateway sends it. A Buffer goes in base64. */
export function anEvent(sent: Sent = {}): ApiEvent {
  const {
    method = "POST",
    path = "/v1/x",
    query,
    headers = {},
    body,
    lambda = toAuthorizerContext(aPrincipal()),
  } = sent;
  const http = { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" };
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: new URLSearchParams(query).toString(),
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    requestContext: {
      accountId: "1",
      apiId: "api",
      domainName: "localhost",
      domainPrefix: "localhost",
      http,
      requestId: "req-1",
      routeKey: "$default",
      stage: "$default",
      time: "",
      timeEpoch: NOW,
      authorizer: { lambda },
    },
    ...(query === undefined ? {} : { queryStringParameters: query }),
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : body.toString("base64") }),
    isBase64Encoded: body !== undefined && typeof body !== "string",
  };
}

export const aContext = {} as Context;

export const call = async (handler: ApiHandler, sent: Sent = {}, context = aContext): Promise<Answer> =>
  handler(anEvent(sent), context);

const errorShape = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string().min(10),
    requestId: z.literal("req-1"),
    issues: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  }),
});

/** The error of an answer, whose shape and request id are checked on the way. */
export function errorOf(answer: Answer) {
  if (answer.headers["x-request-id"] !== "req-1") throw new Error("no x-request-id");
  return { status: answer.statusCode, ...errorShape.parse(JSON.parse(answer.body)).error };
}

type Kept = { fingerprint: string; owner: string; answered?: { status: number; body: string } };

/** The protocol in memory, as the table's store must keep it. */
export function memoryIdempotency() {
  const kept = new Map<string, Kept>();
  const nameOf = (key: IdempotencyKey): string => JSON.stringify([key.org, key.tokenId, key.route, key.key]);
  let owners = 0;
  const start = (key: IdempotencyKey, fingerprint: string, now: EpochMs): Begun => {
    owners += 1;
    const receipt: Receipt = { ...key, fingerprint, owner: String(owners), expiresAt: later(now, DAY_MS) };
    kept.set(nameOf(key), { fingerprint, owner: receipt.owner });
    return { kind: "started", receipt };
  };
  const store: IdempotencyStore = {
    begin: async (key, fingerprint, now) => {
      const found = kept.get(nameOf(key));
      if (found === undefined) return start(key, fingerprint, now);
      if (found.fingerprint !== fingerprint) return { kind: "reused" };
      return found.answered === undefined ? { kind: "running" } : { kind: "replay", ...found.answered };
    },
    finish: async (receipt, status, body) => {
      const found = kept.get(nameOf(receipt));
      if (found?.owner === receipt.owner) found.answered ??= { status, body };
    },
    abandon: async (receipt) => {
      const found = kept.get(nameOf(receipt));
      if (found?.owner === receipt.owner && found.answered === undefined) kept.delete(nameOf(receipt));
    },
  };
  return { store, kept };
}

export const ports =
  (more: { log?: Log; idempotency?: IdempotencyStore } = {}): (() => EndpointPorts) =>
  () => ({ log: silentLog, clock: () => NOW, idempotency: memoryIdempotency().store, ...more });

export const REF = { repo: { host: "github.com", owner: "acme", name: "app" }, targetBranch: "main" };
export const REF_PR = { ...REF, pr: { number: 7 } };
