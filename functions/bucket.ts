/** For functions that read or write large values. All others are bundled without S3's client. */
import { openBucket } from "../shared/blobs/s3-client.ts";
import { blobsOnS3 } from "../shared/blobs/s3-blobs.ts";
import { uploadsOnS3 } from "../shared/blobs/s3-uploads.ts";
import { systemClock } from "../shared/kernel/time.ts";
import { BUCKET, readEnvironment, SERVICE } from "./environment.ts";
import { type PartsOf, tableOnly } from "./parts.ts";

export const withBucket: PartsOf = (variables) => {
  const { MAINLINE_BUCKET, MAINLINE_S3_ENDPOINT } = readEnvironment(SERVICE.extend(BUCKET.shape), variables);
  const bucket = openBucket({ name: MAINLINE_BUCKET, endpoint: MAINLINE_S3_ENDPOINT });
  return { ...tableOnly(variables), blobs: blobsOnS3(bucket), uploads: uploadsOnS3(bucket, systemClock) };
};
