/** What an event source mapping does with one batch: in order, from the first failed record again, at last a dead letter. */
import type { Context, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import type { Log } from "../../shared/kernel/log.ts";
import { oneLine } from "./cannot-start.ts";
import { sequenceOf } from "./stream-record.ts";

export type StreamHandler = (event: DynamoDBStreamEvent, context: Context) => Promise<DynamoDBBatchResponse | void>;

export type Mapping = {
  readonly name: string;
  readonly filter: (record: DynamoDBRecord) => boolean;
  readonly handler: StreamHandler;
  readonly batchSize: number;
};

export type DeadLetter = {
  readonly mapping: string;
  readonly attempts: number;
  readonly error: string;
  readonly record: DynamoDBRecord;
};

export type Retries = { readonly attemptsMax: number; readonly firstMs: number; readonly maxMs: number };

export type DeliveryPorts = {
  readonly log: Log;
  readonly context: () => Context;
  readonly deadLetter: (letter: DeadLetter) => void;
  /** Resolves early when the stream stops. */
  readonly pause: (ms: number) => Promise<void>;
  readonly stopped: () => boolean;
  readonly retries: Retries;
};

/** How many of the records are done, and why the next one is not. */
type Outcome = { readonly done: number; readonly error?: string; readonly whole?: boolean };

async function attempt({ handler }: Mapping, records: readonly DynamoDBRecord[], context: Context): Promise<Outcome> {
  try {
    const answer = await handler({ Records: [...records] }, context);
    return outcomeOf(records, answer?.batchItemFailures ?? []);
  } catch (error) {
    return { done: 0, error: oneLine(error), whole: true };
  }
}

/** The first failed record counts: those after it come again, whatever was said of them. */
function outcomeOf(records: readonly DynamoDBRecord[], failures: DynamoDBBatchResponse["batchItemFailures"]): Outcome {
  if (failures.length === 0) return { done: records.length };
  const failed = new Set(failures.map((failure) => failure.itemIdentifier));
  const first = records.findIndex((record) => failed.has(sequenceOf(record)));
  // A name that is not in the batch fails all of it, as on AWS.
  return first === -1
    ? { done: 0, error: "the function named a record that was not in its batch", whole: true }
    : { done: first, error: "the function reported the record as failed" };
}

const waitMs = ({ firstMs, maxMs }: Retries, attempts: number): number =>
  Math.min(maxMs, firstMs * 2 ** (attempts - 1));

/**
 * Returns how many records from the front are settled: all of them, unless the stream stops meanwhile. A batch that
 * fails as a whole is tried again record by record, so that one bad record is found and its neighbours go through.
 */
export async function deliver(
  mapping: Mapping,
  records: readonly DynamoDBRecord[],
  ports: DeliveryPorts,
): Promise<number> {
  let settled = 0;
  let attempts = 0;
  let oneByOne = false;
  while (settled < records.length && !ports.stopped()) {
    const batch = records.slice(settled, oneByOne ? settled + 1 : undefined);
    const outcome = await attempt(mapping, batch, ports.context());
    if (outcome.done > 0) attempts = 0;
    settled += outcome.done;
    const head = records[settled];
    if (outcome.error === undefined || head === undefined) continue;
    attempts += 1;
    oneByOne ||= outcome.whole === true;
    if (attempts < ports.retries.attemptsMax) {
      ports.log.warn("a stream batch failed; trying again", { mapping: mapping.name, attempts, error: outcome.error });
      await ports.pause(waitMs(ports.retries, attempts));
    } else {
      ports.deadLetter({ mapping: mapping.name, attempts, error: outcome.error, record: head });
      settled += 1;
      attempts = 0;
    }
  }
  return settled;
}
