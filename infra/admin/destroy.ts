/** `npm run destroy`: removes what was deployed, and data only where it is said twice. */
import { S3Client } from "@aws-sdk/client-s3";
import { cdk } from "./cdk.ts";
import { bucketOf, deleteBucket, deleteTable, emptyBucket } from "./retained-data.ts";
import { enter, targetOf } from "./stage.ts";
import { checkDestroy, parseDestroy } from "./stage-arguments.ts";
import { command, say } from "./terminal.ts";

await command("destroy", async (args) => {
  const given = parseDestroy(args);
  const target = targetOf(given.stage);
  checkDestroy(given, target.keepsData);
  const { client, region, isDeployed } = await enter(target);
  const s3 = new S3Client({ region });
  const bucket = await bucketOf(s3, target.stage);
  // Before its stack: a stack that does not keep its bucket cannot delete a full one.
  if (!target.keepsData && bucket !== undefined) say(`${bucket}: ${await emptyBucket(s3, bucket)} objects removed.`);
  const force = given["yes-i-mean"] === undefined ? [] : ["--force"];
  await cdk(target.stage, region, ["destroy", "--all", ...force]);
  if (!target.keepsData) return say("Nothing is left.");
  if (!given["delete-data"]) {
    say(`Table ${target.table}${bucket === undefined ? "" : ` and bucket ${bucket}`} are kept. To remove them, too:`);
    return say(`npm run destroy -- --stage ${target.stage} --delete-data --yes-i-mean ${target.stage}`);
  }
  if (isDeployed) await deleteTable(client, target.table);
  if (bucket !== undefined) {
    say(`${bucket}: ${await emptyBucket(s3, bucket)} objects removed.`);
    await deleteBucket(s3, bucket);
  }
  say("Nothing is left but the backups that were made by hand, and for 35 days the table's own last one.");
});
