/** One simulated world: the service, its host, its clock, and everybody who watches. */
import { orgSlug, type QueueKey, type RepoKey } from "../../shared/kernel/ids.ts";
import type { Log } from "../../shared/kernel/log.ts";
import { epochMs } from "../../shared/kernel/time.ts";
import type { Table } from "../../shared/table/client.ts";
import { codeHostOf } from "./host/code-host.ts";
import { aRunner, HABITS, type Habits, type Runner } from "./host/runner.ts";
import { unreliableHost } from "./host/unreliable-host.ts";
import { HostWorld, TARGET } from "./host/world.ts";
import { Book } from "./judges/book.ts";
import { BrakeJudge } from "./judges/brakes.ts";
import { CommitJudge } from "./judges/commits.ts";
import { LandingJudge } from "./judges/landings.ts";
import { Promises } from "./judges/promises.ts";
import { StoredJudge } from "./judges/stored.ts";
import { type Fault, Faults } from "./machine/faults.ts";
import { type Functions, Gateway } from "./machine/gateway.ts";
import { randomFor } from "./machine/random.ts";
import { Scheduler } from "./machine/scheduler.ts";
import { Service } from "./machine/service.ts";
import type { Deployment } from "./machine/site.ts";
import { Weather } from "./machine/table.ts";
import { virtually } from "./machine/virtual.ts";

export const ORG = orgSlug("acme");
export const REPO: RepoKey = { host: "git.local", owner: "acme", name: "app" };
export const QUEUE: QueueKey = { org: ORG, repo: REPO, branch: TARGET };

export const REF = { repo: REPO, targetBranch: TARGET };

/** Of the table in one minute: many times what the busiest one takes. */
const CALLS_MAX = 5_000;

/** A Tuesday. */
const START = epochMs(Date.UTC(2027, 0, 5, 9));

export type WorldOptions = {
  readonly seed: number;
  readonly deployment: Deployment;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly habits?: Partial<Habits>;
  readonly functions: Functions;
  /** An empty table, and where it is. */
  readonly table: Table;
  readonly endpoint: string;
  readonly echo?: ((line: string) => void) | undefined;
};

export type World = ReturnType<typeof aWorld>;

/** To be made, and everything to be done with it, inside of `inWorld`. */
function aWorld(options: WorldOptions, scheduler: Scheduler) {
  const { seed, deployment, table, endpoint, functions } = options;
  const random = (purpose: string) => randomFor(seed, purpose);
  const book = new Book(scheduler.now, () => scheduler.stop(), options.echo);
  const faults = new Faults(options.faults, random("chance"));
  const promises = new Promises(book);
  const brakes = new BrakeJudge(book);
  const weather = new Weather();
  const hostWeather = { outUntil: 0 };
  const checks: Runner = aRunner({
    habits: { ...HABITS, ...options.habits },
    truth: () => host.truth,
    scheduler,
    faults,
    random: random("checks"),
  });
  const host: HostWorld = new HostWorld({
    clock: scheduler.now,
    start: checks.start,
    tell: (news) => service.hear(news),
    moved: (movement) => landings.moved(movement),
  });
  const landings = new LandingJudge(book, host);
  const stored = new StoredJudge(book);
  const commits = new CommitJudge(book, [landings, brakes, stored]);
  const service: Service = new Service({
    deployment,
    scheduler,
    faults,
    randomFor: random,
    table: { endpoint, name: table.name, weather },
    host: unreliableHost(codeHostOf(host), { scheduler, faults, random: random("host"), weather: hostWeather }),
    org: ORG,
    repo: REPO,
    log: logOf(book),
    say: (line) => book.say(line),
    watch: (queues) => commits.watch(queues),
    written: (what) => {
      if (weather.callsInAMinute(scheduler.now()) > CALLS_MAX) book.problem("it goes round in circles");
      commits.written(what);
      brakes.written(what);
    },
  });
  const gateway = new Gateway(functions, service.site, scheduler, random("gateway"));
  const hurry = (): void => checks.hurry();
  return {
    seed,
    startedAt: START,
    random,
    scheduler,
    book,
    faults,
    commits,
    promises,
    weather,
    hostWeather,
    host,
    hurry,
    service,
    gateway,
    table,
  };
}

/** The service's own log, as far as it warns. */
function logOf(book: Book): Log {
  const line =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      book.say(`${level}: ${message} ${JSON.stringify(fields).slice(0, 300)}`);
  return { info: () => {}, warn: line("warning"), error: line("error") };
}

export function inWorld<T>(options: WorldOptions, work: (world: World) => Promise<T>): Promise<T> {
  const scheduler = new Scheduler(START);
  const random = randomFor(options.seed, "the code's own");
  return virtually({ now: scheduler.now, random: random.next, after: scheduler.after }, () =>
    work(aWorld(options, scheduler)),
  );
}
