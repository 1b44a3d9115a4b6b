import { BatchGetCommand, GetCommand, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Table } from "./client.ts";
import type { Key } from "./keys.ts";

type Item = Record<string, unknown>;

export async function getItem(table: Table, { pk, sk }: Key): Promise<Item | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: { pk, sk }, ConsistentRead: true }),
  );
  return Item;
}

const BATCH_KEYS_MAX = 100;

/** Items by their keys, in no order; absent ones are left out. `eventually` costs half and may miss what is new. */
export async function getItems(
  table: Table,
  wanted: readonly Key[],
  eventually: boolean = false,
): Promise<readonly Item[]> {
  const [only, ...others] = wanted;
  // A batch of one costs the same units and more time.
  if (only !== undefined && others.length === 0 && !eventually)
    return [await getItem(table, only)].filter((item) => item !== undefined);
  const items: Item[] = [];
  let left: readonly Record<string, unknown>[] = wanted.map(({ pk, sk }) => ({ pk, sk }));
  while (left.length > 0) {
    const RequestItems = { [table.name]: { Keys: left.slice(0, BATCH_KEYS_MAX), ConsistentRead: !eventually } };
    const answer = await table.client.send(new BatchGetCommand({ RequestItems }));
    items.push(...(answer.Responses?.[table.name] ?? []));
    left = [...(answer.UnprocessedKeys?.[table.name]?.Keys ?? []), ...left.slice(BATCH_KEYS_MAX)];
  }
  return items;
}

export type Range = {
  readonly pk: string;
  /** Both inclusive. */
  readonly between?: readonly [string, string];
  readonly newestFirst?: boolean;
  readonly limit?: number;
  /** Only so that what nobody waits for may be read at half the price. */
  readonly eventually?: boolean;
};

const queryOf = (table: Table, range: Range): QueryCommandInput => ({
  TableName: table.name,
  KeyConditionExpression: range.between === undefined ? "pk = :pk" : "pk = :pk AND sk BETWEEN :from AND :to",
  ExpressionAttributeValues: {
    ":pk": range.pk,
    ...(range.between === undefined ? {} : { ":from": range.between[0], ":to": range.between[1] }),
  },
  ConsistentRead: range.eventually !== true,
  ScanIndexForward: range.newestFirst !== true,
  ...(range.limit === undefined ? {} : { Limit: range.limit }),
});

/** All items of a range (or its first `limit`), in key order. */
export async function query(table: Table, range: Range): Promise<readonly Item[]> {
  const items: Item[] = [];
  const input = queryOf(table, range);
  let start: Record<string, unknown> | undefined;
  do {
    const page = await table.client.send(new QueryCommand({ ...input, ExclusiveStartKey: start }));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined && (range.limit === undefined || items.length < range.limit));
  return items;
}
