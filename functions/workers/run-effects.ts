/** Woken by effects in the outbox: performs them, those of one batch at the same time. */
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { perform } from "../../shared/queue/app/perform.ts";
import { effectOfRecord } from "../../shared/table/stream.ts";
import { wiring } from "../wiring.ts";

export async function handler(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  const failed = await Promise.all(event.Records.map(failureOf));
  return { batchItemFailures: failed.flatMap((one) => one ?? []) };
}

async function failureOf(record: DynamoDBRecord): Promise<{ itemIdentifier: string } | undefined> {
  const { log } = wiring();
  try {
    const { key, effect } = effectOfRecord(record);
    await perform(wiring(), key, effect);
    return undefined;
  } catch (error) {
    log.error("an effect could not be worked on", { error: String(error) });
    return { itemIdentifier: record.dynamodb?.SequenceNumber ?? "" };
  }
}
