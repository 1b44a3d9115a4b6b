/** Backups of a table, and second tables made of them. */
import {
  BackupStatus,
  type BackupSummary,
  CreateBackupCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ListBackupsCommand,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { tableDefinition, TTL_ATTRIBUTE } from "../../shared/table/table-definition.ts";
import { CannotStart } from "../local/cannot-start.ts";

/** `20270131-120000`, for names. */
export const stampOf = (at: Date): string =>
  at
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/gu, "")
    .replace("T", "-");

export async function makeBackup(client: DynamoDBClient, TableName: string, now: Date): Promise<string> {
  const BackupName = `${TableName}-${stampOf(now)}`;
  const { BackupDetails } = await client.send(new CreateBackupCommand({ TableName, BackupName }));
  return BackupDetails?.BackupArn ?? BackupName;
}

/** Oldest first, of all kinds. */
export async function listBackups(client: DynamoDBClient, TableName: string): Promise<readonly BackupSummary[]> {
  const all: BackupSummary[] = [];
  let from: string | undefined;
  do {
    const page = await client.send(
      new ListBackupsCommand({ TableName, BackupType: "ALL", ExclusiveStartBackupArn: from }),
    );
    all.push(...(page.BackupSummaries ?? []));
    from = page.LastEvaluatedBackupArn;
  } while (from !== undefined);
  return all.filter(({ BackupStatus: status }) => status !== BackupStatus.DELETED);
}

/** From when until when the table can be restored as it was; undefined where it keeps no such record. */
export async function restorable(client: DynamoDBClient, TableName: string) {
  const { ContinuousBackupsDescription } = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  return earliest === undefined || latest === undefined ? undefined : { earliest, latest };
}

export type Moment = { readonly at: Date } | { readonly backup: string } | "LATEST";

export type Restoring = { readonly from: string; readonly to: string; readonly moment: Moment };

async function begin(client: DynamoDBClient, { from, to, moment }: Restoring): Promise<void> {
  if (moment !== "LATEST" && "backup" in moment) {
    await client.send(new RestoreTableFromBackupCommand({ BackupArn: moment.backup, TargetTableName: to }));
    return;
  }
  const when = moment === "LATEST" ? { UseLatestRestorableTime: true } : { RestoreDateTime: moment.at };
  await client.send(new RestoreTableToPointInTimeCommand({ SourceTableName: from, TargetTableName: to, ...when }));
}

const RESTORE_SECONDS_MAX = 24 * 3600;

/**
 * A restored table has the items and the keys, and none of the rest: its stream, its expiry, its own record for being
 * restored, and its protection are turned on here, one after the other, since a table takes one change at a time.
 * Answers the ARN of its stream.
 */
export async function restore(client: DynamoDBClient, restoring: Restoring): Promise<string> {
  const TableName = restoring.to;
  const settled = (): Promise<unknown> =>
    waitUntilTableExists({ client, maxWaitTime: RESTORE_SECONDS_MAX, minDelay: 2, maxDelay: 20 }, { TableName });
  await begin(client, restoring);
  await settled();
  const { StreamSpecification } = tableDefinition(TableName);
  await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
  await settled();
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
  await settled();
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TTL_ATTRIBUTE };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.LatestStreamArn === undefined) throw new CannotStart(`${TableName} is restored, but has no stream.`);
  return Table.LatestStreamArn;
}
