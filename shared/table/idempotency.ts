/**
 * One item per `Idempotency-Key` in use. A call claims it for a minute, and the answer is written where the change is:
 * in the change's own transaction, or afterwards where nothing changed. A call that dies leaves a claim that runs out,
 * or that the next life of the same worker takes over at once.
 */
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Receipt } from "../kernel/receipt.ts";
import { DAY_MS, type EpochMs, later, MINUTE_MS } from "../kernel/time.ts";
import { type Claimant, claimant } from "./claimant.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import { versioned } from "./versions.ts";

type IdempotencyKey = Pick<Receipt, "org" | "tokenId" | "route" | "key">;

/** As shared/http/idempotency.ts declares it. */
export type Begun =
  | { readonly kind: "started"; readonly receipt: Receipt }
  | { readonly kind: "running" }
  | { readonly kind: "reused" }
  | { readonly kind: "replay"; readonly status: number; readonly body: string };

/** How long a key keeps its meaning. */
const KEY_MS = DAY_MS;
/** Longer than any request runs, so that a claim is never taken from a call that still works. */
export const CLAIM_MS = MINUTE_MS;

const stored = versioned(
  z.object({
    entity: z.literal("IDEMPOTENCY"),
    schema: z.literal(1),
    fingerprint: z.string(),
    owner: z.string(),
    answer: z.object({ status: z.int(), body: z.string() }).optional(),
  }),
);

const keyOf = ({ org, tokenId, route, key }: IdempotencyKey) => keys.idempotency(org, tokenId, route, key);

// A claim that ran out passes only to the same request: the first call may have changed something before it died.
const free = (who: Claimant): string =>
  "attribute_not_exists(pk) OR expiresAt <= :now OR " +
  `(attribute_not_exists(answer) AND (claimedUntil <= :now OR ${who.leftBehind("#owner")}) AND fingerprint = :fingerprint)`;

const claim = (table: Table, who: Claimant, receipt: Receipt, now: EpochMs): PutCommand =>
  new PutCommand({
    TableName: table.name,
    Item: {
      ...keyOf(receipt),
      entity: "IDEMPOTENCY",
      schema: 1,
      fingerprint: receipt.fingerprint,
      owner: receipt.owner,
      claimedUntil: later(now, CLAIM_MS),
      expiresAt: receipt.expiresAt,
      expiresAtSeconds: Math.ceil(receipt.expiresAt / 1_000),
    },
    ConditionExpression: free(who),
    ExpressionAttributeNames: { "#owner": "owner" },
    ExpressionAttributeValues: { ":now": now, ":fingerprint": receipt.fingerprint, ...who.values },
  });

function whatIsThere(item: unknown, mine: Receipt): Begun {
  const { fingerprint, owner, answer } = stored.parse(item);
  if (fingerprint !== mine.fingerprint) return { kind: "reused" };
  if (answer !== undefined) return { kind: "replay", ...answer };
  // The SDK repeated a put whose answer was lost, and met its own.
  return owner === mine.owner ? { kind: "started", receipt: mine } : { kind: "running" };
}

const OWN = {
  ConditionExpression: "#owner = :owner AND attribute_not_exists(answer)",
  ExpressionAttributeNames: { "#owner": "owner" },
} as const;

const answerUpdate = (table: Table, receipt: Receipt, status: number, body: string) => ({
  TableName: table.name,
  Key: keyOf(receipt),
  UpdateExpression: "SET answer = :answer",
  ...OWN,
  ExpressionAttributeValues: { ":owner": receipt.owner, ":answer": { status, body } },
});

/**
 * The member of a use case's transaction that commits the answer with the change. Its condition fails, and with it
 * the change, when this call no longer owns the key: another call with it has begun, and will make the change.
 */
export const recordAnswer = (table: Table, receipt: Receipt, status: number, body: string): TransactItem => ({
  Update: answerUpdate(table, receipt, status, body),
});

/** For what may be late: a record that is there already, or belongs to another by now, stays as it is. */
async function unlessSettled(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

export function idempotencyStore(table: Table, who: Claimant = claimant()) {
  const begin = async (key: IdempotencyKey, fingerprint: string, now: EpochMs): Promise<Begun> => {
    const receipt: Receipt = { ...key, fingerprint, owner: who.owner(), expiresAt: later(now, KEY_MS) };
    try {
      await table.client.send(claim(table, who, receipt, now));
      return { kind: "started", receipt };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const read = new GetCommand({ TableName: table.name, Key: keyOf(key), ConsistentRead: true });
      const { Item } = await table.client.send(read);
      // Given back between the failed claim and this read: as good as running, the caller asks again.
      return Item === undefined ? { kind: "running" } : whatIsThere(Item, receipt);
    }
  };
  const finish = (receipt: Receipt, status: number, body: string): Promise<void> =>
    unlessSettled(table.client.send(new UpdateCommand(answerUpdate(table, receipt, status, body))));
  const abandon = (receipt: Receipt): Promise<void> =>
    unlessSettled(
      table.client.send(
        new DeleteCommand({
          TableName: table.name,
          Key: keyOf(receipt),
          ...OWN,
          ExpressionAttributeValues: { ":owner": receipt.owner },
        }),
      ),
    );
  return { begin, finish, abandon };
}
