/** A table whose writes are gathered and then made in batches: a history of weeks is there in a fraction of the time. */
import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Table } from "../../shared/table/client.ts";

type Item = Record<string, unknown>;
type Put = { readonly Item: Item };
type Update = {
  readonly Key: Item;
  readonly UpdateExpression: string;
  readonly ExpressionAttributeNames: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues: Item;
};

const BATCH = 25;
const AT_ONCE = 8;

/** Knows puts, whose conditions it takes to hold, and updates that do nothing but `SET`. */
export function gathered(table: Table): { readonly table: Table; readonly flush: () => Promise<void> } {
  const items = new Map<string, Item>();
  const keep = (item: Item): void => {
    const key = `${String(item["pk"])} ${String(item["sk"])}`;
    items.set(key, { ...items.get(key), ...item });
  };
  const send = ({ input }: { readonly input: Put | Update }): Promise<object> => {
    if ("Item" in input) keep(input.Item);
    else keep({ ...input.Key, ...assigned(input) });
    return Promise.resolve({});
  };
  const client = new Proxy(table.client, {
    get: (target, name): unknown => (name === "send" ? send : Reflect.get(target, name)),
  });
  const flush = async (): Promise<void> => {
    const left = [...items.values()];
    items.clear();
    const worker = async (): Promise<void> => {
      for (let some = left.splice(-BATCH); some.length > 0; some = left.splice(-BATCH)) {
        const RequestItems = { [table.name]: some.map((one) => ({ PutRequest: { Item: one } })) };
        const { UnprocessedItems = {} } = await table.client.send(new BatchWriteCommand({ RequestItems }));
        left.push(...(UnprocessedItems[table.name] ?? []).flatMap((one) => one.PutRequest?.Item ?? []));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  return { table: { ...table, client }, flush };
}

function assigned({ UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues }: Update): Item {
  const pairs = UpdateExpression.replace(/^SET /u, "").split(", ");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", value = ""] = pair.split(" = ");
      return [ExpressionAttributeNames[name] ?? name, ExpressionAttributeValues[value]];
    }),
  );
}
