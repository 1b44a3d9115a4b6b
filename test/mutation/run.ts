/**
 * `npm run mutation [-- --force] [-- --file order.ts]`: are small changes to the engine noticed?
 *
 * One file after the other, and then the score of all: code that can be mutated runs several times as slowly, and where
 * the whole engine is, every test of every mutant does. Stopped half-way, it goes on where it was.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { ENGINE, FILES, PART } from "./stryker.config.ts";

const { values } = parseArgs({ options: { force: { type: "boolean", default: false }, file: { type: "string" } } });
const force = values.force ? ["--force"] : [];

function stryker(args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const command = ["node_modules/.bin/stryker", "run", "test/mutation/stryker.config.ts", ...args];
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) process.exit(status ?? 1);
}

if (values.file !== undefined) stryker(["--mutate", `${ENGINE}/${values.file}`, ...force]);
else {
  for (const [at, name] of FILES.entries()) {
    process.stdout.write(`${name}, ${at + 1} of ${FILES.length}\n`);
    stryker(["--mutate", `${ENGINE}/${name}`, ...force], { [PART]: "1" });
  }
  // Nothing is left to be tried: this counts, shows what was not noticed, and fails below the goal.
  stryker([]);
}
