/** Everything of `npm start` but the terminal: used by it, by the demo, and by tests in their own process. */
import { appendFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { allRoutes } from "../../shared/api/routes.ts";
import type { ApiHandler } from "../../shared/http/event.ts";
import type { Log } from "../../shared/kernel/log.ts";
import type { OrgSlug } from "../../shared/kernel/ids.ts";
import { type Clock, systemClock } from "../../shared/kernel/time.ts";
import { ensureAdminToken, LOCAL_ORG } from "./admin-token.ts";
import type { Authorize } from "./authorizer-cache.ts";
import { type Application, type LocalContext, localApplication } from "./application.ts";
import { blobFolder } from "./blob-folder.ts";
import { CannotStart, oneLine } from "./cannot-start.ts";
import { type DataTable, openServerTable } from "./data-table.ts";
import { isSystemError, PRIVATE_FILE, removeUnfinished } from "./files.ts";
import { apiAnswer, hasFunction, loadFunction } from "./functions.ts";
import { closeGateway, createGateway } from "./gateway.ts";
import type { RepositoriesOf } from "./git-hosts.ts";
import { logFile } from "./log-file.ts";
import { startSchedules } from "./schedules.ts";
import { type Stream, startStream } from "./stream.ts";
import { fileCheckpoint } from "./stream-checkpoint.ts";
import type { FindNamespace } from "./table-namespace.ts";
import { uploadSecret, uploads } from "./uploads.ts";

export type LocalOptions = {
  /** 0 takes a free one. */
  readonly port: number;
  readonly data: string;
  readonly repositories: readonly RepositoriesOf[];
  readonly host: string;
  /** How often it is looked whether anything was missed. */
  readonly sweepSeconds?: number;
  /** Everybody and everything on this machine may do what the service can. */
  readonly isTrusted?: boolean;
  /** How the table gets a network of its own; by this machine's means if not given. */
  readonly namespace?: FindNamespace;
  /** Below so much free space on the data disk no check starts. 1 GiB if not given. */
  readonly freeBytesMin?: number;
  /** False: schedules run only when `runSchedules` is called. For tests that let the time pass themselves. */
  readonly scheduled?: boolean;
  /** Absent: this machine's. */
  readonly clock?: Clock;
  /** Warnings and errors, in one line each. */
  readonly say: (line: string) => void;
  /** The first start's admin token: shown this once, and before the port answers. */
  readonly showToken?: (token: string, path: string) => void;
};

export type LocalServer = {
  /** With `/v1`. */
  readonly url: string;
  readonly nudge: () => void;
  /** Returns when the functions of the stream have done something more: whatever is waited for comes of that. */
  readonly moved: () => Promise<void>;
  /** Runs each schedule once, now. */
  readonly runSchedules: () => Promise<void>;
  /**
   * Returns when everything that was written has reached its functions, and what they wrote, too. Answers how many
   * batches the stream has delivered since the start.
   */
  readonly settled: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

const HOST = "127.0.0.1";
const FREE_BYTES_MIN = 1024 ** 3;
const REQUESTS_END_MS_MAX = 10_000;
const TRIM = { name: "trim", cron: "17 * * * *", atStart: true };

/** Undone in reverse order; every step runs, whatever the one before it did. */
function undoing(log: Log) {
  const steps: (() => Promise<void> | void)[] = [];
  let undone: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (const step of steps.toReversed())
      try {
        await step();
      } catch (error) {
        log.error("stopping did not go as it should", { error: oneLine(error) });
      }
  };
  return {
    later: (step: () => Promise<void> | void): void => void steps.push(step),
    all: (): Promise<void> => (undone ??= run()),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const taken = isSystemError(error, "EADDRINUSE");
      const other = "choose another with --port, or --port 0 for a free one";
      reject(new CannotStart(taken ? `Port ${port} is in use: ${other}.` : `Cannot listen on port ${port}: ${other}.`));
    });
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : port);
    });
  });
}

/** Read and compiled before the first request needs them. */
async function handlers(log: Log): Promise<(id: string) => Promise<ApiHandler>> {
  const ids = [...allRoutes.map((route) => route.id), "unknown-path"].filter((id) => {
    if (!hasFunction("api", id)) log.warn("an endpoint's function is missing", { route: id });
    return hasFunction("api", id);
  });
  const loaded = await Promise.all(ids.map(async (id) => [id, await loadFunction("api", id, apiAnswer)] as const));
  const byId: ReadonlyMap<string, ApiHandler> = new Map(loaded);
  return async (id) => {
    const handler = byId.get(id);
    if (handler === undefined) throw new Error(`functions/api/${id}.ts is missing`);
    return handler;
  };
}

export async function startLocal(options: LocalOptions): Promise<LocalServer> {
  const { data } = options;
  const early: Log = { info: () => {}, warn: options.say, error: options.say };
  const opened = await openServerTable({ data, log: early, namespace: options.namespace });
  const undo = undoing(early);
  undo.later(opened.close);
  try {
    return await run(options, opened, undo);
  } catch (error) {
    await undo.all();
    throw error;
  }
}

async function run(
  options: LocalOptions,
  { table, endpoint, trim, isOpen }: DataTable,
  undo: ReturnType<typeof undoing>,
): Promise<LocalServer> {
  const { data, clock = systemClock } = options;
  removeUnfinished(data);
  removeUnfinished(join(data, "blobs"), true);
  const { log, close } = logFile(data, options.say);
  undo.later(close);
  const token = await ensureAdminToken(data, table, clock());
  if (token !== undefined) options.showToken?.(token, join(data, "admin-token"));

  let origin = `http://${HOST}:${options.port}`;
  let nudge = (): void => {};
  const blobs = blobFolder(join(data, "blobs"));
  const door = uploads({ blobs, secret: uploadSecret(data), origin: () => origin, clock });
  const { repositories, host, sweepSeconds, isTrusted = false, freeBytesMin = FREE_BYTES_MIN } = options;
  const only = isOpen && !isTrusted ? onlyOrganization(repositories) : undefined;
  if (only !== undefined)
    options.say(
      `The table is open to every program on this machine: no check of a pull request runs, and no organization but ${only} is served. Install bubblewrap, or start with --trust-this-machine.`,
    );
  const context: LocalContext = {
    data,
    table,
    blobs,
    uploads: door,
    log,
    clock,
    repositories,
    host,
    sweepSeconds,
    isTrusted,
    isTableOpen: isOpen,
    freeBytesMin,
    nudge: () => nudge(),
  };
  const application = await localApplication(context);
  undo.later(application.stop);
  await application.recover();

  const stream = runStream(data, application, { table, endpoint, log });
  nudge = stream.nudge;
  undo.later(stream.stop);
  if (options.scheduled !== false) {
    const schedules = startSchedules([...application.schedules, { ...TRIM, run: trim }], log);
    undo.later(schedules.stop);
  }

  const handler = nudging(await handlers(log), stream.nudge);
  const { takesForks } = application;
  const authorize = only === undefined ? application.authorize : servingOnly(only, application.authorize);
  const gateway = createGateway({ routes: allRoutes, handler, authorize, log, sideDoor: door.sideDoor, takesForks });
  undo.later(() => closeGateway(gateway, REQUESTS_END_MS_MAX));
  const port = await listen(gateway, options.port);
  origin = `http://${HOST}:${port}`;
  log.info("ready", { origin, data });
  return {
    url: `${origin}/v1`,
    nudge: stream.nudge,
    moved: stream.moved,
    runSchedules: async () => {
      await application.schedulesDue();
      for (const schedule of application.schedules) await schedule.run();
    },
    settled: () => settled(stream, application),
    stop: undo.all,
  };
}

async function settled(stream: Stream, application: Application): Promise<number> {
  for (;;) {
    const before = stream.delivered();
    await stream.caughtUp();
    await application.settled();
    if (stream.delivered() === before) return before;
  }
}

/** Whose work a table that believes everybody may hold. */
function onlyOrganization(repositories: readonly RepositoriesOf[]): OrgSlug {
  const [first, ...others] = repositories.map(({ org }) => org);
  if (others.length > 0)
    throw new CannotStart(
      "The table is open to every program on this machine, so only one organization can be served: give one --repositories, install bubblewrap, or start with --trust-this-machine.",
    );
  return first ?? LOCAL_ORG;
}

/** A token of another organization opens nothing. */
const servingOnly =
  (org: OrgSlug, authorize: Authorize): Authorize =>
  async (token) => {
    const answer = await authorize(token);
    return answer.context["org"] === org ? answer : { ...answer, context: {} };
  };

function runStream(
  data: string,
  { mappings }: Application,
  on: Pick<LocalContext, "table" | "log"> & { endpoint: string },
) {
  const letters = join(data, "dead-letters.jsonl");
  return startStream({
    ...on,
    mappings,
    checkpoint: (mapping) => fileCheckpoint(data, mapping),
    deadLetter: (letter) => {
      const { record: _record, ...said } = letter;
      on.log.error("a stream record was given up; it is in dead-letters.jsonl", said);
      appendFileSync(letters, `${JSON.stringify({ at: new Date().toISOString(), ...letter })}\n`, {
        mode: PRIVATE_FILE,
      });
    },
  });
}

const WRITING: ReadonlySet<string> = new Set(
  allRoutes.filter((route) => route.tableAccess === "write").map((route) => route.id),
);

/** After a request that may have written, the stream's functions need not wait for the next poll. */
const nudging =
  (load: (id: string) => Promise<ApiHandler>, nudge: () => void) =>
  async (id: string): Promise<ApiHandler> => {
    const handler = await load(id);
    if (!WRITING.has(id)) return handler;
    return async (event, context) => {
      const answer = await handler(event, context);
      nudge();
      return answer;
    };
  };
