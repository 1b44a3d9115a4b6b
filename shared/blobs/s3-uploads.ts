/**
 * The upload side door on S3: a form, or an address, that was signed beforehand. The grant is the signature itself, so
 * nothing is stored for uploads that never come.
 *
 * What S3 promises less of than the folder on one machine:
 * - Who holds a grant may use it again until it ends, and what came last counts. `If-None-Match: *` would prevent it,
 *   but a form cannot carry it, and of the clients that get an address of a bundle none sends a header that it was not
 *   given. So ids cannot be guessed, each is read for exactly what it was given out for, and a bundle is read once.
 * - An address sets no limit to the size of what is put there: it is read up to its limit, and refused from there on.
 * - A grant ends with the credentials that signed it, which may be before its time.
 */
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { type Clock, type EpochMs, SECOND_MS } from "../kernel/time.ts";
import type { UploadDoor } from "../queue/app/uploads.ts";
import type { BundleDoor } from "../test-health/app/ports.ts";
import { readObject, removeObject } from "./s3-blobs.ts";
import type { Bucket } from "./s3-client.ts";

/** What was granted at most, for reading. */
const BYTES_MAX = { uploads: 20 * 1024 * 1024, bundles: 256 * 1024 * 1024 } as const;

/** Apart, because they are as different in size and in who may read them. */
const folderOf = (uploadId: string): keyof typeof BYTES_MAX => (uploadId.startsWith("bundle-") ? "bundles" : "uploads");
const keyOf = (uploadId: string): string => `${folderOf(uploadId)}/${uploadId}`;

export function uploadsOnS3(bucket: Bucket, clock: Clock): UploadDoor & BundleDoor {
  const secondsUntil = (at: EpochMs): number => Math.max(1, Math.floor((at - clock()) / SECOND_MS));
  return {
    grantUpload: ({ uploadId, maxBytes, expiresAt }) =>
      createPresignedPost(bucket.client, {
        Bucket: bucket.name,
        Key: keyOf(uploadId),
        Conditions: [["content-length-range", 0, maxBytes]],
        Expires: secondsUntil(expiresAt),
      }),
    grantPut: ({ uploadId, expiresAt }) => {
      const put = new PutObjectCommand({ Bucket: bucket.name, Key: keyOf(uploadId) });
      return getSignedUrl(bucket.client, put, { expiresIn: secondsUntil(expiresAt) });
    },
    readUpload: (uploadId) => readObject(bucket, keyOf(uploadId), BYTES_MAX[folderOf(uploadId)]),
    removeUpload: (uploadId) => removeObject(bucket, keyOf(uploadId)),
  };
}
