/** What a write command changed, read from the command itself. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import * as z from "zod";

export type Item = Readonly<Record<string, AttributeValue>>;
export type Written = { readonly puts: readonly Item[]; readonly removed: readonly Item[] };

const item = z.custom<Item>((value) => typeof value === "object" && value !== null);
const member = z.object({
  Put: z.object({ Item: item }).optional(),
  Delete: z.object({ Key: item }).optional(),
});
const transaction = z.object({ TransactItems: z.array(member) });

const NOTHING: Written = { puts: [], removed: [] };

export function writtenBy(command: string, input: unknown): Written {
  switch (command) {
    case "TransactWriteItemsCommand": {
      const { TransactItems } = transaction.parse(input);
      return {
        puts: TransactItems.map((one) => one.Put?.Item).filter((one) => one !== undefined),
        removed: TransactItems.map((one) => one.Delete?.Key).filter((one) => one !== undefined),
      };
    }
    case "PutItemCommand":
      return { ...NOTHING, puts: [z.object({ Item: item }).parse(input).Item] };
    case "DeleteItemCommand":
      return { ...NOTHING, removed: [z.object({ Key: item }).parse(input).Key] };
    default:
      return NOTHING;
  }
}

export const textOf = (one: Item, name: string): string => one[name]?.S ?? "";
