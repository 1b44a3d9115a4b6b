/** The code host on this machine: bare repositories in a folder, pull requests as refs, checks as processes. */
import { mkdir, realpath } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { CommitSha, OrgSlug, RunId } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import { type Clock, SECOND_MS } from "../../kernel/time.ts";
import { type CodeHost, type HostNews, HostUnavailable } from "../port.ts";
import { createChecks } from "./checks.ts";
import { codeownersOf } from "./codeowners.ts";
import { createGit, requireGit } from "./git.ts";
import { createJobs, tombstone } from "./job.ts";
import { land } from "./land.ts";
import type { Launch } from "./launch.ts";
import { isRunName } from "./names.ts";
import type { Memory } from "./build.ts";
import { newJob } from "./new-job.ts";
import { createLimit } from "./order.ts";
import type { Permit } from "./permit.ts";
import type { Passing } from "./points.ts";
import { type Judgements, readPullRequest } from "./pull-request.ts";
import { createRepositories, type Repository } from "./repository.ts";
import { createRuns } from "./runs.ts";
import type { Sandbox } from "./sandbox.ts";
import { targetsOfPaths } from "./targets.ts";
import { readTip } from "./tip.ts";
import { createLook, createWatch } from "./watch.ts";

export type GitHostOptions = {
  readonly org: OrgSlug;
  /** The name under which its repositories are known, `git.local`. */
  readonly host: string;
  /** Repositories are at `<repositories>/<owner>/<name>.git`. */
  readonly repositories: string;
  /** This connection's own folder, for jobs, worktrees and logs. No two connections may share it. */
  readonly work: string;
  readonly news: HostNews;
  readonly log: Log;
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  /** How git is started; as a child of this process if not given. */
  readonly launch?: Launch;
  /** Checks that run at the same time; the rest wait. The number of cores, at least 2, if not given. */
  readonly checksAtOnce?: number;
  readonly passing?: Passing;
  /** Called before a run is built and before a check starts; throws HostUnavailable where none may. Absent: all may. */
  readonly permit?: Permit;
};

export type GitHost = CodeHost & {
  readonly org: OrgSlug;
  /** Takes up the runs of an earlier process: kills what it left, starts again what has no result. Call it once, first. */
  readonly recover: () => Promise<void>;
  /** Looks at the refs every second until `stop()`; `look()` is one such look. */
  readonly watch: () => void;
  readonly look: () => Promise<void>;
  /** Ends the watch and all checks. What had no result starts again with the next `recover()`. */
  readonly stop: () => Promise<void>;
};

export async function createGitHost(options: GitHostOptions): Promise<GitHost> {
  const { host, news, log, clock, passing = () => {}, permit = async () => {} } = options;
  await mkdir(join(options.work, "runs"), { recursive: true, mode: 0o700 });
  await mkdir(join(options.work, "home"), { recursive: true });
  const work = await realpath(options.work);
  const git = createGit(join(work, "home"), options.launch);
  await requireGit(git);
  const repositories = await createRepositories(options.repositories, host, work, git);
  const jobs = createJobs(work);
  const limit = createLimit(options.checksAtOnce ?? Math.max(2, availableParallelism()));
  const hidden = [options.repositories, work];
  const { sandbox } = options;
  const checks = createChecks({ git, jobs, repositories, hidden, sandbox, news, log, limit, passing, permit });
  const runs = createRuns({ jobs, checks, repositories, news, log, clock, passing });
  const judgements: Judgements = new Map();
  const memories = new Map<string, Memory>();
  const memoryOf = ({ dir }: Repository): Memory => {
    const memory: Memory = memories.get(dir) ?? new Map();
    memories.set(dir, memory);
    return memory;
  };
  const look = createLook(repositories, news, log);
  const watch = createWatch(look, SECOND_MS, log);

  return {
    org: options.org,
    pullRequest: (repo, prNumber, targetBranch) =>
      guarded(async () => {
        const statusesOf = (head: CommitSha) => runs.statusesOfCommit(repo, head);
        return readPullRequest(await repositories.open(repo), prNumber, targetBranch, { judgements, statusesOf });
      }),
    tip: (repo, branch, since, heads) =>
      guarded(async () => readTip(await repositories.open(repo), branch, since, heads)),
    codeowners: async (repo) => codeownersOf(await repositories.open(repo)),
    impactedTargets: (repo, _prNumber, headSha, branch) =>
      guarded(async () => targetsOfPaths(await repositories.open(repo), headSha, branch)),
    buildRun: (request) =>
      guarded(async () => {
        await permit();
        const repo = await repositories.open(request.repo);
        return runs.open(named(request.run), () => newJob(repo, request, memoryOf(repo), passing));
      }),
    repeatChecks: (_repo, run, repeat, contexts) => guarded(() => runs.repeat(named(run), repeat, contexts)),
    statuses: (_repo, run) => guarded(() => runs.statuses(named(run))),
    closeRun: (repo, run, branch) => guarded(() => runs.close(named(run), tombstone(run, repo, branch))),
    land: (request) => guarded(async () => land(await repositories.open(request.repo), request, passing)),
    recover: runs.recover,
    look,
    watch: watch.start,
    stop: async () => {
      await watch.stop();
      await runs.stop();
    },
  };
}

/** Whatever breaks on the way to an answer, a disk, a process, says nothing about the pull request. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostUnavailable) throw error;
    throw new HostUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A run's id names a folder. */
function named(run: RunId): RunId {
  if (!isRunName(run)) throw new HostUnavailable("the run's id is not one of this service's");
  return run;
}
