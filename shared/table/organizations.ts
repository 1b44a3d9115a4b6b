import { GetCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type OrgSlug, orgSlug } from "../kernel/ids.ts";
import { type EpochMs, epochMs } from "../kernel/time.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import { versioned } from "./versions.ts";

/** One member of a transaction. */
export type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

export type Organization = { readonly slug: OrgSlug; readonly createdAt: EpochMs };

/** Lower-case letters, digits and dashes; it stands in keys, addresses and file names. */
export const ORG_SLUG = /^[a-z0-9][a-z0-9-]{0,38}$/u;

const stored = versioned(
  z.object({
    entity: z.literal("ORGANIZATION"),
    schema: z.literal(1),
    slug: z.string().regex(ORG_SLUG).transform(orgSlug),
    createdAt: z.int().transform(epochMs),
  }),
);

/** Makes the organization unless it exists, and then changes nothing: it may stand in any transaction. */
export const ensureOrganization = (table: Table, org: OrgSlug, now: EpochMs): TransactItem => ({
  Update: {
    TableName: table.name,
    Key: keys.organization(org),
    UpdateExpression:
      "SET #entity = if_not_exists(#entity, :entity), #schema = if_not_exists(#schema, :schema), " +
      "slug = if_not_exists(slug, :slug), createdAt = if_not_exists(createdAt, :now)",
    ExpressionAttributeNames: { "#entity": "entity", "#schema": "schema" },
    ExpressionAttributeValues: { ":entity": "ORGANIZATION", ":schema": 1, ":slug": org, ":now": now },
  },
});

export async function findOrganization(table: Table, org: OrgSlug): Promise<Organization | undefined> {
  const read = new GetCommand({ TableName: table.name, Key: keys.organization(org), ConsistentRead: true });
  const { Item } = await table.client.send(read);
  if (Item === undefined) return undefined;
  const { slug, createdAt } = stored.parse(Item);
  return { slug, createdAt };
}
