import type { Recorded } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { recordAnswer } from "./idempotency.ts";
import { heardItem } from "./heard-item.ts";
import type { TransactItem } from "./organizations.ts";

/** The member of a transaction that records its answer, when somebody asked for that. */
export function recording(table: Table, recorded: Recorded | undefined): TransactItem | undefined {
  if (recorded === undefined) return undefined;
  if ("heard" in recorded) return heardItem(table, recorded.heard);
  return recordAnswer(table, recorded.receipt, 200, recorded.body);
}
