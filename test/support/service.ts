/**
 * A server with a folder of real repositories, and queues on them driven over HTTP in one-word verbs. Holds no
 * assertions: a verb throws when it is refused, `asks` answers whatever came, `breaches()` says which answers were
 * not what the OpenAPI document promises.
 *
 * `aService` runs it in this process, which costs little. `aServiceProcess` is `npm start`, for what only a process of
 * its own can show. `aDrivenService` runs in this process and never looks at a clock by itself: whoever waits lets the
 * time pass, a second at a time, whenever nothing is left to be done.
 *
 *     const service = await aService();
 *     const { repo, queue } = await service.queue({ checks: { unit: "true" } });
 *     repo.pullRequest(1, { files: { "a.txt": "1\n" } });
 *     await queue.submit(1);
 *     await queue.ends(1, "MERGED");
 */
import { rmSync } from "node:fs";
import type * as z from "zod";
import { parseTokenCommand } from "../../infra/admin/token-arguments.ts";
import { runTokenCommand } from "../../infra/admin/token-commands.ts";
import { openToolTable } from "../../infra/local/data-table.ts";
import { main as pr } from "../../infra/local/pr.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { type EpochMs, systemClock } from "../../shared/kernel/time.ts";
import { explanation } from "../../shared/schemas/explanation.ts";
import { pullRequestPage, submittedPullRequest, submittedPullRequests } from "../../shared/schemas/pull-request.ts";
import { queue as queueShape, queueWithPullRequests } from "../../shared/schemas/queue.ts";
import { testingDetails } from "../../shared/schemas/test-run.ts";
import { tokenStore } from "../../shared/table/tokens.ts";
import { present } from "./clock.ts";
import { contractProblems } from "./contract.ts";
import { eventually, type Until } from "./eventually.ts";
import { aFolder, aRepository, config, type TestRepository } from "./git-repository.ts";
import { type Driven, drivenLocal, type More, startInProcess, type Timed } from "./in-process.ts";
import { callApi, type Called, startServer, type TestServer } from "./server.ts";

export type Fields = Readonly<Record<string, unknown>>;
export type PullRequest = z.output<typeof submittedPullRequest>;
export type PullRequestState = PullRequest["state"];

export type Asks = (path: string, body?: unknown, init?: RequestInit) => Promise<Called>;

export type QueueClient = {
  /** What names it in every request. */
  readonly at: { readonly repo: Fields; readonly targetBranch: string };
  /** Any endpoint with the queue's name filled in; refusals are answers. */
  readonly asks: (path: string, fields?: Fields, init?: RequestInit) => Promise<Called>;
  readonly submit: (prNumber: number, more?: Fields) => Promise<PullRequest>;
  readonly cancel: (prNumber: number) => Promise<PullRequest>;
  readonly restart: (prNumber: number) => Promise<PullRequest>;
  readonly get: (prNumber: number, more?: Fields) => Promise<PullRequest>;
  readonly timeline: (prNumber: number) => Promise<NonNullable<PullRequest["timeline"]>>;
  readonly list: (more?: Fields) => Promise<z.output<typeof pullRequestPage>>;
  readonly several: (...prNumbers: readonly number[]) => Promise<z.output<typeof submittedPullRequests>>;
  readonly explain: (prNumber: number) => Promise<z.output<typeof explanation>>;
  readonly runs: (more?: Fields) => Promise<z.output<typeof testingDetails>>;
  readonly view: () => Promise<z.output<typeof queueWithPullRequests>>;
  readonly update: (change: Fields) => Promise<z.output<typeof queueShape>>;
  readonly remove: () => Promise<z.output<typeof queueShape>>;
  /** Waits until the PR is in one of these states. */
  readonly reaches: (prNumber: number, ...states: readonly PullRequestState[]) => Promise<PullRequest>;
  /** Waits until the PR has ended, however it did. */
  readonly ends: (prNumber: number) => Promise<PullRequest>;
};

export type QueueWishes = {
  /** `owner/name`; a new one in each call if it is not given. */
  readonly name?: string;
  readonly checks?: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly branch?: string;
  readonly settings?: Fields;
};

/** What every server has, wherever it runs. */
export type Running = Pick<TestServer, "url" | "data" | "adminToken" | "stop">;

export type Service<S extends Running = Running> = {
  readonly server: () => S;
  readonly folder: string;
  /** With the admin token of `local`; the answer is held against the contract. */
  readonly asks: Asks;
  /** The same with another token. */
  readonly as: (token: string, enumCase?: "upper" | "lower") => Asks;
  /** What `npm run token -- <args>` does: the new token, for `create` and `rotate`. `now` is when it is done. */
  readonly token: (...args: readonly string[]) => Promise<string>;
  readonly tokenAt: (now: EpochMs, ...args: readonly string[]) => Promise<string>;
  /** What `npm run pr -- <args>` does on this repository. */
  readonly pr: (repo: TestRepository, ...args: readonly string[]) => Promise<string>;
  readonly repository: (wishes?: QueueWishes) => TestRepository;
  readonly queue: (wishes?: QueueWishes) => Promise<{ readonly repo: TestRepository; readonly queue: QueueClient }>;
  readonly client: (repo: Pick<TestRepository, "key">, branch?: string, asks?: Asks) => QueueClient;
  /** Stopped, and started again on the same data. */
  readonly again: () => Promise<void>;
  readonly breaches: () => readonly string[];
  readonly stop: () => Promise<void>;
};

/** `npm run token` without a process of its own, which costs a second of a slow machine. */
async function runToken(data: string, now: EpochMs, args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  const { table, close } = await openToolTable({ data, log: silentLog });
  const output = { say: () => {}, print: (line: string) => void printed.push(line) };
  try {
    await runTokenCommand(parseTokenCommand(args, now), { store: tokenStore(table), now, output });
  } finally {
    await close();
  }
  return printed.at(-1) ?? "";
}

async function runPr(args: readonly string[]): Promise<string> {
  const [said, complaints]: [string[], string[]] = [[], []];
  const code = await pr(
    args,
    (line) => void said.push(line),
    (line) => void complaints.push(line),
  );
  if (code !== 0) throw new Error(`pr ${args.join(" ")}: ${complaints.join("\n")}`);
  return said.join("\n");
}

let made = 0;

/** `prepare` is given the data folder before the service starts on it. */
type Prepare = (data: string) => void;

export const aService = async (
  args: readonly string[] = [],
  prepare: Prepare = () => {},
  more: More = {},
): Promise<LocalService> =>
  timed(
    await serviceOn(
      (options: StartOptions) => startInProcess(options, more),
      args,
      prepare,
      ({ until }) => until,
    ),
  );

export const aServiceProcess = (args: readonly string[] = [], prepare: Prepare = () => {}): Promise<ServiceProcess> =>
  serviceOn(startServer, args, prepare, () => eventually);

export type LocalService = Service<Timed> & Pick<Timed, "until" | "passes">;

const timed = (service: Service<Timed>): LocalService => ({
  ...service,
  until: (read, is, given) => service.server().until(read, is, given),
  passes: (ms) => service.server().passes(ms),
});

export type ServiceProcess = Service<TestServer>;
export type DrivenService = Service<Driven> & { readonly until: Until };

/** `outside` ends when what else is part of the scene has nothing left to do. */
export async function aDrivenService(prepare: Prepare, outside: () => Promise<void>): Promise<DrivenService> {
  const start = (options: StartOptions): Promise<Driven> => drivenLocal(options, outside);
  const service = await serviceOn(start, [], prepare, ({ until }) => until);
  return { ...service, until: (read, is, given) => service.server().until(read, is, given) };
}

type StartOptions = { readonly data: string; readonly args: readonly string[] };

async function serviceOn<S extends Running>(
  start: (options: StartOptions) => Promise<S>,
  args: readonly string[],
  prepare: Prepare,
  untilOf: (server: S) => Until,
): Promise<Service<S>> {
  const folder = aFolder();
  const data = aFolder();
  prepare(data);
  const options = { data, args: ["--repositories", folder, ...args] };
  let server = await start(options);
  const breaches: string[] = [];

  const as =
    (token: string, enumCase: "upper" | "lower" = "upper"): Asks =>
    async (path, body, init) => {
      const called = await callApi(server.url, token, path, body, init);
      breaches.push(...contractProblems(path.split("?")[0] ?? path, called, enumCase));
      return called;
    };
  const asks = as(server.adminToken);

  const repository = ({ name = `acme/app-${(made += 1)}`, checks = { unit: "true" }, ...more }: QueueWishes = {}) => {
    const repo = aRepository(folder, name);
    const files = { "README.md": "# App\n", ...config(checks, more.required), ...more.files };
    repo.commit(more.branch ?? "main", { files, message: "First" });
    return repo;
  };
  const until: Until = (read, is, given) => untilOf(server)(read, is, given);
  const client = (repo: Pick<TestRepository, "key">, branch = "main", by = asks): QueueClient =>
    queueClient(by, until, {
      repo: { host: repo.key.host, owner: repo.key.owner, name: repo.key.name },
      targetBranch: branch,
    });

  return {
    server: () => server,
    folder,
    asks,
    as,
    token: (...rest) => runToken(data, systemClock(), [...rest, "--data", data]),
    tokenAt: (now, ...rest) => runToken(data, now, [...rest, "--data", data]),
    pr: (repo, ...rest) => runPr([...rest, "--repo", `${repo.key.owner}/${repo.key.name}`, "--repositories", folder]),
    repository,
    queue: async (wishes = {}) => {
      const repo = repository(wishes);
      const queue = client(repo, wishes.branch);
      shown(queueShape, await queue.asks("/createQueue", { ...wishes.settings }));
      return { repo, queue };
    },
    client,
    again: async () => {
      await server.stop();
      server = await start(options);
    },
    breaches: () => [...new Set(breaches)],
    stop: async () => {
      await server.stop();
      present();
      for (const one of [folder, data]) rmSync(one, { recursive: true, force: true });
    },
  };
}

const ENDED: ReadonlySet<string> = new Set(["MERGED", "FAILED", "CANCELLED"]);

/** The body of a success; whatever else came is thrown. */
export function shown<Shape extends z.ZodType>(shape: Shape, { status, body }: Called): z.output<Shape> {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return shape.parse(body);
}

function queueClient(by: Asks, waits: Until, at: QueueClient["at"]): QueueClient {
  const asks: QueueClient["asks"] = (path, fields = {}, init) => by(path, { ...at, ...fields }, init);
  const ofPullRequest = async (path: string, number: number, more: Fields = {}): Promise<PullRequest> =>
    shown(submittedPullRequest, await asks(path, { pr: { number }, ...more }));
  const get: QueueClient["get"] = (number, more) => ofPullRequest("/getSubmittedPullRequest", number, more);
  const until = async (number: number, what: string, is: (pr: PullRequest) => boolean): Promise<PullRequest> => {
    try {
      return await waits(() => get(number), is, { what: `#${number} ${what}` });
    } catch (error) {
      const told = await asks("/explainPullRequest", { pr: { number } });
      throw new Error(`${String(error)}\n${JSON.stringify(told.body)}`, { cause: error });
    }
  };
  return {
    at,
    asks,
    submit: (number, more) => ofPullRequest("/submitPullRequest", number, more),
    cancel: (number) => ofPullRequest("/cancelPullRequest", number),
    restart: (number) => ofPullRequest("/restartTestsOnPullRequest", number),
    get,
    timeline: async (number) => (await get(number, { includeTimeline: true })).timeline ?? [],
    list: async (more) => shown(pullRequestPage, await asks("/listPullRequests", more)),
    several: async (...numbers) =>
      shown(
        submittedPullRequests,
        await asks("/getSubmittedPullRequests", { prs: numbers.map((number) => ({ number })) }),
      ),
    explain: async (number) => shown(explanation, await asks("/explainPullRequest", { pr: { number } })),
    runs: async (more) => shown(testingDetails, await asks("/getMergeQueueTestingDetails", more)),
    view: async () => shown(queueWithPullRequests, await asks("/getQueue")),
    update: async (change) => shown(queueShape, await asks("/updateQueue", change)),
    remove: async () => shown(queueShape, await asks("/deleteQueue")),
    reaches: (number, ...states) => until(number, `in ${states.join(" or ")}`, (pr) => states.includes(pr.state)),
    ends: (number) => until(number, "ended", (pr) => ENDED.has(pr.state)),
  };
}
