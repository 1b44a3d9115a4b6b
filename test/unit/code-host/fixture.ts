/** A git host on a folder of its own, for tests. Holds no assertions. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createGitHost, type GitHost } from "../../../shared/code-host/git/host.ts";
import { createLauncher } from "../../../shared/code-host/git/launcher.ts";
import { NO_SANDBOX, type Sandbox } from "../../../shared/code-host/git/sandbox.ts";
import type { BuildRequest, Built, HostNews, LandRequest, RunStatuses } from "../../../shared/code-host/port.ts";
import { type CommitSha, entryId, orgSlug, runId } from "../../../shared/kernel/ids.ts";
import type { Log } from "../../../shared/kernel/log.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { epochMs, systemClock } from "../../../shared/kernel/time.ts";
import type { Change } from "../../../shared/queue/engine/types.ts";
import { eventually as untilIt } from "../../support/eventually.ts";
import { aFolder, aRepository, type TestRepository } from "../../support/git-repository.ts";

export type Fixture = {
  readonly data: string;
  readonly work: string;
  readonly repositories: string;
  readonly repo: TestRepository;
  readonly host: GitHost;
  readonly moved: { prNumbers: number[]; branches: string[] };
  readonly statusesOf: (run: string) => Promise<RunStatuses>;
  readonly ended: (run: string) => Promise<RunStatuses>;
  readonly log: (run: string, context: string) => Promise<string>;
  readonly dispose: () => Promise<void>;
};

export type FixtureOptions = {
  readonly sandbox?: Sandbox;
  readonly checksAtOnce?: number;
  readonly log?: Log;
  readonly news?: Partial<HostNews>;
  readonly data?: string;
};

/** Of the worker: it ends with it. */
const launcher = createLauncher();

export async function aGitHost(options: FixtureOptions = {}): Promise<Fixture> {
  const data = options.data ?? aFolder();
  const repositories = join(data, "repositories");
  const work = join(data, "git");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "admin-token"), "the-admin-token", { mode: 0o600 });
  const repo = aRepository(repositories);
  const moved: Fixture["moved"] = { prNumbers: [], branches: [] };
  const host = await createGitHost({
    org: orgSlug("local"),
    host: "git.local",
    repositories,
    work,
    news: {
      reported: options.news?.reported ?? (async () => true),
      checksMoved: options.news?.checksMoved ?? (() => {}),
      refsMoved: (_repo, { prNumbers, branches }) => {
        moved.prNumbers.push(...prNumbers);
        moved.branches.push(...branches);
      },
    },
    log: options.log ?? silentLog,
    clock: systemClock,
    sandbox: options.sandbox ?? NO_SANDBOX,
    // As the server does.
    launch: launcher.launch,
    ...(options.checksAtOnce === undefined ? {} : { checksAtOnce: options.checksAtOnce }),
  });
  const statusesOf = (run: string): Promise<RunStatuses> => host.statuses(repo.key, runId(run));
  return {
    data,
    work,
    repositories,
    repo,
    host,
    moved,
    statusesOf,
    ended: (run) =>
      untilIt(
        () => statusesOf(run),
        ({ complete }) => complete,
      ),
    log: async (run, context) => {
      const status = (await statusesOf(run)).statuses.find((each) => each.context === context);
      return readFile(fileURLToPath(status?.url ?? ""), "utf8");
    },
    dispose: async () => {
      await host.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Asks until there is an answer. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const answer = await untilIt(ask, (value) => value !== undefined);
  if (answer === undefined) throw new Error("unreachable");
  return answer;
}

export const aChange = (prNumber: number, headSha: CommitSha, more: Partial<Change> = {}): Change => ({
  entry: entryId(`e${prNumber}`),
  prNumber,
  headSha,
  title: `Title ${prNumber}`,
  author: { name: "Ada", email: "ada@example.com" },
  date: epochMs(1_700_000_000_000 + prNumber * 60_000),
  ...more,
});

export const aBuild = (f: Fixture, run: string, base: CommitSha, more: Partial<BuildRequest> = {}): BuildRequest => ({
  run: runId(run),
  repo: f.repo.key,
  branch: `mainline/pr-1/${run}`,
  base,
  changes: [],
  mergeMethod: "MERGE_COMMIT",
  required: [],
  targetBranch: "main",
  ...more,
});

export async function built(f: Fixture, request: BuildRequest): Promise<Built> {
  const answer = await f.host.buildRun(request);
  if (!answer.ok) throw new Error(`not built: ${JSON.stringify(answer.why)}`);
  return answer.value;
}

export const aLanding = (
  request: BuildRequest,
  { commit, tree }: Built,
  more: Partial<LandRequest> = {},
): LandRequest => {
  const { run, repo, base, changes, mergeMethod } = request;
  return { run, repo, base, expectedTip: base, changes, mergeMethod, commit, tree, targetBranch: "main", ...more };
};
