/**
 * What runs on this machine's gateway, stream and schedules. The one place where the wiring of the service is put
 * together with the local adapters.
 */
import * as z from "zod";
import { gitHubHosts } from "../../functions/github.ts";
import { useWiring, type Wiring, wired } from "../../functions/wiring.ts";
import type { CodeHosts } from "../../shared/code-host/port.ts";
import type { Log } from "../../shared/kernel/log.ts";
import type { Clock } from "../../shared/kernel/time.ts";
import { allWakings } from "../../shared/queue/app/wakings.ts";
import type { Table } from "../../shared/table/client.ts";
import { MINUTE_WORKERS, STREAM_WORKERS, type WorkerName } from "../workers.ts";
import type { Authorize } from "./authorizer-cache.ts";
import type { BlobStore } from "./blob-folder.ts";
import { authorizerAnswer, batchAnswer, loadFunction } from "./functions.ts";
import { lambdaContext } from "./gateway-event.ts";
import { gitHosts, type RepositoriesOf } from "./git-hosts.ts";
import { readGitHubApp } from "./github-app.ts";
import type { Schedule } from "./schedules.ts";
import type { Mapping } from "./stream-delivery.ts";
import { insertsOf } from "./stream-record.ts";
import { unhurried } from "./unhurried.ts";
import type { Uploads } from "./uploads.ts";
import { type LocalScheduler, localScheduler } from "./wakings.ts";
import { workerName } from "./worker-name.ts";

/** What the local server lends the application. */
export type LocalContext = {
  readonly data: string;
  readonly table: Table;
  readonly blobs: BlobStore;
  readonly uploads: Uploads;
  readonly log: Log;
  readonly clock: Clock;
  readonly repositories: readonly RepositoriesOf[];
  /** The name of the code host under which they are known. */
  readonly host: string;
  /** How often it is looked whether anything was missed; every 10 seconds unless it says otherwise. */
  readonly sweepSeconds?: number | undefined;
  readonly isTrusted: boolean;
  readonly isTableOpen: boolean;
  /** Below so much free space on the data disk no check starts. */
  readonly freeBytesMin: number;
  /** Something was written that the stream's functions should see at once. */
  readonly nudge: () => void;
};

export type Application = {
  readonly authorize: Authorize;
  /** Whether a code host is connected whose forks' workflows may come without a token. */
  readonly takesForks: boolean;
  readonly mappings: readonly Mapping[];
  readonly schedules: readonly Schedule[];
  /** Calls the schedules of maintenance windows whose time has come, and waits for all that were called. */
  readonly schedulesDue: () => Promise<void>;
  /** Called once, before the port answers. */
  readonly recover: () => Promise<void>;
  /** Returns when the batches that go on by themselves have ended. */
  readonly settled: () => Promise<void>;
  /** Called once, after the last request and the last batch. */
  readonly stop: () => Promise<void>;
};

const SWEEP_SECONDS = 10;
const WORKER_MS_MAX = 900_000;
/** A landing waits behind the building of runs no longer than this. */
const EFFECTS_MS = 1_000;
const SLOW_BATCHES_MAX = 20;

/** Runs are built by it, which takes long. */
const SLOW: WorkerName = "run-effects";

async function mapping({ name, skPrefix, batchSize }: (typeof STREAM_WORKERS)[number]): Promise<Mapping> {
  const handler = await loadFunction("workers", name, batchAnswer);
  return { name, filter: insertsOf(skPrefix), handler, batchSize };
}

async function scheduled(name: WorkerName, { sweepSeconds: seconds = SWEEP_SECONDS, nudge }: LocalContext) {
  const handler = await loadFunction("workers", name, z.unknown());
  const run = async (): Promise<void> => {
    await handler({}, lambdaContext(name, crypto.randomUUID(), WORKER_MS_MAX));
    nudge();
  };
  return { name, cron: `*/${seconds} * * * * *`, run, atStart: true } satisfies Schedule;
}

async function authorizer(): Promise<Authorize> {
  const handler = await loadFunction("workers", "authorize-token", authorizerAnswer);
  return (token) =>
    handler({ headers: { "x-api-token": token } }, lambdaContext("authorize-token", crypto.randomUUID(), 10_000));
}

/** Wakes queues at the edges of their maintenance windows. */
async function windowScheduler({ log, clock, nudge }: LocalContext): Promise<LocalScheduler> {
  const name = "maintenance-window";
  const handler = await loadFunction("workers", name, z.unknown());
  const call = async (event: unknown): Promise<void> => {
    await handler(event, lambdaContext(name, crypto.randomUUID(), WORKER_MS_MAX));
    nudge();
  };
  return localScheduler({ call, log, clock });
}

export async function localApplication(context: LocalContext): Promise<Application> {
  const { table, blobs, uploads, log, clock, data, repositories, host, nudge } = context;
  let made: Wiring | undefined;
  const wiring = (): Wiring => {
    if (made === undefined) throw new Error("news of a code host before the wiring");
    return made;
  };
  const { isTrusted, isTableOpen, freeBytesMin } = context;
  const trust = { isTrusted, isTableOpen, freeBytesMin };
  const git = await gitHosts({ data, repositories, host, log, clock, app: wiring, nudge, ...trust });
  const app = readGitHubApp(data);
  const gitHub: CodeHosts = app === undefined ? () => undefined : gitHubHosts(table, app, clock);
  const hosts: CodeHosts = (org, asked) => git.hosts(org, asked) ?? gitHub(org, asked);
  const scheduler = await windowScheduler(context);
  const hasPages = (asked: string): boolean => asked === app?.host;
  const parts = { table, log, clock, blobs, uploads, hosts, hasPages, scheduler };
  made = wired({ ...parts, gitHub: app, worker: workerName(data) });
  useWiring(made);
  const patience = { ms: EFFECTS_MS, most: SLOW_BATCHES_MAX, nudge };
  const mappings = await Promise.all(STREAM_WORKERS.map(mapping));
  const slow = new Map(
    mappings.filter(({ name }) => name === SLOW).map(({ name, handler }) => [name, unhurried(handler, patience)]),
  );
  const settled = async (): Promise<void> => {
    await Promise.all([...slow.values()].map((one) => one.ended()));
  };
  return {
    takesForks: app !== undefined,
    authorize: await authorizer(),
    mappings: mappings.map((one) => ({ ...one, handler: slow.get(one.name)?.handler ?? one.handler })),
    schedules: await Promise.all(MINUTE_WORKERS.map((name) => scheduled(name, context))),
    recover: async () => {
      await git.recover();
      for (const waking of await allWakings(wiring())) await scheduler.put(waking);
    },
    schedulesDue: scheduler.due,
    settled,
    stop: async () => {
      await scheduler.stop();
      await settled();
      await git.stop();
    },
  };
}
