/** `npm run deploy`: from an account to an address and a token. Run again, it deploys what has changed. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { OrgSlug } from "../../shared/kernel/ids.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { openTable } from "../../shared/table/client.ts";
import { cdk } from "./cdk.ts";
import { firstToken } from "./first-token.ts";
import { addressIn, OUTPUTS } from "./outputs.ts";
import { enter, type Target, targetOf } from "./stage.ts";
import { parseDeploy } from "./stage-arguments.ts";
import { command, print, say } from "./terminal.ts";

async function showToken({ stage, table: name }: Target, region: string, org: OrgSlug, address: string): Promise<void> {
  const table = openTable({ name, endpoint: process.env["DYNAMODB_ENDPOINT"], region });
  const token = await firstToken(table, org, systemClock());
  table.client.destroy();
  if (token === undefined) {
    say(`Organization ${org} has its tokens; another one: npm run token -- create --stage ${stage} --org ${org}`);
    return;
  }
  say(`The admin token of organization ${org} is the last line. It is shown this once; try it:`);
  say(`npm run smoke -- --url ${address} --org ${org} --token <token>`);
  print(token);
}

await command("deploy", async (args) => {
  const given = parseDeploy(args);
  const target = targetOf(given.stage);
  const { region, isDeployed, client } = await enter(target);
  client.destroy();
  say(`Deploying stage ${target.stage} to ${region}.`);
  if (!isDeployed && !given["no-bootstrap"]) {
    say("This is its first deployment: preparing account and region for the CDK, which changes nothing if they are.");
    await cdk(target.stage, region, ["bootstrap"]);
  }
  mkdirSync(OUTPUTS, { recursive: true });
  const file = join(OUTPUTS, `${target.stage}.json`);
  const approval = given.yes ? ["--require-approval", "never"] : [];
  await cdk(target.stage, region, ["deploy", "--all", "--outputs-file", file, ...approval]);
  const address = addressIn(file);
  print(`Mainline (${target.stage}) answers at ${address}`);
  await showToken(target, region, given.org, address);
});
