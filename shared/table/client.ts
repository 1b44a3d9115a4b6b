import { DynamoDBClient, type DynamoDBClientConfig, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Unavailable } from "../kernel/unavailable.ts";

/** The table as everything that stores sees it. `client` speaks plain JavaScript values. */
export type Table = { readonly client: DynamoDBDocumentClient; readonly name: string };

export type TableAddress = {
  readonly name: string;
  /**
   * A URL, or `unix:<path>` of a table behind a Unix socket. Absent on AWS, where the SDK finds endpoint, region and
   * credentials itself.
   */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
};

/**
 * An embedded or local table takes any credentials but wants some; over plain HTTP real ones would travel readable,
 * so none are looked for there.
 */
const LOCAL_CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

/** In the place of a signature. The embedded table looks for one, and does not look at it. */
const UNSIGNED = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20240101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
  "x-amz-date": "20240101T000000Z",
};

/** Behind a socket of its owner's alone nobody checks a signature, and to make one is a good part of a call. */
const noSigner: Extract<NonNullable<DynamoDBClientConfig["signer"]>, { readonly sign: unknown }> = {
  sign: async (request) => ({ ...request, headers: { ...request.headers, ...UNSIGNED } }),
};

/** How both clients of a table (documents and its stream) connect. */
export function connection(address: TableAddress): DynamoDBClientConfig {
  const socketPath = /^unix:(?<path>.+)$/u.exec(address.endpoint ?? "")?.groups?.["path"];
  const endpoint = socketPath === undefined ? address.endpoint : "http://localhost";
  const local = endpoint?.startsWith("http://") ?? false;
  const agent = { keepAlive: true, maxSockets: 200, ...(socketPath === undefined ? {} : { socketPath }) };
  return {
    // An embedded table that is started anew refuses connections for some 100 ms; six attempts outlast that.
    maxAttempts: 6,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 5_000,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(address.region === undefined ? (local ? { region: "local" } : {}) : { region: address.region }),
    ...(local ? { credentials: LOCAL_CREDENTIALS } : {}),
    ...(socketPath === undefined ? {} : { signer: noSigner }),
  };
}

/**
 * Note for conditional writes: an attempt whose answer was lost is repeated by the SDK, and then fails on its own
 * first write. A transaction is safe (the SDK sends one token with all attempts); a lone conditional put whose failure
 * matters compares what is stored with what it meant to write.
 */
export function openTable(address: TableAddress): Table {
  const base = new DynamoDBClient(connection(address));
  // It builds a copy of every input and output for a logger that is not there.
  base.middlewareStack.remove("loggerMiddleware");
  // Around the SDK's own retries: what is thrown here is what is left after all of them.
  base.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw isOutage(error) ? new Unavailable("the table throttles or does not answer", { cause: error }) : error;
      }
    },
    { step: "initialize", priority: "high", name: "outages" },
  );
  const client = DynamoDBDocumentClient.from(base, { marshallOptions: { removeUndefinedValues: true } });
  return { client, name: address.name };
}

const OUTAGES = new Set([
  "ProvisionedThroughputExceededException",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "ThrottlingException",
  "ThrottlingError",
  "InternalServerError",
  "ServiceUnavailable",
  "TransactionInProgressException",
  // A lone write met a transaction on its item, which is over in a moment.
  "TransactionConflictException",
  "TimeoutError",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  // The socket of a table that was stopped.
  "ENOENT",
]);

function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  return OUTAGES.has(error.name) || OUTAGES.has(code) || reasons.some((reason) => OUTAGES.has(reason.Code ?? ""));
}
