/** Large values beside the table, on S3. */
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, PutObjectCommand } from "@aws-sdk/client-s3";
import * as z from "zod";
import type { BlobStore } from "../queue/app/ports.ts";
import type { Bucket } from "./s3-client.ts";

/** No set of targets that a request or an upload may bring is larger, as hashes. */
const BLOB_BYTES_MAX = 256 * 1024 * 1024;

export const blobsOnS3 = (bucket: Bucket): BlobStore => ({
  // Also where it is there: bytes under their digest are the same, and their time in the bucket begins anew.
  put: async (Key, Body) => {
    await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
  },
  get: (key) => readObject(bucket, key, BLOB_BYTES_MAX),
});

const byteStream = z.custom<AsyncIterable<Uint8Array>>(
  (body) => typeof body === "object" && body !== null && Symbol.asyncIterator in body,
);

/**
 * At most `bytesMax` + 1 bytes: enough to see that it was too much, never more memory than that. Undefined where
 * nothing is; S3 says so only to whoever may list the bucket, and refuses everybody else.
 */
export async function readObject(bucket: Bucket, Key: string, bytesMax: number): Promise<Buffer | undefined> {
  const body = await bodyOf(bucket, Key);
  if (body === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > bytesMax) break;
  }
  return Buffer.concat(chunks, Math.min(length, bytesMax + 1));
}

async function bodyOf({ client, name }: Bucket, Key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key }));
    return byteStream.parse(Body);
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** Nothing happens where nothing is. */
export async function removeObject({ client, name }: Bucket, Key: string): Promise<void> {
  await client.send(new DeleteObjectCommand({ Bucket: name, Key }));
}
