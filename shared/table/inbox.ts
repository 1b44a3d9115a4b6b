import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { QueueKey } from "../kernel/ids.ts";
import { systemClock } from "../kernel/time.ts";
import type { InboxItem } from "../queue/app/ports.ts";
import type { QueueEvent } from "../queue/engine/types.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import * as shapes from "./shapes.ts";
import { put } from "./transaction.ts";
import { versioned } from "./versions.ts";

const stored = versioned(
  z.object({
    entity: z.literal("INBOX"),
    schema: z.literal(1),
    sk: z.string(),
    event: shapes.inboxEvent,
  }),
);

export function fromInboxItem(item: unknown): InboxItem {
  const { sk, event } = stored.parse(item);
  return { sk, event };
}

// The time only orders what lies in the inbox; the random part keeps two of one millisecond apart.
const itemOf = (key: QueueKey, event: QueueEvent) => ({
  ...keys.inbox(key, systemClock(), randomUUID()),
  entity: "INBOX",
  schema: 1,
  key,
  event,
});

export const inboxItem = (table: Table, key: QueueKey, event: QueueEvent): TransactItem =>
  put(table, itemOf(key, event));

export async function putInInbox(table: Table, key: QueueKey, event: QueueEvent): Promise<void> {
  await table.client.send(new PutCommand({ TableName: table.name, Item: itemOf(key, event) }));
}
