/**
 * The real table behind a bad network: every attempt of the SDK to reach it takes its time, and may be refused, lost,
 * or the last thing that its process does. Below the SDK's own retries, so that those are under test as well.
 */
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from "@aws-sdk/client-dynamodb";
import { openTable, type Table } from "../../../shared/table/client.ts";
import type { Random } from "../../crash/random.ts";
import type { Faults } from "./faults.ts";
import { mayDie, unlessDead } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import { smallPages } from "./torn-reads.ts";
import { withoutSigning } from "./unsigned.ts";
import { type Written, writtenBy } from "./written.ts";

export type TableWorld = {
  readonly endpoint: string;
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly random: Random;
  /** Told of each write once, in the moment in which it is made and in the context of whoever made it. */
  readonly written: (what: Written) => void;
  readonly weather: Weather;
};

/** What concerns all clients of a table at the same time. */
export class Weather {
  stormUntil = 0;
  calls = 0;
  private minute = 0;
  private before = 0;

  /** So far in the present minute. */
  callsInAMinute(now: number): number {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.minute) this.before = this.calls;
    this.minute = minute;
    return this.calls - this.before;
  }
}

/** How one command of the SDK stands, over all its attempts. */
type Command = { readonly name: string; readonly input: unknown; isDone: boolean; isCut: boolean };

const METADATA = { $metadata: {} };
const throttled = () => new ProvisionedThroughputExceededException({ message: "simulated: throttled", ...METADATA });
const lost = () => Object.assign(new Error("simulated: the connection was lost"), { code: "ECONNRESET" });

function conflict({ name }: Command): Error {
  const message = "simulated: conflict";
  if (name !== "TransactWriteItemsCommand") return new TransactionConflictException({ message, ...METADATA });
  const CancellationReasons = [{ Code: "TransactionConflict" }];
  return new TransactionCanceledException({ message, CancellationReasons, ...METADATA });
}

const READS = new Set(["GetItemCommand", "QueryCommand", "BatchGetItemCommand"]);

/** Only what a transaction also writes can meet one. */
const canConflict = ({ name, input }: Command): boolean =>
  name === "TransactWriteItemsCommand" ||
  name === "UpdateItemCommand" ||
  (name === "PutItemCommand" && JSON.stringify(input).includes('"IDEMPOTENCY"'));

/** A client of its own, as every process has one. */
export function unreliableTable(world: TableWorld): Table {
  const table = withoutSigning(openTable({ name: world.name, endpoint: world.endpoint }));
  const commands = new WeakMap<object, Command>();
  smallPages(table, world.faults, world.random);
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const { input } = args;
      const command = commands.get(context) ?? { name: context.commandName ?? "", input, isDone: false, isCut: false };
      commands.set(context, command);
      return attempt(world, command, () => next(args));
    },
    { step: "finalizeRequest", priority: "low", name: "simulated network" },
  );
  return table;
}

async function attempt<T>(world: TableWorld, command: Command, next: () => Promise<T>): Promise<T> {
  const { scheduler, faults, random, weather } = world;
  const { isDone } = command;
  weather.calls += 1;
  await travel(world);
  if (faults.happens("table: storm")) weather.stormUntil = scheduler.now() + random.int(2_000, 40_000);
  if (command.isCut) throw lost();
  if (scheduler.now() < weather.stormUntil || faults.happens("table: throttled")) throw throttled();
  if (!isDone && canConflict(command) && faults.happens("table: conflict")) throw conflict(command);
  const answer = await perform(world, command, next);
  if (READS.has(command.name) && isEventual(command) && faults.happens("table: stale read"))
    await scheduler.sleep(random.int(100, 3_000));
  await travel(world);
  if (faults.happens("table: connection lost")) command.isCut = true;
  if (command.isCut || faults.happens("table: answer lost")) throw lost();
  return answer;
}

const isEventual = ({ input }: Command): boolean =>
  typeof input === "object" && input !== null && "ConsistentRead" in input && input.ConsistentRead === false;

/** The only real thing: what the table does with it. */
async function perform<T>({ scheduler, written }: TableWorld, command: Command, next: () => Promise<T>): Promise<T> {
  const answer = await scheduler.really(next);
  // Another attempt of the same command writes the same again, or nothing.
  if (!command.isDone && !READS.has(command.name)) written(writtenBy(command.name, command.input));
  command.isDone = true;
  return answer;
}

/** One way through the network, on which the process may stand still or end. */
async function travel({ scheduler, faults, random }: TableWorld): Promise<void> {
  await unlessDead();
  await scheduler.sleep(faults.happens("table: slow") ? random.int(500, 8_000) : 0.5 + random.next() * 5);
  if (faults.happens("process: standstill")) await scheduler.sleep(random.int(100_000, 400_000));
  await mayDie(faults);
}
