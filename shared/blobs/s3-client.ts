import { S3Client } from "@aws-sdk/client-s3";
import { Unavailable } from "../kernel/unavailable.ts";

export type Bucket = { readonly client: S3Client; readonly name: string };

export type BucketAddress = {
  readonly name: string;
  /** Absent on AWS, where the SDK finds endpoint, region and credentials itself. */
  readonly endpoint?: string | undefined;
};

/** A stand-in takes any credentials but wants some; over plain HTTP real ones would travel readable. */
const LOCAL = { region: "local", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

export function openBucket({ name, endpoint }: BucketAddress): Bucket {
  const client = new S3Client({
    // Else a signed address would hold the checksum of the empty body that was there when it was signed.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 20_000, throwOnRequestTimeout: true },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(endpoint?.startsWith("http://") === true ? LOCAL : {}),
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw isOutage(error) ? new Unavailable("the bucket throttles or does not answer", { cause: error }) : error;
      }
    },
    { step: "initialize", priority: "high", name: "outages" },
  );
  return { client, name };
}

const OUTAGES = new Set([
  "SlowDown",
  "InternalError",
  "ServiceUnavailable",
  "RequestTimeout",
  "TimeoutError",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
]);

function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return OUTAGES.has(error.name) || OUTAGES.has(code);
}
