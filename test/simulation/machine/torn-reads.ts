/** Reads that the table may answer in parts: others write between one page and the next. */
import type { Table } from "../../../shared/table/client.ts";
import type { Random } from "../../crash/random.ts";
import type { Faults } from "./faults.ts";

type Keys = { readonly Keys?: readonly unknown[] };
type Asked = { readonly Limit?: number; readonly RequestItems?: Readonly<Record<string, Keys>> };

export function smallPages(table: Table, faults: Faults, random: Random): void {
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const input = args.input as Asked;
      if (context.commandName === "QueryCommand" && input.Limit === undefined && faults.happens("table: small pages"))
        return next({ ...args, input: { ...args.input, Limit: random.int(1, 8) } });
      const wanted = input.RequestItems?.[table.name]?.Keys ?? [];
      if (wanted.length < 2 || !faults.happens("table: partial batch")) return next(args);
      const first = random.int(1, wanted.length - 1);
      const of = (Keys: readonly unknown[]) => ({ [table.name]: { ...input.RequestItems?.[table.name], Keys } });
      const given = await next({
        ...args,
        input: { ...args.input, RequestItems: of(wanted.slice(0, first)) },
      });
      return { ...given, output: { ...given.output, UnprocessedKeys: of(wanted.slice(first)) } };
    },
    { step: "initialize", name: "simulated pages" },
  );
}
