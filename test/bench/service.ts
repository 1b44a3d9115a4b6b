/**
 * The service in this process: the real gateway, authorizer, handlers, use cases and table, on a scripted code host.
 * Stream and schedules do not run, so that nothing but what is measured asks anything of the table.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useWiring, type Wiring, wired } from "../../functions/wiring.ts";
import { ensureAdminToken, LOCAL_ORG } from "../../infra/local/admin-token.ts";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { openServerTable } from "../../infra/local/data-table.ts";
import { apiAnswer, authorizerAnswer, loadFunction } from "../../infra/local/functions.ts";
import { closeGateway, createGateway } from "../../infra/local/gateway.ts";
import { lambdaContext } from "../../infra/local/gateway-event.ts";
import { logFile } from "../../infra/local/log-file.ts";
import { uploads, uploadSecret } from "../../infra/local/uploads.ts";
import { allRoutes } from "../../shared/api/routes.ts";
import type { ApiHandler } from "../../shared/http/event.ts";
import type { QueueKey } from "../../shared/kernel/ids.ts";
import { entryId } from "../../shared/kernel/ids.ts";
import { epochMs, systemClock } from "../../shared/kernel/time.ts";
import type { QueueRecord, QueueStore, StoredEntry } from "../../shared/queue/app/ports.ts";
import { newEntry } from "../../shared/queue/engine/new-entry.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { queueStore } from "../../shared/table/queue-store.ts";
import { tokenStore } from "../../shared/table/tokens.ts";
import { type Client, keptConnection } from "./http-client.ts";
import { type Meter, meterOf } from "./meter.ts";
import { factsOf, type ScriptedHost, scriptedHost } from "./scripted-host.ts";

export type BenchService = {
  readonly app: Wiring;
  readonly table: Table;
  readonly meter: Meter;
  /** The same queues through a client of its own, for looking without being counted. */
  readonly observer: QueueStore;
  readonly host: ScriptedHost;
  readonly client: Client;
  readonly authorize: (token: string) => Promise<unknown>;
  readonly token: string;
  /** A queue with so many admitted pull requests, numbered from 1; the same one for the same size. */
  readonly queue: (size: number) => Promise<QueueKey>;
  readonly stop: () => Promise<void>;
};

const REPO = { host: "git.local", owner: "acme", name: "app" };
export const requestOf = (key: QueueKey) => ({ repo: REPO, targetBranch: key.branch });

export async function startService(): Promise<BenchService> {
  const data = mkdtempSync(join(tmpdir(), "mainline-bench-"));
  const { table, endpoint, close } = await openServerTable({ data });
  const meter = meterOf(table);
  const unmetered = openTable({ name: table.name, endpoint });
  const log = logFile(data, () => {});
  const token = await ensureAdminToken(data, table, systemClock());
  if (token === undefined) throw new Error("the data folder is not new");
  const host = scriptedHost();
  const blobs = blobFolder(join(data, "blobs"));
  const door = uploads({ blobs, secret: uploadSecret(data), origin: () => "", clock: systemClock });
  const wiring = wired({ table, log: log.log, blobs, uploads: door, hosts: () => host });
  // The authorizer's one read is once a minute and not the request's: it is timed by itself and never counted.
  const app = { ...wiring, tokens: tokenStore(unmetered) };
  useWiring(app);

  const authorizer = await loadFunction("workers", "authorize-token", authorizerAnswer);
  const authorize = (sent: string) =>
    authorizer({ headers: { "x-api-token": sent } }, lambdaContext("authorize-token", randomUUID(), 10_000));
  const gateway = createGateway({ routes: allRoutes, handler: await handlers(), authorize, log: log.log });
  const client = keptConnection(await listen(gateway), token);
  const stop = async (): Promise<void> => {
    client.close();
    await closeGateway(gateway, 2_000);
    log.close();
    unmetered.client.destroy();
    await close();
    rmSync(data, { recursive: true, force: true });
  };
  const queues = new Map<number, Promise<QueueKey>>();
  const queue = (size: number): Promise<QueueKey> => {
    const made = queues.get(size) ?? aQueue(app, client, `with-${size}`, size);
    queues.set(size, made);
    return made;
  };
  return { app, table, meter, observer: queueStore(unmetered), host, client, authorize, token, queue, stop };
}

async function handlers(): Promise<(id: string) => Promise<ApiHandler>> {
  const ids = allRoutes.map((route) => route.id);
  const loaded = await Promise.all(ids.map(async (id) => [id, await loadFunction("api", id, apiAnswer)] as const));
  const byId = new Map<string, ApiHandler>(loaded);
  return async (id) => {
    const handler = byId.get(id);
    if (handler === undefined) throw new Error(`no handler ${id}`);
    return handler;
  };
}

const listen = (server: Server): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address !== "object") reject(new Error("no address"));
      else resolve(`http://127.0.0.1:${address.port}/v1`);
    });
  });

async function aQueue(app: Wiring, client: Client, branch: string, size: number): Promise<QueueKey> {
  const key: QueueKey = { org: LOCAL_ORG, repo: REPO, branch };
  await client.post("/createQueue", requestOf(key));
  const record = await app.queues.find(key);
  if (record === undefined) throw new Error("the queue is not there");
  const numbers = Array.from({ length: size }, (_, at) => at + 1);
  // A hundred at a time: the table is one process.
  for (let at = 0; at < size; at += 100)
    await Promise.all(
      numbers.slice(at, at + 100).map((number) => app.queues.submit(key, admitted(record, number), undefined)),
    );
  return key;
}

/** As the loop leaves an entry that waits for its turn. */
function admitted({ id, key }: QueueRecord, number: number): StoredEntry {
  const at = epochMs(systemClock() - 3_600_000 + number);
  const submitted = {
    id: entryId(randomUUID()),
    prNumber: number,
    submittedAt: at,
    submittedBy: "admin",
    pr: factsOf(number, key.branch),
    factsAt: at,
    trouble: null,
    priority: { value: 100, byDefault: true },
    noBatch: false,
    targets: null,
  };
  const entry = { ...newEntry(submitted, 0), state: "PENDING", stateChangedAt: at, admittedAt: at, moves: 2 } as const;
  return { entry, queue: id, revision: 1, seen: true, landing: false };
}
