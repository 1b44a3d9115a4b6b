/**
 * The service in this process as it is deployed: every invocation of a function has a wiring of its own, as after a cold
 * start, so that it reads for itself what another has read; the gateway, the stream and the table are the local ones.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { gitHubHosts } from "../../functions/github.ts";
import { useWiring, type Wiring, wired } from "../../functions/wiring.ts";
import { ensureAdminToken } from "../../infra/local/admin-token.ts";
import { apiAnswer, authorizerAnswer, batchAnswer, loadFunction } from "../../infra/local/functions.ts";
import { closeGateway, createGateway } from "../../infra/local/gateway.ts";
import { lambdaContext } from "../../infra/local/gateway-event.ts";
import { memoryCheckpoint } from "../../infra/local/stream-checkpoint.ts";
import { insertsOf } from "../../infra/local/stream-record.ts";
import { type Stream, startStream } from "../../infra/local/stream.ts";
import { STREAM_WORKERS, type WorkerName } from "../../infra/workers.ts";
import { allRoutes } from "../../shared/api/routes.ts";
import type { CodeHost } from "../../shared/code-host/port.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { epochMs, systemClock } from "../../shared/kernel/time.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { scriptedHost } from "../bench/scripted-host.ts";
import { eventually } from "../support/eventually.ts";
import { type GitHubTwin, startGitHubTwin } from "../support/github/twin.ts";
import { type Called, callApi } from "../support/server.ts";
import { startTable, type TestTable } from "../support/table.ts";
import { invocations, type Recorder, recorder } from "./recorder.ts";

export type Site = {
  readonly recorder: Recorder;
  /** Unrecorded, for what a test does behind the service's back. */
  readonly table: Table;
  readonly app: Wiring;
  readonly asks: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Called>;
  readonly reads: (path: string) => Promise<Called>;
  readonly sends: (path: string, file: string, headers?: Record<string, string>) => Promise<Called>;
  readonly runs: (worker: WorkerName, event?: unknown) => Promise<unknown>;
  readonly hostDoes: (change: Partial<CodeHost>) => void;
  readonly host: ReturnType<typeof scriptedHost>;
  /** Of the host `github.com`; all others are `host`. */
  readonly twin: GitHubTwin;
  readonly blobs: Map<string, Uint8Array>;
  readonly passes: (ms: number) => void;
  /** Waits until all is done that the stream brings, and sweeps only if `is` does not hold then, again and again. */
  readonly until: <T>(
    read: () => Promise<T>,
    is: (value: T) => boolean,
    named: { readonly what: string; readonly beforeSweep?: () => Promise<void> },
  ) => Promise<T>;
  readonly stop: () => Promise<void>;
};

/** As the adapter of EventBridge's scheduler calls it. */
const schedulerOf = ({ note }: Recorder) => ({
  put: async () => {
    note("CreateSchedule", "schedules");
    note("UpdateSchedule", "schedules");
  },
  remove: async () => note("DeleteSchedule", "schedules"),
});

/** The bucket, as far as these functions see it. */
function bucketOf({ note }: Recorder, blobs: Map<string, Uint8Array>) {
  const folderOf = (id: string) => (id.startsWith("bundle-") ? "bundles/" : "uploads/");
  return {
    blobs: {
      put: async (key: string, bytes: Uint8Array) => {
        note("PutObject", "targets/");
        blobs.set(key, bytes);
      },
      get: async (key: string) => {
        note("GetObject", "targets/");
        return blobs.get(key);
      },
    },
    uploads: {
      grantUpload: async ({ uploadId }: { uploadId: string }) => {
        note("PutObject", folderOf(uploadId));
        return { url: "https://bucket.example.org", fields: { key: uploadId } };
      },
      grantPut: async ({ uploadId }: { uploadId: string }) => {
        note("PutObject", folderOf(uploadId));
        return `https://bucket.example.org/${uploadId}`;
      },
      readUpload: async (uploadId: string) => {
        note("GetObject", folderOf(uploadId));
        return blobs.get(uploadId);
      },
      removeUpload: async (uploadId: string) => {
        note("DeleteObject", folderOf(uploadId));
        blobs.delete(uploadId);
      },
    },
  };
}

type As = <T>(by: string, work: () => Promise<T>) => Promise<T>;
/** The stream's mappings, as the table of workers has them. */
async function woken(table: TestTable, as: As): Promise<Stream> {
  return startStream({
    table,
    endpoint: table.endpoint,
    mappings: await Promise.all(
      STREAM_WORKERS.map(async ({ name, skPrefix, batchSize }) => {
        const work = await loadFunction("workers", name, batchAnswer);
        const handler: typeof work = (event, context) => as(name, () => work(event, context));
        return { name, filter: insertsOf(skPrefix), batchSize, handler };
      }),
    ),
    checkpoint: memoryCheckpoint,
    deadLetter: ({ error }) => {
      throw new Error(`a dead letter: ${error}`);
    },
    log: silentLog,
  });
}

/** Refusals are answers; a failure of the service's own would hide what it did not come to. */
function notOurs(path: string, called: Called): Called {
  if (called.status === 500) throw new Error(`${path}: ${JSON.stringify(called.body)}`);
  return called;
}

export async function aSite(wokenBy: "stream" | "sweep"): Promise<Site> {
  const stored = await startTable();
  const recorded = openTable({ name: stored.name, endpoint: stored.endpoint });
  const calls = recorder(recorded);
  const blobs = new Map<string, Uint8Array>();
  const host = scriptedHost();
  let present: CodeHost = host;
  const folder = mkdtempSync(join(tmpdir(), "mainline-recorded-github-"));
  const twin = await startGitHubTwin({ folder });
  const gitHub = { host: "github.com", api: twin.url, ...twin.app };
  let ahead = 0;
  const cold = (): Wiring => ({
    ...wired({
      table: recorded,
      log: silentLog,
      ...bucketOf(calls, blobs),
      scheduler: schedulerOf(calls),
      hosts: (org, asked) => gitHubHosts(recorded, gitHub)(org, asked) ?? present,
      hasPages: (asked) => asked === gitHub.host,
      gitHub,
    }),
    clock: () => epochMs(Date.now() + ahead),
  });
  const app = cold();
  useWiring(new Proxy(app, { get: (_, name) => Reflect.get(invocations.getStore()?.wiring ?? app, name) }));
  const as = <T>(by: string, work: () => Promise<T>): Promise<T> => invocations.run({ by, wiring: cold() }, work);

  const handlers = new Map(
    await Promise.all(
      [...allRoutes.map(({ id }) => id), "unknown-path"].map(
        async (id) => [id, await loadFunction("api", id, apiAnswer)] as const,
      ),
    ),
  );
  const authorize = await loadFunction("workers", "authorize-token", authorizerAnswer);
  const gateway = createGateway({
    routes: allRoutes,
    handler: async (id) => (event, context) =>
      as(id, async () =>
        z.custom<ReturnType<typeof apiAnswer.parse>>().parse(await handlers.get(id)?.(event, context)),
      ),
    authorize: (token) =>
      as("authorize-token", () => authorize({ headers: { "x-api-token": token } }, lambdaContext("a", "a", 5_000))),
    log: silentLog,
  });
  await new Promise<void>((resolve) => {
    gateway.listen(0, "127.0.0.1", resolve);
  });
  const runs: Site["runs"] = async (worker, event = {}) => {
    const handler = await loadFunction("workers", worker, z.unknown());
    return as(worker, () => handler(event, lambdaContext(worker, crypto.randomUUID(), 300_000)));
  };
  // Without a stream it is as if every message were lost.
  const stream = wokenBy === "stream" ? await woken(stored, as) : undefined;
  const settled = async (): Promise<void> => {
    for (let before = -1, now = 0; before !== now; ) {
      before = now;
      await twin.settled();
      await stream?.caughtUp();
      now = stream?.delivered() ?? 0;
    }
  };

  const data = mkdtempSync(join(tmpdir(), "mainline-recorded-"));
  await ensureAdminToken(data, stored, systemClock());
  const token = readFileSync(join(data, "admin-token"), "utf8").trim();
  // Safe: a server that listens on a port has an address of this kind.
  const { port } = gateway.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  twin.webhooksTo(`${url}/webhooks/github`, twin.app.webhookSecret);
  const headersOf = (more: Record<string, string>) => ({ "x-api-token": token, ...more });

  return {
    recorder: calls,
    table: stored,
    app,
    host,
    twin,
    blobs,
    asks: async (path, body = {}, headers = {}) =>
      notOurs(
        path,
        await callApi(url, token, path, body, {
          headers: headersOf({ "content-type": "application/json", ...headers }),
        }),
      ),
    reads: async (path) =>
      notOurs(path, await callApi(url, token, path, undefined, { method: "GET", headers: headersOf({}), body: null })),
    sends: async (path, file, headers = {}) =>
      notOurs(
        path,
        await callApi(url, token, path, undefined, {
          body: file,
          headers: headersOf({ "content-type": "application/xml", ...headers }),
        }),
      ),
    runs,
    hostDoes: (change) => {
      present = { ...host, ...change };
    },
    passes: (ms) => {
      ahead += ms;
    },
    until: (read, is, { what, beforeSweep }) => {
      let looks = 0;
      const look = async () => {
        await settled();
        looks += 1;
        if (looks === 1) return read();
        await beforeSweep?.();
        await runs("sweep");
        await settled();
        return read();
      };
      return eventually(look, is, { what });
    },
    stop: async () => {
      await stream?.stop();
      await twin.stop();
      await closeGateway(gateway, 1_000);
      await stored.stop();
      recorded.client.destroy();
      for (const made of [data, folder]) rmSync(made, { recursive: true, force: true });
    },
  };
}
