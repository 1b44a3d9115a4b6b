/** `npm run smoke:github`: whether GitHub does with a real repository what the service counts on. */
import { oneLine } from "./local/cannot-start.ts";
import { readGitHubSmoke, USAGE, UsageError } from "./smoke-github/arguments.ts";
import { smokeGitHub } from "./smoke-github/smoke.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  if (process.argv.length > 2) {
    print(USAGE);
    return process.argv.includes("--help") ? 0 : 2;
  }
  const given = readGitHubSmoke(process.env);
  if (given === undefined) {
    print("Skipped: MAINLINE_GITHUB_APP_ID, …_PRIVATE_KEY and …_REPOSITORY name no repository to try it on (--help).");
    return 0;
  }
  const failed = await smokeGitHub(given, print);
  print(failed === 0 ? "Nothing is broken." : `${failed} of these are broken.`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n${USAGE}\n` : `${oneLine(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
