import { type ErrorCode, STATUS_OF } from "../api/error-codes.ts";
import type { Fault } from "../kernel/result.ts";
import type { Answer } from "./event.ts";

/** So many problems are listed: past them a caller has one cause to mend, not a list to read. */
const ISSUES_MAX = 100;
/** Where the fault does not say better. */
const RETRY_SECONDS = 1;

export const answer = (
  requestId: string,
  statusCode: number,
  body: string,
  headers: Answer["headers"] = {},
): Answer => ({
  statusCode,
  headers: { "content-type": "application/json", ...headers, "x-request-id": requestId },
  body,
});

/** The one shape of every error. */
export function faultAnswer(requestId: string, fault: Fault<ErrorCode>, headers: Answer["headers"] = {}): Answer {
  const { code, message } = fault;
  const status = STATUS_OF[code];
  const issues = status === 400 && fault.issues !== undefined ? { issues: fault.issues.slice(0, ISSUES_MAX) } : {};
  return answer(requestId, status, JSON.stringify({ error: { code, message, requestId, ...issues } }), {
    ...retryAfter(status, fault.retryAfterSeconds),
    ...headers,
  });
}

function retryAfter(status: number, seconds: number | undefined): Answer["headers"] {
  const due = seconds ?? (status === 503 || status === 429 ? RETRY_SECONDS : undefined);
  return due === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(due))) };
}
