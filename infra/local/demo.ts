/** `npm run demo`: sample repositories, the real server, and two dozen pull requests driven through it over HTTP. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CannotStart, oneLine } from "./cannot-start.ts";
import { BATCH } from "./demo/batch.ts";
import { createClient } from "./demo/client.ts";
import { end, howToGoOn, type Played } from "./demo/ending.ts";
import { LANES } from "./demo/lanes.ts";
import { OPTIMISM } from "./demo/optimism.ts";
import { gitHubTwin } from "./demo/github.ts";
import { type DemoHost, GIT_HOST, gitFolder, type Reached } from "./demo/host.ts";
import { repoOf } from "./demo/repository.ts";
import type { Scene, Stage } from "./demo/scene.ts";
import { createScreen, type Screen } from "./demo/screen.ts";
import { ONE_LINE } from "./demo/story.ts";
import { TEST_HEALTH } from "./demo/test-health.ts";
import { createWatch } from "./demo/watch.ts";
import { type LocalServer, startLocal } from "./local-server.ts";

const SCENES: readonly Scene[] = [ONE_LINE, LANES, BATCH, OPTIMISM, TEST_HEALTH];

const USAGE = `Usage: npm run demo [-- --host github] [--exit]

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

  --host github   the same on a twin of GitHub: an App, webhooks, testing branches with draft pull requests, and a CI
                  that reports check runs; it takes a few minutes
  --exit          end afterwards, with status 1 if anything was not as promised; without it the server stays up until
                  Ctrl-C
  --help          this text`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

type Wished = { readonly exit: boolean; readonly help: boolean; readonly onGitHub: boolean };

function readArguments(): Wished {
  try {
    const { values } = parseArgs({
      options: { exit: { type: "boolean" }, help: { type: "boolean", short: "h" }, host: { type: "string" } },
    });
    const { exit = false, help = false, host = "git" } = values;
    if (!["git", "github"].includes(host)) throw new Error(`--host is git or github, and not ${host}`);
    return { exit, help, onGitHub: host === "github" };
  } catch (error) {
    complain(`${oneLine(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

let folder: string | undefined;
let server: LocalServer | undefined;
let host: DemoHost | undefined;
let leaving = false;
/** What a Ctrl-C ends it with: the verdict, once there is one. */
let onSignal = 130;

/** Everything of the demo is in one folder, which goes with it, whichever way it ends. */
async function leave(status: number): Promise<void> {
  if (leaving) return;
  leaving = true;
  await server?.stop();
  await host?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit(status);
}

async function show({ exit, onGitHub }: Wished): Promise<boolean> {
  const screen = createScreen(process.stdout, process.env);
  folder = realpathSync(mkdtempSync(join(tmpdir(), "mainline-demo-")));
  const data = join(folder, "data");
  host = onGitHub ? await gitHubTwin(folder, data, screen) : gitFolder(folder);
  let token = "";
  const options = { port: 0, data, host: GIT_HOST, repositories: host.repositories };
  server = await startLocal({
    ...options,
    isTrusted: true,
    freeBytesMin: 0,
    say: screen.say,
    showToken: (made) => (token = made),
  });
  const by = `npm start -- --port 0 --data ${data} ${host.startArguments}`.trimEnd();
  screen.say(`The server is up at ${server.url}, as with: ${by}`);
  const reached: Reached = { url: server.url, token };
  await host.connect(reached);
  const played: Played[] = [];
  for (const scene of SCENES) {
    screen.heading(scene.title);
    const stage = await setStage(scene, host, reached, screen);
    played.push({ stage, judge: await scene.play(stage) });
  }
  const isAsPromised = await end(played, { host, folder }, screen, print);
  screen.heading(isAsPromised ? "Everything was as promised." : "Not everything was as promised.");
  const [first] = played;
  if (!exit && first !== undefined) howToGoOn(print, reached, host, first.stage.repository.bare);
  return isAsPromised;
}

async function setStage({ sample }: Scene, on: DemoHost, { url, token }: Reached, screen: Screen): Promise<Stage> {
  const repository = await on.make(sample);
  screen.say(`A bare repository with ${sample.pullRequests.length} pull requests is made: ${repository.bare}`);
  const client = createClient(url, token, repoOf(sample, on.name), on.queueSettings);
  const watch = createWatch(client, screen, sample.pullRequests);
  return { sample, client, repository, screen, watch, quoted: new Set() };
}

async function main(): Promise<void> {
  const wished = readArguments();
  if (wished.help) {
    print(USAGE);
    return leave(0);
  }
  try {
    onSignal = (await show(wished)) ? 0 : 1;
    if (wished.exit) await leave(onSignal);
  } catch (error) {
    if (leaving) return;
    complain(error instanceof CannotStart ? error.message : `The demo failed: ${oneLine(error)}`);
    await leave(1);
  }
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void leave(onSignal));
await main();
