/** `npm run restore`: a second table with what the first held, and how to switch to it. */
import { type Moment, restore, stampOf } from "./backups.ts";
import { enter, targetOf } from "./stage.ts";
import { parseRestore, type RestoreArguments } from "./stage-arguments.ts";
import { command, print, say } from "./terminal.ts";

function momentOf({ at, backup }: RestoreArguments): Moment {
  if (at !== undefined) return { at };
  return backup === undefined ? "LATEST" : { backup };
}

await command("restore", async (args) => {
  const given = parseRestore(args);
  const target = targetOf(given.stage);
  const { client } = await enter(target);
  const to = given.to ?? `mainline-${target.stage}-${stampOf(new Date())}`;
  say(
    `Restoring ${target.table} to a new table, ${to}. This takes from minutes to hours; nothing that runs is touched.`,
  );
  const stream = await restore(client, { from: target.table, to, moment: momentOf(given) });
  say(`${to} is there. Look at it: npm run token -- list --org <org> --table ${to}`);
  say(
    `To switch, put this into ${target.stage} of infra/config.ts, and then: npm run deploy -- --stage ${target.stage}`,
  );
  print(`table: { name: "${to}", streamArn: "${stream}" },`);
});
