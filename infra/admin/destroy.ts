/** `npm run destroy`: removes what was deployed, and data only where it is said twice. */
import { S3Client } from "@aws-sdk/client-s3";
import { cdk } from "./cdk.ts";
import { bucketOf, deleteTable, emptyBucket } from "./kept-data.ts";
import { enter, stackNameOf, type Target, targetOf } from "./stage.ts";
import { checkDestroy, parseDestroy } from "./stage-arguments.ts";
import { command, say } from "./terminal.ts";

/** Whatever can be deployed again as it was. */
async function destroyFunctions({ stage }: Target, region: string, isMeant: boolean): Promise<void> {
  const stacks = ["observability", "api", "workers"].map((stack) => stackNameOf(stage, stack));
  await cdk(stage, region, ["destroy", ...stacks, ...(isMeant ? ["--force"] : [])]);
  say(`The stack ${stackNameOf(stage, "data")} is kept, with table and bucket: npm run deploy goes on where it was.`);
  say(`To remove that, too: npm run destroy -- --stage ${stage} --delete-data --yes-i-mean ${stage}`);
}

/** A stack that protects its data is told first that it is meant, and cannot delete a bucket that holds something. */
async function destroyAll({ stage, keepsData }: Target, region: string): Promise<void> {
  const meant = ["--context", `deletesData=${stage}`];
  if (keepsData) await cdk(stage, region, ["deploy", stackNameOf(stage, "data"), "--exclusively", ...meant]);
  const s3 = new S3Client({ region });
  const bucket = await bucketOf(s3, stage);
  if (bucket !== undefined) say(`${bucket}: ${await emptyBucket(s3, bucket)} objects removed.`);
  await cdk(stage, region, ["destroy", "--all", "--force", ...meant]);
}

await command("destroy", async (args) => {
  const given = parseDestroy(args);
  const target = targetOf(given.stage);
  checkDestroy(given, target.keepsData);
  const { client, region, isDeployed } = await enter(target);
  if (target.keepsData && !given["delete-data"])
    return destroyFunctions(target, region, given["yes-i-mean"] !== undefined);
  await destroyAll(target, region);
  // A table that a backup was restored to is in no stack.
  if (target.isRestored && isDeployed) await deleteTable(client, target.table);
  say("Nothing is left but backups: those made by hand, and for 35 days the one that the table leaves by itself.");
});
