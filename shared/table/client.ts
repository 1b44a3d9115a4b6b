import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** The table as everything that stores sees it. `client` speaks plain JavaScript values. */
export type Table = { readonly client: DynamoDBDocumentClient; readonly name: string };

export type TableAddress = {
  readonly name: string;
  /** Absent on AWS, where the SDK finds endpoint, region and credentials itself. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
};

/**
 * An embedded or local table takes any credentials but wants some; over plain HTTP real ones would travel readable,
 * so none are looked for there.
 */
const LOCAL_CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

/** How both clients of a table (documents and its stream) connect. */
export function connection(address: TableAddress): DynamoDBClientConfig {
  const local = address.endpoint?.startsWith("http://") ?? false;
  const agent = { keepAlive: true, maxSockets: 200 };
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
    ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint }),
    ...(address.region === undefined ? (local ? { region: "local" } : {}) : { region: address.region }),
    ...(local ? { credentials: LOCAL_CREDENTIALS } : {}),
  };
}

/**
 * Note for conditional writes: an attempt whose answer was lost is repeated by the SDK, and then fails on its own
 * first write. A transaction is safe (the SDK sends one token with all attempts); a lone conditional put whose failure
 * matters compares what is stored with what it meant to write.
 */
export function openTable(address: TableAddress): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(connection(address)), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { client, name: address.name };
}
