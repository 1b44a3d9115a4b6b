/**
 * The table's stream to its functions, as Lambda's event source mappings do it: each mapping reads for itself, in
 * order, at least once, and one that is stuck holds up no other.
 */
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import type { Log } from "../../shared/kernel/log.ts";
import { connection, type Table } from "../../shared/table/client.ts";
import { oneLine } from "./cannot-start.ts";
import { lambdaContext } from "./gateway-event.ts";
import type { Checkpoint } from "./stream-checkpoint.ts";
import { type DeadLetter, type DeliveryPorts, deliver, type Mapping, type Retries } from "./stream-delivery.ts";
import { type StreamReader, streamOf, streamReader } from "./stream-reader.ts";
import { sequenceOf } from "./stream-record.ts";
import { waker } from "./waker.ts";

export type StreamParts = {
  readonly table: Table;
  readonly endpoint: string;
  readonly mappings: readonly Mapping[];
  readonly checkpoint: (mapping: string) => Checkpoint;
  readonly deadLetter: (letter: DeadLetter) => void;
  readonly log: Log;
  readonly pollMs?: number;
  readonly retries?: Retries;
};

export type Stream = {
  /** Something was written: look at once. */
  readonly nudge: () => void;
  /** How many batches were delivered so far, failed ones included. */
  readonly delivered: () => number;
  /** Returns when the next batch has been delivered. */
  readonly moved: () => Promise<void>;
  /** Returns when every mapping has been delivered all that was written before the call. */
  readonly caughtUp: () => Promise<void>;
  /** Returns when the batches under way have ended. What is left comes with the next start. */
  readonly stop: () => Promise<void>;
};

/** This process nudges after each write; only what another process wrote waits this long. */
const POLL_MS = 250;
const AFTER_TROUBLE_MS = 500;
const SAVE_EVERY_MS = 250;
/** What Lambda gives a function at most; ours end long before. */
const FUNCTION_MS_MAX = 900_000;
/** About twelve seconds: longer than a table process takes to come back. */
const RETRIES: Retries = { attemptsMax: 8, firstMs: 100, maxMs: 5_000 };

function batches(records: readonly DynamoDBRecord[], { filter, batchSize }: Mapping): readonly DynamoDBRecord[][] {
  const matching = records.filter(filter);
  const count = Math.ceil(matching.length / batchSize);
  return Array.from({ length: count }, (_, at) => matching.slice(at * batchSize, (at + 1) * batchSize));
}

/** At most every quarter second: what a lost checkpoint repeats is harmless, a disk flush for each batch is not. */
function sparing(save: () => void): { readonly soon: () => void; readonly now: () => void } {
  let savedAt = Number.NEGATIVE_INFINITY;
  const now = (): void => {
    savedAt = performance.now();
    save();
  };
  return { now, soon: () => (performance.now() - savedAt > SAVE_EVERY_MS ? now() : undefined) };
}

export function startStream(parts: StreamParts): Stream {
  const client = new DynamoDBStreamsClient(connection({ name: parts.table.name, endpoint: parts.endpoint }));
  // It builds a copy of every record for a logger that is not there.
  client.middlewareStack.remove("loggerMiddleware");
  const stopping = new AbortController();
  const wake = waker(stopping.signal);
  const emptyReads = new EmptyReads(parts.mappings.map(({ name }) => name));
  let delivered = 0;
  let movement = Promise.withResolvers<void>();

  const ports = (mapping: Mapping): DeliveryPorts => ({
    log: parts.log,
    context: () => lambdaContext(mapping.name, crypto.randomUUID(), FUNCTION_MS_MAX),
    deadLetter: parts.deadLetter,
    pause: (ms) => wake.pause(ms),
    stopped: () => stopping.signal.aborted,
    retries: parts.retries ?? RETRIES,
  });

  const handOver = async (mapping: Mapping, records: readonly DynamoDBRecord[], reader: StreamReader) => {
    for (const batch of batches(records, mapping)) {
      const settled = await deliver(mapping, batch, ports(mapping));
      delivered += 1;
      movement.resolve();
      movement = Promise.withResolvers();
      const last = batch[settled - 1];
      if (last !== undefined) reader.settle(sequenceOf(last));
      // What a function did is another's news.
      wake.nudge();
      if (settled < batch.length || stopping.signal.aborted) return;
    }
    const last = records.at(-1);
    if (last !== undefined) reader.settle(sequenceOf(last));
  };

  const run = async (mapping: Mapping): Promise<void> => {
    const stream = await untilAnswered(() => streamOf(parts.table), mapping.name);
    if (stream === undefined) return;
    const checkpoint = parts.checkpoint(mapping.name);
    const saved = checkpoint.load();
    // Another stream's numbers mean nothing here: the table was made anew.
    const start = saved?.stream === stream ? saved : { stream, finished: [], shard: null, sequence: null };
    const reader = streamReader(client, start);
    const saving = sparing(() => checkpoint.save(reader.position()));
    while (!stopping.signal.aborted) await turn(mapping, reader, saving);
    saving.now();
  };

  const turn = async (mapping: Mapping, reader: StreamReader, saving: { soon: () => void }): Promise<void> => {
    try {
      const seen = wake.count();
      const reading = emptyReads.begin(mapping.name);
      const records = await reader.next();
      await handOver(mapping, records, reader);
      if (records.length > 0) saving.soon();
      else {
        reading.wasEmpty();
        await wake.idle(parts.pollMs ?? POLL_MS, seen);
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      parts.log.warn("the stream cannot be read; trying again", { mapping: mapping.name, error: oneLine(error) });
      reader.rewind();
      await wake.pause(AFTER_TROUBLE_MS);
    }
  };

  const untilAnswered = async <T>(ask: () => Promise<T>, mapping: string): Promise<T | undefined> => {
    while (!stopping.signal.aborted) {
      try {
        return await ask();
      } catch (error) {
        parts.log.warn("the table does not answer; trying again", { mapping, error: oneLine(error) });
        await wake.pause(AFTER_TROUBLE_MS);
      }
    }
    return undefined;
  };

  const running = Promise.all(parts.mappings.map(run));
  running.catch((error: unknown) => parts.log.error("a stream mapping ended", { error: oneLine(error) }));
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
    client.destroy();
  };
  const caughtUp = (): Promise<void> => {
    const all = emptyReads.next();
    wake.nudge();
    return Promise.race([all, running.then(() => {})]);
  };
  return { nudge: wake.nudge, delivered: () => delivered, moved: () => movement.promise, caughtUp, stop };
}

/** Who waits for each mapping to find nothing more. A read that began before the wait may have missed a write. */
class EmptyReads {
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(mappings: readonly string[]) {
    for (const name of mappings) this.waiting.set(name, new Set());
  }

  begin(mapping: string): { readonly wasEmpty: () => void } {
    const present = [...(this.waiting.get(mapping) ?? [])];
    return {
      wasEmpty: () => {
        for (const done of present) {
          this.waiting.get(mapping)?.delete(done);
          done();
        }
      },
    };
  }

  async next(): Promise<void> {
    await Promise.all([...this.waiting.values()].map((one) => new Promise<void>((done) => one.add(done))));
  }
}
