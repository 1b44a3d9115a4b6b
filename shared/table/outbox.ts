/** Messages of one queue: facts on their way to the loop, and effects on their way to the world. */
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { QueueKey } from "../kernel/ids.ts";
import { type EpochMs, epochMs, later } from "../kernel/time.ts";
import type { ClaimedEffect, OutboxEffect, QueueStore } from "../queue/app/ports.ts";
import { type Claimant, claimant } from "./claimant.ts";
import type { Table } from "./client.ts";
import { effect } from "./effect-shapes.ts";
import { inboxItem, putInInbox } from "./inbox.ts";
import { keys } from "./keys.ts";
import { query } from "./read.ts";
import type { TransactItem } from "./organizations.ts";
import { put, remove, transact } from "./transaction.ts";
import { versioned } from "./versions.ts";

type Outbox = Pick<QueueStore, "tell" | "hasInbox" | "waitingEffects" | "troubles" | "claim" | "finish" | "postpone">;

const stored = versioned(
  z.object({
    entity: z.literal("EFFECT"),
    schema: z.literal(1),
    effect,
    leaseUntil: z.number(),
    leaseOwner: z.string().optional(),
    attempts: z.number(),
    /** Why the last attempt failed. */
    trouble: z.string().optional(),
  }),
);

export const newEffect = (table: Table, key: QueueKey, effect: OutboxEffect): TransactItem =>
  put(table, {
    ...keys.effect(key, effect.key),
    entity: "EFFECT",
    schema: 1,
    key,
    effect,
    leaseUntil: 0,
    attempts: 0,
  });

const owned = (owner: string) => ({ expression: "leaseOwner = :owner", values: { ":owner": owner } });

export function outboxStore(table: Table, who: Claimant = claimant()): Outbox {
  const all = async (key: QueueKey) => {
    const items = await query(table, { pk: keys.queue(key), between: ["5#", "5#\uffff"], eventually: true });
    return items.map((item) => stored.parse(item));
  };
  return {
    tell: (key, event) => putInInbox(table, key, event),
    hasInbox: async (key) => {
      const range = { pk: keys.queue(key), between: ["4#", "4#\uffff"], limit: 1, eventually: true } as const;
      return (await query(table, range)).length > 0;
    },
    waitingEffects: async (key, now) => {
      const effects = await all(key);
      const free = effects.filter((one) => one.leaseUntil <= now || who.hasLeftBehind(one.leaseOwner));
      return free.map((one) => one.effect.key);
    },
    troubles: async (key) =>
      (await all(key)).flatMap(({ effect, trouble: what, leaseUntil }) =>
        what === undefined ? [] : [{ effect, what, retryAt: epochMs(leaseUntil) }],
      ),
    claim: (key, effect, now, leaseMs) => claim(table, who, key, effect, now, leaseMs),
    finish: async (key, claimed, result) => {
      // A claim that was lost writes nothing: whoever has it now brings the result.
      await transact(table, [
        remove(table, keys.effect(key, claimed.effect.key), owned(claimed.owner)),
        result === null ? undefined : inboxItem(table, key, result),
      ]);
    },
    postpone: async (key, claimed, until, what) => {
      const update = new UpdateCommand({
        TableName: table.name,
        Key: keys.effect(key, claimed.effect.key),
        UpdateExpression: "SET leaseUntil = :until, trouble = :what REMOVE leaseOwner",
        ConditionExpression: "leaseOwner = :owner",
        ExpressionAttributeValues: { ":until": until, ":what": what, ":owner": claimed.owner },
      });
      await unlessLost(table.client.send(update));
    },
  };
}

async function claim(
  table: Table,
  who: Claimant,
  key: QueueKey,
  effect: string,
  now: EpochMs,
  leaseMs: number,
): Promise<ClaimedEffect | undefined> {
  const owner = who.owner();
  const update = new UpdateCommand({
    TableName: table.name,
    Key: keys.effect(key, effect),
    UpdateExpression: "SET leaseUntil = :until, leaseOwner = :owner, attempts = attempts + :one",
    // The last alternative: an attempt whose answer was lost is repeated, and must not be refused by its own success.
    ConditionExpression: `attribute_exists(pk) AND (leaseUntil <= :now OR ${who.leftBehind("leaseOwner")} OR leaseOwner = :owner)`,
    ExpressionAttributeValues: {
      ":until": later(now, leaseMs),
      ":owner": owner,
      ":one": 1,
      ":now": now,
      ...who.values,
    },
    ReturnValues: "ALL_NEW",
  });
  const answer = await unlessLost(table.client.send(update));
  if (answer?.Attributes === undefined) return undefined;
  const { effect: what, attempts } = stored.parse(answer.Attributes);
  return { effect: what, owner, attempts };
}

async function unlessLost<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
