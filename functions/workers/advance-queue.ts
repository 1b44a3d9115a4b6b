/** Woken by facts in the inbox: advances each queue once, however many there are. */
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { queueLabel } from "../../shared/kernel/ids.ts";
import { advanceOrDegrade } from "../../shared/queue/app/advance.ts";
import { queueOfRecord } from "../../shared/table/stream.ts";
import { wiring } from "../wiring.ts";

export async function handler(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  const app = wiring();
  const queues = new Map(event.Records.map(queueOfRecord).map((key) => [queueLabel(key), key]));
  // A queue that fails is marked and left to the sweep: it must not hold the stream up for the others.
  await Promise.all([...queues.values()].map((key) => advanceOrDegrade(app, key)));
  return { batchItemFailures: [] };
}
