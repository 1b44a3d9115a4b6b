/** What each function asks of the table and of the bucket while it runs, by the names under which IAM allows it. */
import { AsyncLocalStorage } from "node:async_hooks";
import { isPartition, PARTITIONS, type Partition } from "../../shared/table/partitions.ts";
import type { Table } from "../../shared/table/client.ts";
import type { BucketCall, Folder, TableCall } from "../../infra/rights.ts";
import type { Wiring } from "../../functions/wiring.ts";

export type Call = { readonly by: string; readonly action: TableCall; readonly pk: string };
export type Hook = (call: Call) => Promise<void> | void;

export type ScheduleCall = "CreateSchedule" | "UpdateSchedule" | "DeleteSchedule";

type Invocation = { readonly by: string; readonly wiring: Wiring };

export const invocations = new AsyncLocalStorage<Invocation>();

const globs = Object.entries(PARTITIONS).map(
  ([name, pattern]) => [name, new RegExp(`^${pattern.replaceAll("*", ".*")}$`, "su")] as const,
);

/** The first that fits, as partitions.ts says. */
export function partitionOf(pk: string): Partition {
  const name = globs.find(([, glob]) => glob.test(pk))?.[0];
  if (name === undefined || !isPartition(name)) throw new Error(`no kind of partition fits ${pk}`);
  return name;
}

type Values = Record<string, unknown>;
const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null;
const inside = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (isValues(at) ? at[name] : undefined), value);

/** Plain, or as the wire has it. */
function text(value: unknown): string {
  const found = isValues(value) ? value["S"] : value;
  if (typeof found !== "string") throw new Error(`no partition key: ${JSON.stringify(value)}`);
  return found;
}

type Asked = { readonly action: TableCall; readonly pk: string };

const MEMBERS = {
  Put: ["PutItem", "Item"],
  Update: ["UpdateItem", "Key"],
  Delete: ["DeleteItem", "Key"],
  ConditionCheck: ["ConditionCheckItem", "Key"],
} as const;

function membersOf(item: unknown): readonly Asked[] {
  return Object.entries(MEMBERS).flatMap(([member, [action, key]]) => {
    const one = inside(item, member);
    return one === undefined ? [] : [{ action, pk: text(inside(one, key, "pk")) }];
  });
}

/** What a command needs the right to. */
function askedBy(command: string, input: unknown): readonly Asked[] {
  switch (command.replace(/(?:Item)?Command$/u, "")) {
    case "Get":
      return [{ action: "GetItem", pk: text(inside(input, "Key", "pk")) }];
    case "Put":
      return [{ action: "PutItem", pk: text(inside(input, "Item", "pk")) }];
    case "Update":
      return [{ action: "UpdateItem", pk: text(inside(input, "Key", "pk")) }];
    case "Delete":
      return [{ action: "DeleteItem", pk: text(inside(input, "Key", "pk")) }];
    case "Query":
      return [{ action: "Query", pk: text(inside(input, "ExpressionAttributeValues", ":pk")) }];
    case "BatchGet":
      return Object.values(inside(input, "RequestItems") ?? {}).flatMap((of: unknown) =>
        [inside(of, "Keys")].flat().map((key) => ({ action: "BatchGetItem", pk: text(inside(key, "pk")) }) as const),
      );
    case "TransactWriteItems":
    case "TransactWrite":
      return [inside(input, "TransactItems")].flat().flatMap(membersOf);
    default:
      throw new Error(`nobody is given the right to ${command}`);
  }
}

export type Recorder = {
  /** By function, what was called and where: `PutItem queue`, `GetObject targets/`; with one partition key of each. */
  readonly calls: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly note: (action: BucketCall | ScheduleCall, where: `${Folder}/` | "schedules") => void;
  /** Called before each of a function's calls, which fails when it does. */
  readonly before: (hook: Hook | undefined) => void;
};

/** Adds itself to the table's client. Calls that no function makes, as a test's own, are let through. */
export function recorder(table: Table): Recorder {
  const calls = new Map<string, Map<string, string>>();
  let hook: Hook | undefined;
  const note = (by: string, what: string, pk: string): void => {
    calls.set(by, (calls.get(by) ?? new Map<string, string>()).set(what, pk));
  };
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const by = invocations.getStore()?.by;
      if (by === undefined) return next(args);
      for (const { action, pk } of askedBy(String(context["commandName"]), args.input)) {
        note(by, `${action} ${partitionOf(pk)}`, pk);
        const then = hook;
        if (then !== undefined) await invocations.exit(async () => then({ by, action, pk }));
      }
      return next(args);
    },
    { step: "initialize", priority: "high", name: "recorder" },
  );
  return {
    calls,
    note: (action, where) => {
      const by = invocations.getStore()?.by;
      if (by !== undefined) note(by, `${action} ${where}`, "");
    },
    before: (next) => {
      hook = next;
    },
  };
}
