/**
 * The table of a data folder, for the server and for command-line tools. Whoever comes first starts it; a tool that
 * finds a running server uses the server's.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Log, silentLog } from "../../shared/kernel/log.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { ensureTable, LOCAL_TABLE_NAME } from "../../shared/table/table-definition.ts";
import { CannotStart, oneLine } from "./cannot-start.ts";
import { type DataLock, type LockOwner, lock } from "./data-lock.ts";
import { readJsonFile, writeFileAtomically } from "./files.ts";
import { isRunning, ownIdentity, processIdentity } from "./process-identity.ts";
import { trimStreamStorage, tuneStreamStorage } from "./stream-storage.ts";
import type { FindNamespace } from "./table-namespace.ts";
import { databasePath, endOrphan, startTableProcess } from "./table-process.ts";

/** `<data>/endpoint`: how tools reach the table of a running server, and which server that is. */
const endpointFile = z.object({ endpoint: z.url(), table: z.string(), server: processIdentity });
type EndpointFile = z.infer<typeof endpointFile>;

export type DataTable = {
  readonly table: Table;
  readonly endpoint: string;
  /** Whether anybody on this machine can connect to it, and would be believed. */
  readonly isOpen: boolean;
  /** Drops what nobody needs any more. Where the table is another's, so is this. */
  readonly trim: () => Promise<void>;
  readonly close: () => Promise<void>;
};

type Options = {
  readonly data: string;
  readonly log?: Log;
  readonly env?: NodeJS.ProcessEnv;
  /** How the table gets a network of its own; by this machine's means if not given. */
  readonly namespace?: FindNamespace | undefined;
};

const endpointPath = (data: string): string => join(data, "endpoint");

const SERVER_READY_MS_MAX = 15_000;

function prepareFolder(data: string): void {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CannotStart(`Cannot use the data folder ${data}: ${oneLine(error)}`);
  }
}

const connectTo = (endpoint: string, env: NodeJS.ProcessEnv): Table =>
  openTable({ name: LOCAL_TABLE_NAME, endpoint, region: env["AWS_REGION"] });

/** `DYNAMODB_ENDPOINT` replaces the embedded table; whoever runs it keeps it alive. */
async function elsewhere(endpoint: string, env: NodeJS.ProcessEnv): Promise<DataTable> {
  const table = connectTo(endpoint, env);
  try {
    await ensureTable(table);
  } catch (error) {
    throw new CannotStart(`The table at DYNAMODB_ENDPOINT=${endpoint} does not answer as one: ${oneLine(error)}`);
  }
  // Over plain HTTP it is one that stands on this machine or its network, and checks no signature.
  const isOpen = endpoint.startsWith("http://");
  return { table, endpoint, isOpen, trim: async () => {}, close: async () => table.client.destroy() };
}

type Started = Required<Pick<Options, "data" | "log" | "env">> & Pick<Options, "namespace">;

async function started({ data, log, env, namespace }: Started, held: DataLock): Promise<DataTable> {
  try {
    await endOrphan(data, log);
    const running = await startTableProcess({ data, log, env, namespace });
    const table = connectTo(running.endpoint, env);
    await ensureTable(table);
    await tuneStreamStorage(databasePath(data), log);
    const trim = (): Promise<void> => trimStreamStorage(databasePath(data), log);
    const close = async (): Promise<void> => {
      rmSync(endpointPath(data), { force: true });
      table.client.destroy();
      await running.stop();
      held.release();
    };
    return { table, endpoint: running.endpoint, isOpen: running.isOpen, trim, close };
  } catch (error) {
    held.release();
    throw error;
  }
}

export async function openServerTable({
  data,
  log = silentLog,
  env = process.env,
  namespace,
}: Options): Promise<DataTable> {
  prepareFolder(data);
  const outcome = await lock(data, "server");
  if (!("release" in outcome))
    throw new CannotStart(`Another Mainline (process ${outcome.pid}) already runs on the data folder ${data}.`);
  const given = env["DYNAMODB_ENDPOINT"];
  const opened = given
    ? await heldElsewhere(given, outcome, env)
    : await started({ data, log, env, namespace }, outcome);
  const content: EndpointFile = { endpoint: opened.endpoint, table: opened.table.name, server: ownIdentity() };
  writeFileAtomically(endpointPath(data), JSON.stringify(content));
  return opened;
}

/** The lock also keeps two servers from polling one stream with one set of checkpoints. */
async function heldElsewhere(endpoint: string, held: DataLock, env: NodeJS.ProcessEnv): Promise<DataTable> {
  try {
    const opened = await elsewhere(endpoint, env);
    return { ...opened, close: () => opened.close().finally(held.release) };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** The server that holds the lock may still be starting its table: its endpoint file is awaited. */
async function ofRunningServer(data: string, server: LockOwner, env: NodeJS.ProcessEnv): Promise<DataTable> {
  for (const until = performance.now() + SERVER_READY_MS_MAX; performance.now() < until; await sleep(50)) {
    const found = readJsonFile(endpointPath(data), endpointFile);
    if (found !== undefined && found.server.pid === server.pid && isRunning(found.server)) {
      const table = connectTo(found.endpoint, env);
      const isOpen = !found.endpoint.startsWith("unix:");
      return {
        table,
        endpoint: found.endpoint,
        isOpen,
        trim: async () => {},
        close: async () => table.client.destroy(),
      };
    }
  }
  throw new CannotStart(`The server on ${data} (process ${server.pid}) has not made its table reachable; try again.`);
}

export async function openToolTable({
  data,
  log = silentLog,
  env = process.env,
  namespace,
}: Options): Promise<DataTable> {
  const given = env["DYNAMODB_ENDPOINT"];
  if (given) return elsewhere(given, env);
  prepareFolder(data);
  const outcome = await lock(data, "tool");
  if ("release" in outcome) return started({ data, log, env, namespace }, outcome);
  if (outcome.role === "server") return ofRunningServer(data, outcome, env);
  throw new CannotStart(`Another command (process ${outcome.pid}) is using the data folder ${data}; try again.`);
}
