/** `Idempotency-Key`: the same call again gets the first answer again, and happens once. */
import { createHash } from "node:crypto";
import { fail, ok, type Result } from "../kernel/result.ts";
import type { Log } from "../kernel/log.ts";
import type { Receipt } from "../kernel/receipt.ts";
import type { EpochMs } from "../kernel/time.ts";
import { answer, faultAnswer } from "./answer.ts";
import type { Answer } from "./event.ts";

/** Whose key it is: scoped to token and route. */
export type IdempotencyKey = Pick<Receipt, "org" | "tokenId" | "route" | "key">;

export type Begun =
  /** The call may go on; nobody else holds this key. */
  | { readonly kind: "started"; readonly receipt: Receipt }
  /** The first call has not answered yet. */
  | { readonly kind: "running" }
  /** The key was used for another body. */
  | { readonly kind: "reused" }
  | { readonly kind: "replay"; readonly status: number; readonly body: string };

export type IdempotencyStore = {
  readonly begin: (key: IdempotencyKey, fingerprint: string, now: EpochMs) => Promise<Begun>;
  /** Records the answer; changes nothing where one is recorded already. */
  readonly finish: (receipt: Receipt, status: number, body: string) => Promise<void>;
  /** Gives the key back, so that a retry is a first call; changes nothing where an answer is recorded. */
  readonly abandon: (receipt: Receipt) => Promise<void>;
};

export function readKey(sent: string): Result<string, "INVALID_REQUEST"> {
  if (/^[\x20-\x7e]{1,255}$/u.test(sent)) return ok(sent);
  const issues = [{ path: "Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" }];
  return fail("INVALID_REQUEST", "The Idempotency-Key header cannot be used; see issues.", { issues });
}

/**
 * Of the request as its schema read it: fields in the schema's order, unknown ones gone, numbers as numbers. Two
 * bodies that mean the same are the same.
 */
export const fingerprintOf = (input: unknown): string =>
  createHash("sha256").update(JSON.stringify(input)).digest("hex");

export type Once = {
  readonly store: IdempotencyStore;
  readonly log: Log;
  readonly now: EpochMs;
  readonly requestId: string;
  readonly key: IdempotencyKey;
  readonly fingerprint: string;
};

export async function answerOnce(once: Once, work: (receipt: Receipt) => Promise<Answer>): Promise<Answer> {
  const begun = await once.store.begin(once.key, once.fingerprint, once.now);
  switch (begun.kind) {
    case "started":
      return recorded(once, begun.receipt, work);
    case "replay":
      return answer(once.requestId, begun.status, begun.body, { "idempotency-replayed": "true" });
    case "running":
      return faultAnswer(once.requestId, IN_PROGRESS);
    case "reused":
      return faultAnswer(once.requestId, REUSED);
  }
}

const IN_PROGRESS = {
  code: "IDEMPOTENCY_IN_PROGRESS",
  message: "The first call with this Idempotency-Key is still running. Ask again.",
  retryAfterSeconds: 1,
} as const;

const REUSED = {
  code: "IDEMPOTENCY_KEY_REUSED",
  message: "This Idempotency-Key was used for another body. Use a new key for a new request.",
} as const;

async function recorded(once: Once, receipt: Receipt, work: (receipt: Receipt) => Promise<Answer>): Promise<Answer> {
  let given: Answer | undefined;
  try {
    given = await work(receipt);
    return given;
  } finally {
    await settle(once, receipt, given);
  }
}

/** 429 and 5xx are not recorded: they say "try again", and the retry must be a call of its own. */
const isFinal = (given: Answer): boolean => given.statusCode !== 429 && given.statusCode < 500;

// The change is made, or refused, by now: trouble with the record must not turn that answer into another.
async function settle({ store, log, requestId }: Once, receipt: Receipt, given: Answer | undefined): Promise<void> {
  try {
    if (given !== undefined && isFinal(given)) await store.finish(receipt, given.statusCode, given.body);
    else await store.abandon(receipt);
  } catch (error) {
    log.error("an idempotency record was not settled", { requestId, route: receipt.route, error: String(error) });
  }
}
