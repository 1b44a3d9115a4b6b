/** Woken by effects in the outbox: performs them, those of one batch at the same time. */
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { perform } from "../../shared/queue/app/perform.ts";
import { effectOfRecord } from "../../shared/table/stream.ts";
import { withBucket } from "../bucket.ts";
import { eachOf } from "../stream-batch.ts";
import { wired } from "../wiring.ts";
import { withGitHub } from "../with-github.ts";
import { work } from "../work.ts";

// In no order: each bears coming late, twice, and after those that followed it.
export const handler = work(
  wired,
  (app, { Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> =>
    eachOf(Records, app.log, async (record) => {
      const { key, effect } = effectOfRecord(record);
      await perform(app, key, effect);
    }),
  withGitHub(withBucket),
);
