/** `npm run smoke`: whether a deployment answers as it should, and how its gateway behaves where nobody can know. */
import { oneLine } from "./local/cannot-start.ts";
import { parseSmokeArguments, USAGE, UsageError } from "./smoke/arguments.ts";
import { smoke } from "./smoke/smoke.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  const failed = await smoke(parseSmokeArguments(process.argv.slice(2)), print, (verdict, name, said) =>
    print(`${verdict}  ${name}: ${said}`),
  );
  print(failed === 0 ? "Nothing is broken." : `${failed} of these are broken.`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n${USAGE}\n` : `${oneLine(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
