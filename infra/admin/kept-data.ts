/** What a stack does not delete by itself: what is in its bucket, and a table that is not its own. */
import {
  DeleteTableCommand,
  type DynamoDBClient,
  UpdateTableCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { DeleteObjectsCommand, ListBucketsCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { CannotStart } from "../local/cannot-start.ts";
import { stackNameOf } from "./stage.ts";

/** Point-in-time recovery leaves a backup of its own for 35 days. */
export async function deleteTable(client: DynamoDBClient, TableName: string): Promise<void> {
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await waitUntilTableExists({ client, maxWaitTime: 300 }, { TableName });
  await client.send(new DeleteTableCommand({ TableName }));
}

/** CloudFormation names a bucket for its stack and its construct, and adds digits of its own. */
export async function bucketOf(s3: S3Client, stage: string): Promise<string | undefined> {
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({ Prefix: `${stackNameOf(stage, "data")}-bucket` }));
  const [only, ...others] = Buckets.flatMap(({ Name }) => Name ?? []);
  if (others.length > 0)
    throw new CannotStart(
      `Several buckets could be the stage's; delete by hand which it is: ${[only, ...others].join(", ")}`,
    );
  return only;
}

/** A stack cannot delete a bucket that holds something. Answers how many there were. */
export async function emptyBucket(s3: S3Client, Bucket: string): Promise<number> {
  let removed = 0;
  for (;;) {
    // Always the first page: what it listed is gone by the next time.
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
    const Objects = Contents.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
    if (Objects.length === 0) return removed;
    const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
    const [first] = Errors;
    if (first !== undefined)
      throw new CannotStart(`${Bucket} cannot be emptied: ${first.Message ?? first.Code ?? "?"}`);
    removed += Objects.length;
  }
}
