import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Table } from "./client.ts";
import type { Key } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";

/** A transaction holds so many items at most (AWS). */
export const TRANSACTION_ITEMS_MAX = 100;

type Condition = {
  readonly expression: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, unknown>>;
};

const conditionOf = (condition: Condition | undefined) =>
  condition === undefined
    ? {}
    : {
        ConditionExpression: condition.expression,
        ...(condition.names === undefined ? {} : { ExpressionAttributeNames: { ...condition.names } }),
        ...(condition.values === undefined ? {} : { ExpressionAttributeValues: { ...condition.values } }),
      };

export const put = (table: Table, item: Key & Record<string, unknown>, condition?: Condition): TransactItem => ({
  Put: { TableName: table.name, Item: item, ...conditionOf(condition) },
});

export const remove = (table: Table, { pk, sk }: Key, condition?: Condition): TransactItem => ({
  Delete: { TableName: table.name, Key: { pk, sk }, ...conditionOf(condition) },
});

export const check = (table: Table, { pk, sk }: Key, condition: Condition): TransactItem => ({
  ConditionCheck: {
    TableName: table.name,
    Key: { pk, sk },
    ConditionExpression: condition.expression,
    ...(condition.values === undefined ? {} : { ExpressionAttributeValues: { ...condition.values } }),
  },
});

export const ABSENT: Condition = { expression: "attribute_not_exists(pk)" };
export const unchanged = (revision: number): Condition => ({
  expression: "revision = :revision",
  values: { ":revision": revision },
});

/** What a race looks like: somebody else wrote first, or writes at this moment. Read again and decide again. */
const RACES = new Set(["ConditionalCheckFailed", "TransactionConflict"]);

/** Commits all or nothing. CONFLICT says that nothing was written because somebody else was first. */
export async function transact(
  table: Table,
  items: readonly (TransactItem | undefined)[],
): Promise<"COMMITTED" | "CONFLICT"> {
  const TransactItems = items.filter((item) => item !== undefined);
  try {
    await table.client.send(new TransactWriteCommand({ TransactItems }));
    return "COMMITTED";
  } catch (error) {
    if (error instanceof TransactionCanceledException) {
      const reasons = (error.CancellationReasons ?? []).map((reason) => reason.Code ?? "None");
      if (reasons.some((code) => RACES.has(code))) return "CONFLICT";
    }
    throw error;
  }
}
