import * as z from "zod";
import type { Table } from "../../shared/table/client.ts";

/** Capacity units and calls of everything that one piece of work asked of the table. */
export type Cost = {
  readonly writes: number;
  readonly reads: number;
  readonly calls: Readonly<Record<string, number>>;
};

export type Meter = {
  readonly during: <T>(work: () => Promise<T>) => Promise<{ readonly given: T; readonly cost: Cost }>;
};

const units = z.object({ CapacityUnits: z.number() });
/** One for a command on one table, a list for batches and transactions. */
const consumed = z.object({ ConsumedCapacity: z.union([units.transform((one) => [one]), z.array(units)]) });

const READS = new Set(["GetItemCommand", "BatchGetItemCommand", "QueryCommand", "ScanCommand"]);

/**
 * Counts what the table itself says that each command consumed: transactions at their double price, indexes included.
 * Off except during a measurement, so that timings are not burdened with it. One measurement at a time.
 */
export function meterOf({ client }: Table): Meter {
  let counting: { writes: number; reads: number; calls: Record<string, number> } | undefined;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (counting === undefined) return next(args);
      const given = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: "TOTAL" } });
      const name = context.commandName ?? "?";
      const { ConsumedCapacity } = consumed.parse(given.output);
      const sum = ConsumedCapacity.reduce((all, one) => all + one.CapacityUnits, 0);
      counting.calls[name] = (counting.calls[name] ?? 0) + 1;
      counting[READS.has(name) ? "reads" : "writes"] += sum;
      return given;
    },
    { step: "initialize", name: "meter" },
  );
  return {
    during: async (work) => {
      if (counting !== undefined) throw new Error("one measurement at a time");
      const cost = { writes: 0, reads: 0, calls: {} };
      counting = cost;
      try {
        return { given: await work(), cost };
      } finally {
        counting = undefined;
      }
    },
  };
}

export const callsOf = ({ calls }: Cost): string =>
  Object.entries(calls)
    .map(([name, count]) => `${count} ${name.replace(/Command$/u, "")}`)
    .join(", ");
