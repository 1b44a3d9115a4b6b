/** What every command on a deployment begins with: its stage's settings, and an AWS account that lets it in. */
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { connection } from "../../shared/table/client.ts";
import { ConfigError, settingsOf } from "../config.ts";
import { CannotStart, oneLine } from "../local/cannot-start.ts";

export type Target = {
  readonly stage: string;
  /** The table's name. */
  readonly table: string;
  /** Absent: the one of the environment or of the profile. */
  readonly region: string | undefined;
  /** Table and bucket outlive the stacks. */
  readonly keepsData: boolean;
  /** The table is one that a backup was restored to. */
  readonly isRestored: boolean;
};

export const stackNameOf = (stage: string, stack: string): string => `mainline-${stage}-${stack}`;

export function targetOf(stage: string): Target {
  try {
    const { region, keepsData, table } = settingsOf(stage);
    return { stage, table: table?.name ?? `mainline-${stage}`, region, keepsData, isRestored: table !== undefined };
  } catch (error) {
    throw error instanceof ConfigError ? new CannotStart(error.message) : error;
  }
}

export type Account = {
  readonly client: DynamoDBClient;
  readonly region: string;
  /** There is a table already: it is not the first deployment. */
  readonly isDeployed: boolean;
};

/** Everything that can be wrong before anything is made, each in one line. */
export async function enter(target: Target, env: NodeJS.ProcessEnv = process.env): Promise<Account> {
  const client = new DynamoDBClient({
    ...connection({ name: target.table, endpoint: env["DYNAMODB_ENDPOINT"], region: target.region }),
    maxAttempts: 2,
  });
  const region = await asked(() => client.config.region(), NO_REGION);
  await asked(() => client.config.credentials(), NO_CREDENTIALS);
  return { client, region, isDeployed: await exists(client, target.table, region) };
}

const NO_REGION =
  "No region: set AWS_REGION (or a profile's, by AWS_PROFILE), or region of this stage in infra/config.ts.";
const NO_CREDENTIALS =
  "No AWS credentials: set AWS_PROFILE (after aws sso login, say), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";

async function asked<T>(question: () => Promise<T>, otherwise: string): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw new CannotStart(otherwise, { cause: error });
  }
}

async function exists(client: DynamoDBClient, table: string, region: string): Promise<boolean> {
  try {
    await client.send(new DescribeTableCommand({ TableName: table }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    throw new CannotStart(inWords(error, region), { cause: error });
  }
}

const REFUSED = new Set([
  "UnrecognizedClientException",
  "InvalidSignatureException",
  "ExpiredTokenException",
  "InvalidClientTokenId",
  "IncompleteSignatureException",
]);

function inWords(error: unknown, region: string): string {
  const name = error instanceof Error ? error.name : "";
  if (REFUSED.has(name)) return `AWS does not take these credentials (${name}): log in again, or choose other ones.`;
  if (name === "AccessDeniedException")
    return `These credentials may not even look at the table (dynamodb:DescribeTable): ${oneLine(error)}`;
  return `AWS cannot be reached in ${region}: ${oneLine(error)}`;
}
