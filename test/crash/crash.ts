/** The whole: a busy queue, kills, a time to settle, and what must be true then. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, anApi } from "./api.ts";
import { allEntries } from "./entries.ts";
import { type CrashHost, type HostName, hostOf, POINTS } from "./hosts.ts";
import { judgeKept } from "./judge-kept.ts";
import { judgeLanded } from "./judge-landed.ts";
import { leftBranches, leftChecks, leftFiles, leftInTable, leftLocks } from "./judge-leftovers.ts";
import { carryOut, interruptFirstStart, planOf, type Tally, tooSeldom } from "./kills.ts";
import { aLedger, type Ledger } from "./ledger.ts";
import { processesOf } from "./processes.ts";
import { seeded } from "./random.ts";
import type { Bare, Sample } from "./sample.ts";
import { empty, settle, untilNothingIsLeft } from "./settle.ts";
import { aSite, type Life, type Site } from "./site.ts";
import { startSlowTraffic, startTraffic, type Traffic } from "./traffic.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly kills: number;
  readonly point?: string | undefined;
  readonly host?: HostName;
  readonly say: (line: string) => void;
};

export type CrashReport = {
  readonly folder: string;
  readonly violations: readonly string[];
  readonly tally: Tally;
  readonly startsMs: readonly number[];
  readonly ledger: Ledger;
  /** How many submissions ended in which state. */
  readonly ends: ReadonlyMap<string, number>;
  /** Warnings and errors of the server's log, by message. */
  readonly logged: ReadonlyMap<string, number>;
};

const CLIENTS = 5;
const SLOW = 3;

type Stage = {
  readonly folder: string;
  readonly host: CrashHost;
  readonly site: Site;
  readonly sample: Sample;
  readonly ledger: Ledger;
  readonly api: Api;
  /** The queue whose tests never end; absent in a short run. */
  readonly slow: { readonly api: Api; readonly repo: Bare } | undefined;
};

export async function crashRun(options: CrashOptions): Promise<CrashReport> {
  const random = seeded(options.seed);
  const { host = "git" } = options;
  const plan = planOf({ kills: options.kills, points: POINTS[host], only: options.point }, random);
  const withSlow = plan.some((kill) => kill.at === "effect:read-statuses:done");
  const stage = await prepare(host, withSlow);
  const tally: Tally = { server: new Map(), missed: new Map(), table: 0, withAll: 0, byItself: [] };
  const randoms = Array.from({ length: CLIENTS }, (_, at) => seeded(options.seed * 1_000 + at));
  const parts = { site: stage.site, random, tally, say: options.say };
  await interruptFirstStart(parts);
  const first = stage.site.start();
  await first.up;
  await stage.host.connect();
  await makeQueues(stage, options.seed % 2 === 0 ? "squash" : "merge_commit");
  first.child.kill("SIGKILL");
  await first.gone;
  const traffic = [startTraffic(stage.api, stage.sample, stage.ledger, randoms), ...slowTraffic(stage)];
  await carryOut(plan, parts);
  options.say("the last start; letting it settle");
  const last = stage.site.start();
  const { found, entries, logged } = await judge(stage, last, traffic, options.say);
  await stage.host.stop();
  const violations = [...found, ...tally.byItself, ...tooSeldom(plan, tally)];
  const { folder, site, ledger } = stage;
  if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
  return {
    folder,
    violations,
    tally,
    startsMs: site.startsMs,
    ledger,
    ends: counted(entries.map((one) => one.state)),
    logged,
  };
}

async function prepare(name: HostName, withSlow: boolean): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mainline-crash-")));
  const data = join(folder, "data");
  const host = await hostOf(name, folder, data);
  const ledger = aLedger();
  const site = aSite(data, host.args, host.isUp);
  const admin = (): string => readFileSync(join(data, "admin-token"), "utf8").trim();
  const queueOf = ({ key }: Bare) => {
    const repo = { host: key.host, owner: key.owner, name: key.name };
    return { repo, targetBranch: "main" };
  };
  const slow = async (): Promise<NonNullable<Stage["slow"]>> => {
    const { repo, token } = await host.slow(SLOW);
    return { api: anApi(site, ledger, token ?? admin, queueOf(repo)), repo };
  };
  const { sample } = host;
  return {
    folder,
    host,
    site,
    sample,
    ledger,
    api: anApi(site, ledger, admin, queueOf(sample.repo)),
    slow: withSlow ? await slow() : undefined,
  };
}

async function makeQueues({ api, slow }: Stage, mergeMethod: string): Promise<void> {
  await api.sure("/createQueue", { mode: "parallel", concurrency: 4, mergeMethod });
  // The shortest timeout there is, and no repeat: each test ends by a read after its deadline.
  await slow?.api.sure("/createQueue", {
    mode: "single",
    concurrency: 4,
    testingTimeoutMinutes: 1,
    retriesBeforeFailure: 0,
  });
}

const slowTraffic = ({ slow, ledger }: Stage): readonly Traffic[] =>
  slow === undefined ? [] : [startSlowTraffic(slow.api, ledger, SLOW)];

async function judge(stage: Stage, last: Life, traffic: readonly Traffic[], say: CrashOptions["say"]) {
  const { host, site, sample, ledger, api, slow } = stage;
  await last.up;
  await Promise.all(traffic.map((one) => one.stop()));
  say("the clients have stopped");
  const stuck = await settle(api);
  say("settled; taking out what waits for somebody");
  await empty(api);
  if (slow !== undefined) await empty(slow.api);
  say("empty; tidying up");
  const entries = await allEntries(api);
  const left = await untilNothingIsLeft(async () => [
    ...(await leftInTable(site.data)),
    ...leftBranches(sample.repo),
    ...(slow === undefined ? [] : leftBranches(slow.repo)),
    ...leftFiles(site.data),
    ...leftChecks(site.data),
    ...leftLocks(sample.repo),
    ...host.left(),
  ]);
  say("looking at every point of the target");
  const landed = await judgeLanded(api, sample, ledger, entries);
  const tables = processesOf(site.data).filter((one) => one.isTable);
  const several = tables.length === 1 ? [] : [`${tables.length} table processes run on the data`];
  const logged = loggedIn(site.data);
  const found = [...stuck, ...left, ...landed, ...judgeKept(ledger, entries), ...several, ...promised(logged)];
  return { found: [...found, ...(await stopped(site, last))], entries, logged };
}

/** What the log must never say. */
const promised = (logged: ReadonlyMap<string, number>): readonly string[] =>
  [...logged.keys()].filter((message) => /would break what the queue promises|given up/u.test(message));

/** A clean stop leaves no process behind. */
async function stopped({ data }: Site, last: Life): Promise<readonly string[]> {
  last.child.kill("SIGTERM");
  await last.gone;
  const left = processesOf(data).map((one) => `after the stop there still runs ${one.pid} ${one.command}`);
  return last.child.exitCode === 0 ? left : [...left, `the clean stop ended with ${last.child.exitCode}`];
}

function loggedIn(data: string): ReadonlyMap<string, number> {
  const lines = readFileSync(join(data, "server.log"), "utf8").split("\n").filter(Boolean);
  const worth = lines.flatMap((line) => {
    const { level, message, error, what }: { level: string; message: string; error?: string; what?: string } =
      JSON.parse(line);
    return level === "info" ? [] : [`${level}: ${message} ${error ?? what ?? ""}`.trim()];
  });
  return counted(worth);
}

function counted(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
