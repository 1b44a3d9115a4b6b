/** `npm run token`: organizations and tokens, on a data folder (its server running or not) or on AWS. */
import { existsSync } from "node:fs";
import { silentLog } from "../../shared/kernel/log.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { tokenStore } from "../../shared/table/tokens.ts";
import { CannotStart, oneLine } from "../local/cannot-start.ts";
import { openToolTable } from "../local/data-table.ts";
import { enter, targetOf } from "./stage.ts";
import { parseTokenCommand, type TokenCommand, USAGE, UsageError } from "./token-arguments.ts";
import { type Output, runTokenCommand } from "./token-commands.ts";

type Opened = { readonly table: Table; readonly close: () => Promise<void> };

function onAws(name: string, region: string | undefined): Opened {
  const table = openTable({ name, endpoint: process.env["DYNAMODB_ENDPOINT"], region });
  return { table, close: async () => table.client.destroy() };
}

async function open({ command, data, table, stage }: TokenCommand): Promise<Opened> {
  if (table !== undefined) return onAws(table, undefined);
  if (stage !== undefined) {
    const target = targetOf(stage);
    const { client, region, isDeployed } = await enter(target);
    client.destroy();
    if (!isDeployed)
      throw new CannotStart(`There is no table ${target.table} in ${region}: npm run deploy -- --stage ${stage}.`);
    return onAws(target.table, region);
  }
  // Only `create` makes something of nothing; elsewhere a wrong --data would look like an empty organization.
  if (command !== "create" && !existsSync(data))
    throw new CannotStart(`There is no data folder ${data}: check --data.`);
  return openToolTable({ data, log: { ...silentLog, warn: output.say } });
}

const output: Output = {
  say: (line) => process.stderr.write(`${line}\n`),
  print: (line) => process.stdout.write(`${line}\n`),
};

async function main(args: readonly string[]): Promise<void> {
  if (args.length === 0 || args.includes("--help")) throw new UsageError("say what to do");
  const now = systemClock();
  const command = parseTokenCommand(args, now);
  const { table, close } = await open(command);
  try {
    await runTokenCommand(command, { store: tokenStore(table), now, output });
  } finally {
    await close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  output.say(error instanceof UsageError ? `${error.message}\n${USAGE}` : oneLine(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
