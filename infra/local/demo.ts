/** `npm run demo`: sample repositories, the real server, and two dozen pull requests driven through it over HTTP. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LOCAL_ORG } from "./admin-token.ts";
import { CannotStart, oneLine } from "./cannot-start.ts";
import { BATCH } from "./demo/batch.ts";
import { createClient } from "./demo/client.ts";
import { end, howToGoOn, type Played } from "./demo/ending.ts";
import { LANES } from "./demo/lanes.ts";
import { OPTIMISM } from "./demo/optimism.ts";
import { makeRepository, repoOf } from "./demo/repository.ts";
import type { Scene, Stage } from "./demo/scene.ts";
import { createScreen, type Screen } from "./demo/screen.ts";
import { ONE_LINE } from "./demo/story.ts";
import { TEST_HEALTH } from "./demo/test-health.ts";
import { createWatch } from "./demo/watch.ts";
import { type LocalServer, startLocal } from "./local-server.ts";

const SCENES: readonly Scene[] = [ONE_LINE, LANES, BATCH, OPTIMISM, TEST_HEALTH];

const USAGE = `Usage: npm run demo [-- --exit]

Makes sample repositories with 24 pull requests in a temporary folder, starts the server on a free port, and drives the
pull requests through merge queues over HTTP:

  one line   clean ones, two that conflict in text, two that pass alone and fail together, one whose tests fail, an
             urgent one, one cancelled half-way, and a pause
  lanes      two that share nothing and do not wait for each other, and one that is tested on one of them
  a batch    four tested as one, which fails and is taken apart until it is known who is to blame
  optimism   a test that fails by chance, and a successor whose test makes it good
  tests      one that is flaky and costs nobody a place, and one that is broken: lists, evidence, and a gate for a CI

Each is explained while it waits and when it has ended. Then it proves with plain git that every point of the target
branches passes its checks. It takes about a minute.

  --exit   end afterwards, with status 1 if anything was not as promised; without it the server stays up until Ctrl-C
  --help   this text`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

function readArguments(): { readonly exit: boolean; readonly help: boolean } {
  try {
    const { values } = parseArgs({ options: { exit: { type: "boolean" }, help: { type: "boolean", short: "h" } } });
    return { exit: values.exit === true, help: values.help === true };
  } catch (error) {
    complain(`${oneLine(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

let folder: string | undefined;
let server: LocalServer | undefined;
let leaving = false;
/** What a Ctrl-C ends it with: the verdict, once there is one. */
let onSignal = 130;

/** Everything of the demo is in one folder, which goes with it, whichever way it ends. */
async function leave(status: number): Promise<void> {
  if (leaving) return;
  leaving = true;
  await server?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit(status);
}

async function show(exit: boolean): Promise<boolean> {
  const screen = createScreen(process.stdout, process.env);
  folder = realpathSync(mkdtempSync(join(tmpdir(), "mainline-demo-")));
  const repositories = join(folder, "repositories");
  const data = join(folder, "data");
  mkdirSync(repositories);
  let token = "";
  const options = { port: 0, data, host: "git.local", repositories: [{ org: LOCAL_ORG, folder: repositories }] };
  server = await startLocal({ ...options, say: screen.say, showToken: (made) => (token = made) });
  screen.say(
    `The server is up at ${server.url}, as with: npm start -- --port 0 --data ${data} --repositories ${repositories}`,
  );
  const reach: Reach = { url: server.url, token, repositories, authors: join(folder, "authors") };
  const played: Played[] = [];
  for (const scene of SCENES) {
    screen.heading(scene.title);
    const stage = await setStage(scene, reach, screen);
    played.push({ stage, judge: await scene.play(stage) });
  }
  const isAsPromised = await end(played, folder, screen, print);
  screen.heading(isAsPromised ? "Everything was as promised." : "Not everything was as promised.");
  const [first] = played;
  if (!exit && first !== undefined) howToGoOn(print, server.url, token, first.stage.repository.bare);
  return isAsPromised;
}

type Reach = {
  readonly url: string;
  readonly token: string;
  readonly repositories: string;
  readonly authors: string;
};

async function setStage({ sample }: Scene, reach: Reach, screen: Screen): Promise<Stage> {
  const repository = await makeRepository(reach.repositories, reach.authors, sample);
  screen.say(`A bare repository with ${sample.pullRequests.length} pull requests is made: ${repository.bare}`);
  const client = createClient(reach.url, reach.token, repoOf(sample));
  const watch = createWatch(client, screen, sample.pullRequests);
  return { sample, client, repository, screen, watch, quoted: new Set() };
}

async function main(): Promise<void> {
  const { exit, help } = readArguments();
  if (help) {
    print(USAGE);
    return leave(0);
  }
  try {
    onSignal = (await show(exit)) ? 0 : 1;
    if (exit) await leave(onSignal);
  } catch (error) {
    if (leaving) return;
    complain(error instanceof CannotStart ? error.message : `The demo failed: ${oneLine(error)}`);
    await leave(1);
  }
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void leave(onSignal));
await main();
