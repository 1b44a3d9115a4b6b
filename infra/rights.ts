/** What a function may do with the table, partition by partition. Nothing else is granted, and no `Scan` to anybody. */
import type { Partition } from "../shared/table/partitions.ts";

/** As IAM names them. A transaction needs the right to each thing that it does. */
export type TableCall =
  | "GetItem"
  | "BatchGetItem"
  | "Query"
  | "ConditionCheckItem"
  | "PutItem"
  | "UpdateItem"
  | "DeleteItem";
export type Rights = Readonly<Partial<Record<Partition, readonly TableCall[]>>>;
