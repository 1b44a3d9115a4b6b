import type { DynamoDBBatchResponse, DynamoDBRecord } from "aws-lambda";
import type { Log } from "../shared/kernel/log.ts";

/**
 * Works on all records of a stream's batch at the same time and names those that failed. The stream comes again from
 * the first of them on, so each must bear being worked on twice; one that never succeeds keeps none of its batch
 * waiting, since those after it are worked on every time, and is a dead letter at last.
 */
export async function eachOf(
  records: readonly DynamoDBRecord[],
  log: Log,
  work: (record: DynamoDBRecord) => Promise<void>,
): Promise<DynamoDBBatchResponse> {
  const failed = await Promise.all(
    records.map(async (record) => {
      try {
        await work(record);
        return [];
      } catch (error) {
        const itemIdentifier = record.dynamodb?.SequenceNumber ?? "";
        log.error("a stream record could not be worked on", { record: itemIdentifier, error: String(error) });
        return [{ itemIdentifier }];
      }
    }),
  );
  return { batchItemFailures: failed.flat() };
}
