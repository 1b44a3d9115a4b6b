import { type ErrorCode, STATUS_OF } from "./error-codes.ts";
import { type Json, ref, replyName } from "./json-schemas.ts";
import type { Route } from "./route.ts";

/** Every code that a route may answer: its own, and those that its kind brings. */
export function codesOf(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = ["INTERNAL", ...route.errors];
  if (route.auth !== "none") codes.push("INVALID_REQUEST", "UNAUTHENTICATED", "FORBIDDEN");
  if (route.body === "signed") codes.push("INVALID_REQUEST", "UNAUTHENTICATED");
  if (route.method === "POST") codes.push("BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  if (route.tableAccess !== "none") codes.push("TOO_MANY_REQUESTS", "UNAVAILABLE");
  if (route.writes) codes.push("IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED");
  return [...new Set(codes)];
}

export function responsesOf(route: Route): Json {
  const byStatus = Map.groupBy(codesOf(route), (code) => STATUS_OF[code]);
  const failures = [...byStatus].toSorted(([a], [b]) => a - b);
  return {
    "200": success(route),
    ...Object.fromEntries(failures.map(([status, codes]) => [String(status), failure(status, codes)])),
  };
}

const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

function success(route: Route): Json {
  const replayed = route.writes ? { "Idempotency-Replayed": header("IdempotencyReplayed") } : {};
  const schema = route.media === "application/json" ? ref(replyName(route)) : { type: "string" };
  return {
    description: "Done.",
    headers: { "x-request-id": header("RequestId"), ...replayed },
    content: { [route.media]: { schema } },
  };
}

function failure(status: number, codes: readonly ErrorCode[]): Json {
  const retries = status === 429 || status === 503 || codes.includes("IDEMPOTENCY_IN_PROGRESS");
  return {
    description: `${codes.map((code) => `\`${code}\``).join(", ")}${BY_GATEWAY.get(status) ?? ""}`,
    headers: { "x-request-id": header("RequestId"), ...(retries ? { "Retry-After": header("RetryAfter") } : {}) },
    content: { "application/json": { schema: ref("Error") } },
  };
}

/** Answers that the gateway may make before us have its shape and no request id of ours. */
const BY_GATEWAY: ReadonlyMap<number, string> = new Map([
  [401, '. A missing header is refused by the gateway itself: `{"message":"Unauthorized"}`'],
  [413, ". The gateway's own, for events above its limit, has its shape"],
  [429, ". The gateway's own throttle has its shape"],
  [503, ". The gateway's own, when a function cannot start, has its shape"],
]);
