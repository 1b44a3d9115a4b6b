/** The local server of `npm start` in this process: the same gateway, handlers, stream, table and code host. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalOptions, type LocalServer, startLocal } from "../../infra/local/local-server.ts";
import { ownRepositories } from "../../infra/local/own-repositories.ts";
import { parseStartArguments } from "../../infra/local/start-arguments.ts";
import { passes } from "./clock.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { type Until, untilBy } from "./eventually.ts";

export type InProcess = {
  /** With `/v1`. */
  readonly url: string;
  readonly data: string;
  readonly adminToken: string;
  readonly stop: () => Promise<void>;
};

type Options = { readonly data: string; readonly args?: readonly string[] };

/** Beside what the arguments say. */
export type More = Partial<Pick<LocalOptions, "isTrusted" | "freeBytesMin" | "namespace" | "say">>;

async function start({ data, args = [] }: Options, scheduled: boolean, more: More = {}): Promise<LocalServer> {
  const settings = parseStartArguments(["--data", data, "--port", "0", ...args]);
  const { repositories } = settings;
  return startLocal({
    ...settings,
    sweepSeconds: settings["sweep-seconds"],
    // Where nothing confines a check, tests trust their own.
    isTrusted: true,
    freeBytesMin: 0,
    repositories: repositories.length > 0 ? repositories : [ownRepositories(data)],
    scheduled,
    say: () => {},
    ...more,
  });
}

const shown = (data: string, server: LocalServer): InProcess => ({
  url: server.url,
  data,
  adminToken: readFileSync(join(data, "admin-token"), "utf8").trim(),
  stop: server.stop,
});

/** Of what moves without the stream, as a file of a log does. */
const LOOK_MS = 500;

export type Timed = InProcess & {
  /** The clock is so much further; all that fell due by that is done. */
  readonly passes: (ms: number) => Promise<void>;
  /** Looks again whenever the stream has delivered something. */
  readonly until: Until;
};

export async function startInProcess(options: Options, more: More = {}): Promise<Timed> {
  const server = await start(options, true, more);
  return {
    ...shown(options.data, server),
    passes: async (ms) => {
      passes(ms);
      await server.runSchedules();
    },
    until: untilBy(async () => {
      const over = new AbortController();
      const late = sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([server.moved(), late]).finally(() => over.abort());
    }),
  };
}

export type Driven = InProcess & {
  /** Everything that can be done without more time is done. */
  readonly settled: () => Promise<void>;
  /** The time goes on by so much, and the schedules run once. */
  readonly passes: (ms: number) => Promise<void>;
  readonly until: Until;
};

/** The first; what does not come soon is waited for in larger ones. */
const STEP_MS = 1_000;
const STEP_MS_MAX = 15_000;
/** Of virtual time. */
const PATIENCE_MS = 600_000;

/** A server whose schedules run only when somebody waits. `outside` says when the rest of the scene has settled. */
export async function drivenLocal(options: Options, outside: () => Promise<void>): Promise<Driven> {
  const server = await start(options, false);
  const settled = async (): Promise<void> => {
    for (let before = -1, now = 0; before !== now; ) {
      before = now;
      await outside();
      now = await server.settled();
    }
  };
  const goOn = async (ms: number): Promise<void> => {
    passes(ms);
    await server.runSchedules();
  };
  const until: Driven["until"] = async (read, is, { what = "what was waited for" } = {}) => {
    for (let waited = 0, step = STEP_MS; ; waited += step, step = Math.min(step * 1.5, STEP_MS_MAX)) {
      await settled();
      const value = await read();
      if (is(value)) return value;
      if (waited > PATIENCE_MS) throw new Error(`${what} did not come: ${JSON.stringify(value)?.slice(0, 3000)}`);
      await goOn(step);
    }
  };
  return { ...shown(options.data, server), settled, passes: goOn, until };
}
