/**
 * An expected outcome is a return value. `Fault` says what stands in the way in the API's own stable codes
 * (their statuses stand in shared/api/error-codes.ts) and what the caller can do; it never carries internals.
 */
export type Fault<Code extends string = string> = {
  readonly code: Code;
  readonly message: string;
  readonly issues?: readonly FaultIssue[];
  readonly retryAfterSeconds?: number;
};

export type FaultIssue = { readonly path: string; readonly message: string };

export type Result<T, Code extends string = string> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault<Code> };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const fail = <Code extends string>(
  code: Code,
  message: string,
  more: Omit<Fault<Code>, "code" | "message"> = {},
): { readonly ok: false; readonly fault: Fault<Code> } => ({ ok: false, fault: { code, message, ...more } });
