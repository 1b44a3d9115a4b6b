import type { OrgSlug } from "./ids.ts";
import type { EpochMs } from "./time.ts";

/**
 * Proof that this call owns an `Idempotency-Key`: whoever holds it may record the answer, once.
 * Here and not in shared/http, because a use case records the answer in the transaction of its own change.
 */
export type Receipt = {
  readonly org: OrgSlug;
  readonly tokenId: string;
  readonly route: string;
  /** As the client sent it. */
  readonly key: string;
  /** Lower-case hex SHA-256 of the request's canonical body. */
  readonly fingerprint: string;
  /** Different for every call: a call that lost its claim to a later one cannot record over it. */
  readonly owner: string;
  /** When the record, and with it the key's meaning, ends. */
  readonly expiresAt: EpochMs;
};

/** A receipt that also knows how the answer will look on the wire, so that what is recorded is what is sent. */
export type OpenReceipt<Reply> = Receipt & { readonly answer: (body: Reply) => string };
