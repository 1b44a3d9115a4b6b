/** How a command tells its end: what is asked for on stdout, everything else on stderr, no stacks. */
import { oneLine } from "../local/cannot-start.ts";
import { type CommandName, USAGES } from "./stage-arguments.ts";
import { UsageError } from "./token-arguments.ts";

export const say = (line: string): void => void process.stderr.write(`${line}\n`);
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function command(name: CommandName, work: (args: readonly string[]) => Promise<void>): Promise<void> {
  try {
    const args = process.argv.slice(2);
    if (args.includes("--help")) throw new UsageError(`npm run ${name}`);
    await work(args);
  } catch (error) {
    say(error instanceof UsageError ? `${error.message}\n${USAGES[name]}` : oneLine(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
