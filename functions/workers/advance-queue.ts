/** Woken by facts in the inbox: advances each queue once, however many there are. */
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { type QueueKey, queueLabel } from "../../shared/kernel/ids.ts";
import { advanceOrDegrade } from "../../shared/queue/app/advance.ts";
import { queueOfRecord } from "../../shared/table/stream.ts";
import { queueSide } from "../queue-side.ts";
import { eachOf } from "../stream-batch.ts";
import { work } from "../work.ts";

export const handler = work(
  queueSide,
  async (app, { Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const advanced = new Map<string, Promise<void>>();
    // A queue that fails is marked and left to the sweep: it must not hold the stream up for the others.
    const once = (key: QueueKey): Promise<void> => {
      const label = queueLabel(key);
      const begun = advanced.get(label) ?? advanceOrDegrade(app, key);
      advanced.set(label, begun);
      return begun;
    };
    return eachOf(Records, app.log, async (record) => once(queueOfRecord(record)));
  },
);
