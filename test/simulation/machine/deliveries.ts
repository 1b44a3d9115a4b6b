/**
 * The table's stream on its way to the workers: new items in the inbox and the outbox, each of which may be lost, come
 * twice, late, in another order, and together with others. What a worker fails on comes again, for a while.
 */
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { insertsOf, sequenceOf, toLambdaRecord } from "../../../infra/local/stream-record.ts";
import type { Random } from "../../crash/random.ts";
import type { Faults } from "./faults.ts";
import type { Outcome } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import { type Item, textOf, type Written } from "./written.ts";

export type StreamWorker = {
  readonly name: string;
  readonly skPrefix: string;
  readonly handler: (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;
};

type Letter = { readonly record: DynamoDBRecord; attempts: number; isDone: boolean };

export type DeliveryPorts = {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly random: Random;
  readonly run: (worker: StreamWorker, event: DynamoDBStreamEvent) => Promise<Outcome<DynamoDBBatchResponse>>;
};

const ATTEMPTS_MAX = 6;
const BATCH_MAX = 25;

export class Deliveries {
  private readonly workers: readonly StreamWorker[];
  private readonly ports: DeliveryPorts;
  private readonly waiting = new Map<StreamWorker, Set<Letter>>();
  /** Items of the inbox and the outbox that are there: writing one again is no insertion. */
  private readonly present = new Set<string>();
  private sequence = 0;

  constructor(workers: readonly StreamWorker[], ports: DeliveryPorts) {
    this.workers = workers;
    this.ports = ports;
    for (const worker of workers) this.waiting.set(worker, new Set());
  }

  written({ puts, removed }: Written): void {
    for (const key of removed) this.present.delete(nameOf(key));
    for (const item of puts) {
      const isNew = !this.present.has(nameOf(item));
      if (!this.workers.some((worker) => textOf(item, "sk").startsWith(worker.skPrefix))) continue;
      this.present.add(nameOf(item));
      this.post(item, isNew ? "INSERT" : "MODIFY");
    }
  }

  private post(item: Item, eventName: "INSERT" | "MODIFY"): void {
    const SequenceNumber = String((this.sequence += 1));
    const { pk, sk } = item;
    const Keys = { ...(pk && { pk }), ...(sk && { sk }) };
    const record = toLambdaRecord(
      { eventName, dynamodb: { Keys, NewImage: { ...item }, SequenceNumber } },
      "simulated",
    );
    const { faults } = this.ports;
    for (const worker of this.workers) {
      if (!insertsOf(worker.skPrefix)(record) || faults.happens("stream: lost")) continue;
      const copies = faults.happens("stream: doubled") ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1)
        this.send(worker, { record, attempts: 0, isDone: false }, this.delay());
    }
  }

  private delay(): number {
    const { faults, random } = this.ports;
    return faults.happens("stream: late") ? random.int(2_000, 180_000) : random.int(5, 250);
  }

  private send(worker: StreamWorker, letter: Letter, delay: number): void {
    this.waiting.get(worker)?.add(letter);
    this.ports.scheduler.after(delay, () => void this.hand(worker, letter));
  }

  /** It is its turn; now and then others that wait come along, in any order. */
  private async hand(worker: StreamWorker, first: Letter): Promise<void> {
    const waiting = this.waiting.get(worker) ?? new Set();
    if (!waiting.has(first)) return;
    const { random } = this.ports;
    const others = [...waiting].filter((one) => one !== first && random.chance(0.3));
    const batch = random.shuffled([first, ...others]).slice(0, BATCH_MAX);
    for (const letter of batch) waiting.delete(letter);
    const outcome = await this.ports.run(worker, { Records: batch.map((one) => one.record) });
    const left = outcome.kind === "ANSWERED" ? failedOf(batch, outcome.value) : batch;
    for (const letter of left) {
      letter.attempts += 1;
      if (letter.attempts < ATTEMPTS_MAX) this.send(worker, letter, 200 * 2 ** letter.attempts);
    }
  }
}

const nameOf = (item: Item): string => `${textOf(item, "pk")} ${textOf(item, "sk")}`;

/** From the first that failed on: those behind it come again, whatever was said of them. */
function failedOf(batch: readonly Letter[], { batchItemFailures }: DynamoDBBatchResponse): readonly Letter[] {
  const failed = new Set(batchItemFailures.map((one) => one.itemIdentifier));
  const first = batch.findIndex((one) => failed.has(sequenceOf(one.record)));
  return first < 0 ? [] : batch.slice(first);
}
