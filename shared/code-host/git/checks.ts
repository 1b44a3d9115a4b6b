/** Runs a job's checks in the background and writes down how each ended. */
import type { RunId } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { HostNews, RunStatuses } from "../port.ts";
import { pathToFileURL } from "node:url";
import { execute } from "./execute.ts";
import type { Git } from "./git.ts";
import { type Check, type Job, type Jobs, logPath } from "./job.ts";
import type { Outcome } from "./messenger.ts";
import { cut } from "./names.ts";
import { createSerial, type Limit } from "./order.ts";
import type { Permit } from "./permit.ts";
import type { Passing } from "./points.ts";
import { tellReports } from "./reports.ts";
import type { Repositories } from "./repository.ts";
import type { Sandbox } from "./sandbox.ts";

/** A run whose checks this process looks after. `job` is replaced as they end. */
export type Live = { job: Job; readonly running: Map<string, Running> };
type Running = { readonly stop: AbortController; readonly done: Promise<void> };

export type Checks = {
  /** Starts every check that has no result and is not running. */
  readonly start: (live: Live) => void;
  /** Stops these checks, or all, and waits until nothing of them runs. Their results stay open. */
  readonly stop: (live: Live, contexts?: readonly string[]) => Promise<void>;
  /** Changes the job and writes it down. The only way a job changes: one at a time, each from what the last one left. */
  readonly change: (live: Live, change: (job: Job) => Job) => Promise<void>;
};

export type ChecksNeeds = {
  readonly git: Git;
  readonly jobs: Jobs;
  readonly repositories: Repositories;
  readonly sandbox: Sandbox;
  /** Folders that no check may see. */
  readonly hidden: readonly string[];
  readonly news: HostNews;
  readonly log: Log;
  readonly limit: Limit;
  readonly passing: Passing;
  readonly permit: Permit;
};

export function createChecks(needs: ChecksNeeds): Checks {
  const { git, jobs, repositories, sandbox, hidden, news, log, limit, passing, permit } = needs;
  const serial = createSerial();

  const change: Checks["change"] = (live, change) =>
    serial(live.job.run, async () => {
      const next = change(live.job);
      await jobs.write(next);
      live.job = next;
    });

  const attempt = async (live: Live, check: Check, command: string, stop: AbortSignal): Promise<Outcome> => {
    try {
      await permit();
      const repo = await repositories.open(live.job.repo);
      const folder = jobs.folder(live.job.run);
      return await execute(git, sandbox, { repo, job: live.job, check, command, folder, hidden, stop });
    } catch (error) {
      return { kind: "NOT_STARTED", what: error instanceof Error ? error.message : String(error) };
    }
  };

  const settle = async (live: Live, check: Check, outcome: Exclude<Outcome, { kind: "STOPPED" }>): Promise<void> => {
    try {
      await change(live, (job) => withOutcome(job, check, outcome));
      passing("host:result-written");
    } catch (error) {
      // The disk: the result cannot be kept, so there is none.
      const what = `the result of ${check.context} cannot be written: ${error instanceof Error ? error.message : ""}`;
      log.error(what, { run: live.job.run });
      live.job = { ...live.job, broken: what };
    }
    // Its report first: whoever hears of the failure may ask what failed.
    await tellReports(live.job, jobs.folder(live.job.run), (report) => news.reported(live.job.repo, report));
    news.checksMoved(live.job.repo, live.job.run);
  };

  const run = async (live: Live, check: Check, command: string, { signal }: AbortController): Promise<void> => {
    const outcome = (await limit(() => attempt(live, check, command, signal), signal)) ?? STOPPED;
    if (outcome.kind === "NOT_STARTED")
      log.warn("A check could not be run.", { run: live.job.run, what: outcome.what });
    if (outcome.kind !== "STOPPED" && !signal.aborted) await settle(live, check, outcome);
    live.running.delete(check.context);
  };

  return {
    change,
    start: (live) => {
      for (const check of live.job.checks) {
        if (check.state !== "PENDING" || check.command === null || live.running.has(check.context)) continue;
        const stop = new AbortController();
        // Set before it begins: what ends at once must find itself here.
        const begun = Promise.withResolvers<void>();
        live.running.set(check.context, { stop, done: begun.promise });
        run(live, check, check.command, stop).then(begun.resolve, begun.reject);
      }
    },
    stop: async (live, contexts) => {
      const chosen = [...live.running].filter(([context]) => contexts?.includes(context) ?? true);
      for (const [, { stop }] of chosen) stop.abort();
      await Promise.all(chosen.map(([, { done }]) => done));
    },
  };
}

const STOPPED: Outcome = { kind: "STOPPED" };

function withOutcome(job: Job, check: Check, outcome: Exclude<Outcome, { kind: "STOPPED" }>): Job {
  const ended: Pick<Check, "state" | "description"> =
    outcome.kind === "ENDED"
      ? { state: outcome.state, description: outcome.description }
      : { state: "ERROR", description: cut(outcome.what, 300) };
  return {
    ...job,
    checks: job.checks.map((each) =>
      each.context === check.context && each.attempt === check.attempt ? { ...each, ...ended } : each,
    ),
    broken: outcome.kind === "ENDED" ? job.broken : cut(`${check.context} could not be run: ${outcome.what}`, 500),
  };
}

export const unknownRun = (run: RunId): RunStatuses => ({
  statuses: [],
  complete: true,
  repeats: 0,
  broken: `the code host knows nothing of run ${run}`,
});

export const statusesOf = (job: Job, folder: string): RunStatuses => ({
  statuses: job.checks.map((check) => ({
    context: check.context,
    state: check.state,
    url: check.command === null ? null : pathToFileURL(logPath(folder, check)).href,
    description: check.description,
  })),
  complete: job.checks.every((check) => check.state !== "PENDING"),
  repeats: job.repeats,
  broken: job.closedAt === null ? job.broken : "the run is closed",
});
