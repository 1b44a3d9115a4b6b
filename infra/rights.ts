/** What a function may do with the table and the bucket. Nothing else is granted, and no `Scan` to anybody. */
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

export type Folder = "targets" | "uploads" | "bundles";
export type BucketCall = "GetObject" | "PutObject" | "DeleteObject";
/** Folders of the bucket, and what is done in each. */
export type BucketRights = Readonly<Partial<Record<Folder, readonly BucketCall[]>>>;

export type Needs = {
  readonly table: Rights;
  readonly bucket?: BucketRights;
  /** Reads the secret of the GitHub App. */
  readonly gitHub?: true;
  /** Makes and removes the schedules that wake maintenance windows. */
  readonly schedules?: true;
};

export const NOTHING: Needs = { table: {} };

export const together = (...all: readonly Rights[]): Rights => {
  const calls = new Map<string, Set<TableCall>>();
  for (const rights of all)
    for (const [partition, some] of Object.entries<readonly TableCall[]>(rights))
      calls.set(partition, new Set([...(calls.get(partition) ?? []), ...some]));
  return Object.fromEntries([...calls].map(([partition, some]) => [partition, [...some]]));
};
