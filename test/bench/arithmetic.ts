/**
 * Whether the table counts capacity as DynamoDB does, by the rules of AWS: a write unit per started KB of the larger of
 * the item before and after, a read unit per 4 KB (half of one when eventually consistent), twice as much for writes in
 * a transaction, the minimum also for what is not there.
 */
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { promised, type Row } from "./report.ts";
import type { BenchService } from "./service.ts";

const PK = "bench-arithmetic";

/** An item of exactly so many bytes, names counted. */
const item = (sk: string, bytes: number) => {
  const others = "pk".length + PK.length + "sk".length + sk.length + "v".length;
  return { pk: PK, sk, v: "x".repeat(bytes - others) };
};

export async function arithmetic({ table, meter }: BenchService): Promise<readonly Row[]> {
  const { client, name: TableName } = table;
  const Key = (sk: string) => ({ pk: PK, sk });
  const get = (sk: string, ConsistentRead: boolean) => new GetCommand({ TableName, Key: Key(sk), ConsistentRead });
  const query = { TableName, KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": PK } };
  const some = { ConditionExpression: "attribute_exists(pk)" };
  const cases: readonly (readonly [string, number, () => Promise<unknown>])[] = [
    ["put 1024", 1, () => client.send(new PutCommand({ TableName, Item: item("a", 1024) }))],
    ["put 1025", 2, () => client.send(new PutCommand({ TableName, Item: item("b", 1025) }))],
    ["put 9000", 9, () => client.send(new PutCommand({ TableName, Item: item("c", 9000) }))],
    ["get 9000", 3, () => client.send(get("c", true))],
    ["get 9000, eventually", 1.5, () => client.send(get("c", false))],
    ["get nothing", 1, () => client.send(get("none", true))],
    [
      "batch of 1024 and nothing",
      2,
      () =>
        client.send(
          new BatchGetCommand({
            RequestItems: { [TableName]: { Keys: [Key("a"), Key("none")], ConsistentRead: true } },
          }),
        ),
    ],
    ["query 11049", 3, () => client.send(new QueryCommand({ ...query, ConsistentRead: true }))],
    [
      "transaction: put 1024, put 1025, check 9000, delete nothing",
      2 + 4 + 18 + 2,
      () =>
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              { Put: { TableName, Item: item("d", 1024) } },
              { Put: { TableName, Item: item("e", 1025) } },
              { ConditionCheck: { TableName, Key: Key("c"), ...some } },
              { Delete: { TableName, Key: Key("none") } },
            ],
          }),
        ),
    ],
    ["put 500 over 9000", 9, () => client.send(new PutCommand({ TableName, Item: item("c", 500) }))],
    ["delete 1025", 2, () => client.send(new DeleteCommand({ TableName, Key: Key("b") }))],
  ];
  const wrong: string[] = [];
  for (const [name, units, work] of cases) {
    const { cost } = await meter.during(work);
    if (cost.reads + cost.writes !== units) wrong.push(`${name}: ${cost.reads + cost.writes}, not ${units}`);
  }
  const measured = wrong.length === 0 ? `${cases.length} cases alike` : wrong.join("; ");
  const verdict = { goal: "as AWS counts", holds: wrong.length === 0 };
  return [promised("table", "capacity units of the embedded table", measured, verdict, { wrong: wrong.length })];
}
