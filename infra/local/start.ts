/** `npm start`: the service on this machine. */
import { CannotStart, oneLine } from "./cannot-start.ts";
import { type LocalServer, startLocal } from "./local-server.ts";
import { ownRepositories } from "./own-repositories.ts";
import { parseStartArguments } from "./start-arguments.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** npm passes a Ctrl-C on as a second signal; only one that comes later means "now". */
const INSIST_AFTER_MS = 1_000;
/** What does not end by then is left to the next start, which copes with worse. */
const STOP_MS_MAX = 30_000;

function stopOnSignal(server: LocalServer): void {
  let since: number | undefined;
  const stop = async (): Promise<void> => {
    setTimeout(() => process.exit(1), STOP_MS_MAX);
    await server.stop();
    process.exit(0);
  };
  const onSignal = (): void => {
    if (since !== undefined && performance.now() - since > INSIST_AFTER_MS) process.exit(1);
    if (since !== undefined) return;
    since = performance.now();
    void stop();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}

// Whoever read our output has gone; the server has not.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
process.on("unhandledRejection", (error) => say(`error: a promise failed unseen: ${oneLine(error)}`));

try {
  const settings = parseStartArguments(process.argv.slice(2));
  const { repositories, data } = settings;
  const server = await startLocal({
    ...settings,
    sweepSeconds: settings["sweep-seconds"],
    isTrusted: settings["trust-this-machine"],
    freeBytesMin: settings["min-free-mib"] * 1024 ** 2,
    repositories: repositories.length > 0 ? repositories : [ownRepositories(data)],
    say,
    showToken: (token, path) => print(`The admin token of organization local, kept in ${path}: ${token}`),
  });
  stopOnSignal(server);
  print(`Mainline is ready: ${server.url}`);
} catch (error) {
  say(error instanceof CannotStart ? error.message : `Mainline cannot start: ${oneLine(error)}`);
  process.exit(1);
}
