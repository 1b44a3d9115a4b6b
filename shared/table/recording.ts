import type { Recorded } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { recordAnswer } from "./idempotency.ts";
import type { TransactItem } from "./organizations.ts";

/** The member of a transaction that records its answer, when somebody asked for that. */
export const recording = (table: Table, recorded: Recorded | undefined): TransactItem | undefined =>
  recorded && recordAnswer(table, recorded.receipt, 200, recorded.body);
