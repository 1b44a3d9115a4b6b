/** The whole: a busy queue, kills, a time to settle, and what must be true then. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, anApi } from "./api.ts";
import { allEntries } from "./entries.ts";
import { judgeKept } from "./judge-kept.ts";
import { judgeLanded } from "./judge-landed.ts";
import { leftBranches, leftChecks, leftFiles, leftInTable, leftLocks } from "./judge-leftovers.ts";
import { carryOut, interruptFirstStart, planOf, type Tally, tooSeldom } from "./kills.ts";
import { aLedger, type Ledger } from "./ledger.ts";
import { processesOf } from "./processes.ts";
import { seeded } from "./random.ts";
import { aSample, aSlowSample, type Sample } from "./sample.ts";
import { empty, settle, untilNothingIsLeft } from "./settle.ts";
import { aSite, type Life, type Site } from "./site.ts";
import { startSlowTraffic, startTraffic, type Traffic } from "./traffic.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly kills: number;
  readonly point?: string | undefined;
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
  readonly site: Site;
  readonly sample: Sample;
  readonly ledger: Ledger;
  readonly api: Api;
  /** The queue whose tests never end; absent in a short run. */
  readonly slow: { readonly api: Api; readonly repo: ReturnType<typeof aSlowSample> } | undefined;
};

export async function crashRun(options: CrashOptions): Promise<CrashReport> {
  const random = seeded(options.seed);
  const plan = planOf(options.kills, random, options.point);
  const withSlow = plan.some((kill) => kill.at === "effect:read-statuses:done");
  const stage = prepare(withSlow);
  const tally: Tally = { server: new Map(), missed: new Map(), table: 0, withAll: 0, byItself: [] };
  const randoms = Array.from({ length: CLIENTS }, (_, at) => seeded(options.seed * 1_000 + at));
  const parts = { site: stage.site, random, tally, say: options.say };
  await interruptFirstStart(parts);
  const first = stage.site.start();
  await first.up;
  await makeQueues(stage, options.seed % 2 === 0 ? "squash" : "merge_commit");
  first.child.kill("SIGKILL");
  await first.gone;
  const traffic = [startTraffic(stage.api, stage.sample, stage.ledger, randoms), ...slowTraffic(stage)];
  await carryOut(plan, parts);
  options.say("the last start; letting it settle");
  const last = stage.site.start();
  const { found, entries, logged } = await judge(stage, last, traffic, options.say);
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

function prepare(withSlow: boolean): Stage {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mainline-crash-")));
  const [data, repositories, slowFolder] = ["data", "repositories", "slow"].map((name) => join(folder, name));
  if (data === undefined || repositories === undefined || slowFolder === undefined) throw new Error("no folders");
  for (const made of [data, repositories, slowFolder]) mkdirSync(made);
  const ledger = aLedger();
  const sample = aSample(repositories);
  const site = aSite(data, ["--repositories", repositories, "--repositories", `slow=${slowFolder}`]);
  const admin = (): string => readFileSync(join(data, "admin-token"), "utf8").trim();
  const queueOf = (name: string) => ({ repo: { host: "git.local", owner: "acme", name }, targetBranch: "main" });
  const slow = (): NonNullable<Stage["slow"]> => {
    const token = mintToken(data);
    return { api: anApi(site, ledger, () => token, queueOf("slow")), repo: aSlowSample(slowFolder, SLOW) };
  };
  return {
    folder,
    site,
    sample,
    ledger,
    api: anApi(site, ledger, admin, queueOf("app")),
    slow: withSlow ? slow() : undefined,
  };
}

/** For an organization of its own: its checks then wait in a line of their own. */
function mintToken(data: string): string {
  const args = ["create", "--org", "slow", "--scopes", "read,submit,admin", "--data", data];
  const said = execFileSync(process.execPath, ["infra/admin/token.ts", ...args], { encoding: "utf8", stdio: "pipe" });
  return said.trim().split("\n").at(-1) ?? "";
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
  const { site, sample, ledger, api, slow } = stage;
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
