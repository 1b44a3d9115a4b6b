/** Where the App of a service is kept, and its table: a data folder of this machine, or a stage on AWS. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { type GitHubAppSecret, gitHubAppOf, isEmpty } from "../../shared/code-host/github/app-secret.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { CannotStart, oneLine } from "../local/cannot-start.ts";
import { openToolTable } from "../local/data-table.ts";
import { gitHubAppPath, readGitHubApp, writeGitHubApp } from "../local/github-app.ts";
import { addressIn, OUTPUTS } from "./outputs.ts";
import { enter, targetOf } from "./stage.ts";
import { say } from "./terminal.ts";

export type AppPlace = {
  /** In words. */
  readonly where: string;
  /** What is said to every command that means this place. */
  readonly option: string;
  /** Where GitHub reaches the service, as far as it is known here. */
  readonly url: () => string | undefined;
  readonly read: () => Promise<GitHubAppSecret | undefined>;
  readonly write: (app: GitHubAppSecret) => Promise<void>;
  readonly openTable: () => Promise<{ readonly table: Table; readonly close: () => Promise<void> }>;
  /** When a service that runs has it. */
  readonly taken: string;
};

export const inFolder = (data: string): AppPlace => ({
  where: gitHubAppPath(data),
  option: data === ".data" ? "" : ` --data ${data}`,
  url: () => undefined,
  read: async () => readGitHubApp(data),
  write: async (app) => {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    writeGitHubApp(data, app);
  },
  openTable: () => openToolTable({ data, log: { ...silentLog, warn: say } }),
  taken: "Restart a service that runs without it.",
});

export async function onStage(stage: string): Promise<AppPlace> {
  const target = targetOf(stage);
  const { client, region, isDeployed } = await enter(target);
  client.destroy();
  const deploy = `npm run deploy -- --stage ${stage}`;
  if (!isDeployed) throw new CannotStart(`There is no table ${target.table} in ${region}: ${deploy}.`);
  const SecretId = `mainline-${stage}-github-app`;
  const secrets = new SecretsManagerClient({ region, maxAttempts: 2 });
  const where = `the secret ${SecretId} in ${region}`;
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ResourceNotFoundException)
        throw new CannotStart(`There is no secret ${SecretId} in ${region}: ${deploy}.`, { cause: error });
      throw new CannotStart(`AWS does not let us at ${where}: ${oneLine(error)}`, { cause: error });
    }
  };
  await asked(() => secrets.send(new DescribeSecretCommand({ SecretId })));
  return {
    where,
    option: ` --stage ${stage}`,
    url: () => addressOf(stage),
    read: async () => {
      const text = await valueOf(secrets, SecretId, asked);
      const app = text === undefined ? undefined : gitHubAppOf(text);
      if (text !== undefined && app === undefined)
        throw new CannotStart(`${where} holds something that is no GitHub App: look at it before it is overwritten.`);
      return app;
    },
    write: async (app) => {
      const SecretString = JSON.stringify(app);
      await asked(() => secrets.send(new PutSecretValueCommand({ SecretId, SecretString })));
    },
    openTable: async () => {
      const table = openTable({ name: target.table, endpoint: process.env["DYNAMODB_ENDPOINT"], region });
      return { table, close: async () => table.client.destroy() };
    },
    taken: "The service takes it within some minutes.",
  };
}

type Asked = <T>(work: () => Promise<T>) => Promise<T>;

/** That the secret is there is known: what is not found is a value. */
async function valueOf(secrets: SecretsManagerClient, SecretId: string, asked: Asked): Promise<string | undefined> {
  return asked(async () => {
    try {
      const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId }));
      return isEmpty(SecretString) ? undefined : SecretString;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  });
}

/** The service's own paths begin with the version. */
function addressOf(stage: string): string | undefined {
  const file = join(OUTPUTS, `${stage}.json`);
  return existsSync(file) ? addressIn(file).replace(/\/v1$/u, "") : undefined;
}
