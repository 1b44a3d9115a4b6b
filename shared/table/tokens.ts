/**
 * Tokens, each stored twice: by its hash, and in its organization's list. Both are always written in one transaction,
 * and a token opens nothing unless its organization's list has it, too. The secret itself is never stored and never
 * comes here.
 */
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { GetCommand, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type OrgSlug, orgSlug } from "../kernel/ids.ts";
import { type EpochMs, epochMs } from "../kernel/time.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import { ensureOrganization, type TransactItem } from "./organizations.ts";
import { versioned } from "./versions.ts";

const time = z.int().transform(epochMs);

const stored = versioned(
  z.object({
    entity: z.literal("TOKEN"),
    schema: z.literal(1),
    org: z.string().transform(orgSlug),
    tokenId: z.string(),
    hash: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(["read", "submit", "admin"])),
    enumCase: z.enum(["upper", "lower"]),
    createdAt: time,
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
  }),
);

/** A token without its secret. `hash` stays inside this file. */
export type TokenRecord = Omit<z.infer<typeof stored>, "entity" | "schema" | "hash">;
export type NewToken = Omit<TokenRecord, "revokedAt"> & { readonly hash: string };

/** "GONE": someone else revoked or rotated the token first. */
export type Revocation = "REVOKED" | "GONE";

export type TokenStore = {
  /** Makes the organization as well if it is new. */
  readonly add: (token: NewToken) => Promise<void>;
  /** All tokens ever made and not forgotten, revoked ones too; oldest first. */
  readonly list: (org: OrgSlug) => Promise<readonly TokenRecord[]>;
  /**
   * As its organization's list has it; strongly consistent. Revoked and expired ones are found too: the caller says what
   * they mean.
   */
  readonly findByHash: (hash: string) => Promise<TokenRecord | undefined>;
  readonly revoke: (org: OrgSlug, tokenId: string, at: EpochMs) => Promise<Revocation>;
  /** The old token ends in the moment in which the new one begins. */
  readonly replace: (org: OrgSlug, tokenId: string, by: NewToken) => Promise<Revocation>;
};

/** Whether it opens anything at that time. */
export const isLive = (token: Pick<TokenRecord, "expiresAt" | "revokedAt">, now: EpochMs): boolean =>
  token.revokedAt === null && (token.expiresAt === null || token.expiresAt > now);

function withoutHash(item: unknown): TokenRecord {
  const { entity: _entity, schema: _schema, hash: _hash, ...token } = stored.parse(item);
  return token;
}

function putBoth(table: Table, token: NewToken): readonly TransactItem[] {
  const item = { entity: "TOKEN", schema: 1, ...token, revokedAt: null };
  const places = [keys.tokenByHash(token.hash), keys.tokenOf(token.org, token.tokenId)];
  return places.map((key) => ({
    Put: { TableName: table.name, Item: { ...key, ...item }, ConditionExpression: "attribute_not_exists(pk)" },
  }));
}

function revokeBoth(table: Table, org: OrgSlug, token: { hash: string; tokenId: string }, at: EpochMs) {
  const places = [keys.tokenByHash(token.hash), keys.tokenOf(org, token.tokenId)];
  return places.map((Key) => ({
    Update: {
      TableName: table.name,
      Key,
      UpdateExpression: "SET revokedAt = :at",
      ConditionExpression: "revokedAt = :live",
      ExpressionAttributeValues: { ":at": at, ":live": null },
    },
  }));
}

/** Every member of these transactions has a condition that only another revocation can break. */
const lostToAnother = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).some((reason) => reason.Code === "ConditionalCheckFailed");

async function committed(table: Table, items: readonly TransactItem[]): Promise<Revocation> {
  try {
    await table.client.send(new TransactWriteCommand({ TransactItems: [...items] }));
    return "REVOKED";
  } catch (error) {
    if (lostToAnother(error)) return "GONE";
    throw error;
  }
}

async function listed(table: Table, org: OrgSlug): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await table.client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": keys.tokensOf(org) },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return items;
}

async function item(table: Table, Key: { pk: string; sk: string }): Promise<unknown> {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key, ConsistentRead: true }));
  return Item;
}

export function tokenStore(table: Table): TokenStore {
  const hashOf = async (org: OrgSlug, tokenId: string): Promise<string | undefined> => {
    const found = await item(table, keys.tokenOf(org, tokenId));
    return found === undefined ? undefined : stored.parse(found).hash;
  };
  return {
    add: async (token) => {
      const items = [ensureOrganization(table, token.org, token.createdAt), ...putBoth(table, token)];
      await table.client.send(new TransactWriteCommand({ TransactItems: items }));
    },
    list: async (org) => (await listed(table, org)).map(withoutHash).sort((a, b) => a.createdAt - b.createdAt),
    findByHash: async (hash) => {
      const found = await item(table, keys.tokenByHash(hash));
      if (found === undefined) return undefined;
      const { org, tokenId } = stored.parse(found);
      const listedToken = await item(table, keys.tokenOf(org, tokenId));
      if (listedToken === undefined || stored.parse(listedToken).hash !== hash) return undefined;
      return withoutHash(listedToken);
    },
    revoke: async (org, tokenId, at) => {
      const hash = await hashOf(org, tokenId);
      return hash === undefined ? "GONE" : committed(table, revokeBoth(table, org, { hash, tokenId }, at));
    },
    replace: async (org, tokenId, by) => {
      const hash = await hashOf(org, tokenId);
      if (hash === undefined) return "GONE";
      return committed(table, [...revokeBoth(table, org, { hash, tokenId }, by.createdAt), ...putBoth(table, by)]);
    },
  };
}
