/** The life of a run on this host: opened once, repeated in parts, closed; and taken up again after a crash. */
import type { CommitSha, RepoKey, RunId } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import { type Clock, DAY_MS } from "../../kernel/time.ts";
import type { StatusCheck } from "../../queue/engine/types.ts";
import type { HostNews, RunStatuses } from "../port.ts";
import type { BuildAnswer } from "./build.ts";
import { type Checks, type Live, statusesOf, unknownRun } from "./checks.ts";
import { removeLeftovers } from "./execute.ts";
import { removeFolder } from "./checkout.ts";
import { createFinder } from "./finder.ts";
import { type Check, type Job, type Jobs, TOMBSTONE } from "./job.ts";
import type { JobAnswer } from "./new-job.ts";
import { createSerial } from "./order.ts";
import type { Passing } from "./points.ts";
import { dropRef } from "./refs.ts";
import { tellReports } from "./reports.ts";
import type { Repositories } from "./repository.ts";
import { OWN_BRANCHES } from "./names.ts";

const KEEP_LOGS_MS = 7 * DAY_MS;

export type Runs = ReturnType<typeof createRuns>;

type Needs = {
  readonly jobs: Jobs;
  readonly checks: Checks;
  readonly repositories: Repositories;
  readonly news: HostNews;
  readonly log: Log;
  readonly clock: Clock;
  readonly passing: Passing;
};

export function createRuns({ jobs, checks, repositories, news, log, clock, passing }: Needs) {
  const lives = new Map<RunId, Live>();
  const finder = createFinder();
  const serial = createSerial();
  let stopping = false;

  /** The run as this process looks after it; taken up from the disk if an earlier process opened it. */
  const find = async (run: RunId): Promise<Live | undefined> => {
    const known = lives.get(run);
    if (known !== undefined) return known;
    const job = await jobs.read(run);
    if (job === undefined) return undefined;
    finder.add(job);
    const unsettled = job.branchGone ? [] : job.checks.filter((check) => check.state === "PENDING");
    for (const check of unsettled) await removeLeftovers(jobs.folder(run), check);
    const live: Live = { job, running: new Map() };
    if (job.closedAt !== null) return live;
    lives.set(run, live);
    if (!stopping) checks.start(live);
    return live;
  };

  const open = (run: RunId, make: () => Promise<JobAnswer>): Promise<BuildAnswer> =>
    serial(run, async () => {
      const found = await find(run);
      if (found !== undefined && found.job.commit !== TOMBSTONE) return built(found.job);
      const made = await make();
      if (!made.ok) return made;
      const closedAt = found?.job.closedAt ?? null;
      const live: Live = { job: { ...made.value, closedAt }, running: new Map() };
      await jobs.write(live.job);
      finder.add(live.job);
      passing("host:job-recorded");
      // A close that overtook the building of its run: what was closed is not tested any more.
      if (closedAt !== null) await dropBranch(live);
      else {
        lives.set(run, live);
        if (!stopping) checks.start(live);
        // Nothing to run: no check's end will tell how it stands.
        if (live.running.size === 0) news.checksMoved(live.job.repo, run);
      }
      return built(live.job);
    });

  const dropBranch = async (live: Live): Promise<void> => {
    const { repo, branch } = live.job;
    try {
      if (`refs/heads/${branch}`.startsWith(OWN_BRANCHES))
        await dropRef(await repositories.open(repo), `refs/heads/${branch}`);
      passing("host:branch-removed");
      await checks.change(live, (job) => ({ ...job, branchGone: true }));
    } catch (error) {
      // A repository that is away, perhaps for good: not a reason to repeat the closing for ever. recover() looks again.
      log.warn("A testing branch could not be removed.", { branch, what: String(error) });
    }
  };

  const close = (run: RunId, tombstone: Job): Promise<void> =>
    serial(run, async () => {
      const live = (await find(run)) ?? { job: tombstone, running: new Map() };
      if (live.job.branchGone) return;
      await checks.change(live, (job) => ({ ...job, closedAt: job.closedAt ?? clock() }));
      passing("host:close-recorded");
      lives.delete(run);
      await checks.stop(live);
      await dropBranch(live);
    });

  const repeat = (run: RunId, number: number, contexts: readonly string[]): Promise<void> =>
    serial(run, async () => {
      const live = await find(run);
      if (live === undefined || live.job.closedAt !== null || live.job.repeats >= number) return;
      await checks.stop(live, contexts);
      await checks.change(live, (job) => ({
        ...job,
        repeats: number,
        checks: job.checks.map((check) => (contexts.includes(check.context) ? again(check) : check)),
      }));
      news.checksMoved(live.job.repo, run);
      if (!stopping) checks.start(live);
    });

  const statuses = async (run: RunId): Promise<RunStatuses> => {
    const live = lives.get(run) ?? (await serial(run, () => find(run)));
    return live === undefined || live.job.commit === TOMBSTONE
      ? unknownRun(run)
      : statusesOf(live.job, jobs.folder(run));
  };

  /** What was reported of exactly this commit, by any run here that broke nowhere: rather by one that passed. */
  const statusesOfCommit = async (repo: RepoKey, commit: CommitSha): Promise<readonly StatusCheck[] | undefined> => {
    let latest: readonly StatusCheck[] | undefined;
    for (const run of finder.runsOf(repo, commit)) {
      const job = lives.get(run)?.job ?? (await jobs.read(run));
      if (job === undefined || job.broken !== null) continue;
      const reported = statusesOf(job, jobs.folder(run)).statuses;
      if (reported.length > 0 && reported.every((one) => one.state === "SUCCESS")) return reported;
      if (reported.some((one) => one.state !== "PENDING")) latest ??= reported;
    }
    return latest;
  };

  const recoverOne = (run: RunId): Promise<void> =>
    serial(run, async () => {
      const live = await find(run);
      if (live === undefined) return jobs.remove(run);
      const { closedAt, repo, branchGone } = live.job;
      await tellReports(live.job, jobs.folder(run), (report) => news.reported(repo, report));
      if (closedAt === null) return news.checksMoved(repo, run);
      if (!branchGone) await dropBranch(live);
      if (closedAt + KEEP_LOGS_MS < clock()) await removeFolder(jobs.folder(run));
    });

  const recover = async (): Promise<void> => {
    for (const run of await jobs.all())
      await recoverOne(run).catch((error: unknown) =>
        log.error("A run was not recovered.", { run, what: String(error) }),
      );
  };

  const stop = async (): Promise<void> => {
    stopping = true;
    await Promise.all([...lives.values()].map((live) => checks.stop(live)));
  };

  return { open, close, repeat, statuses, statusesOfCommit, recover, stop };
}

const built = ({ commit, tree }: Job): BuildAnswer => ({ ok: true, value: { commit, tree } });

/** What is missing stays missing: the content that was tested does not change. */
const again = (check: Check): Check =>
  check.command === null ? check : { ...check, attempt: check.attempt + 1, state: "PENDING", description: null };
