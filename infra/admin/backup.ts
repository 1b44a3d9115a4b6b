/** `npm run backup`: a backup of a deployment's table, or a list of those there are. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { listBackups, makeBackup, restorable } from "./backups.ts";
import { enter, targetOf } from "./stage.ts";
import { parseBackup } from "./stage-arguments.ts";
import { command, print, say } from "./terminal.ts";

const time = (at: Date | undefined): string => at?.toISOString() ?? "?";

async function list(client: DynamoDBClient, table: string): Promise<void> {
  const window = await restorable(client, table);
  say(
    window === undefined
      ? `${table} keeps no record of its past: point-in-time recovery is off.`
      : `${table} can be restored as it was at any time from ${time(window.earliest)} until ${time(window.latest)}.`,
  );
  for (const { BackupArn, BackupCreationDateTime, BackupSizeBytes, BackupType } of await listBackups(client, table))
    print([BackupArn, time(BackupCreationDateTime), `${BackupSizeBytes ?? 0} bytes`, BackupType].join("\t"));
}

await command("backup", async (args) => {
  const given = parseBackup(args);
  const { table, ...target } = targetOf(given.stage);
  const { client } = await enter({ ...target, table });
  if (given.list) return list(client, table);
  const arn = await makeBackup(client, table, new Date());
  say(`A backup of ${table} is being made; it holds the table as of about now. Its name for npm run restore:`);
  print(arn);
});
