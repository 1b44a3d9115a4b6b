/**
 * A CI for the twin, as GitHub Actions would be one: of a testing branch that is pushed it runs the shell commands of
 * the repository's `.mainline.yaml` in a checkout, and reports what came of them as check runs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { CONFIG_FILE, type ConfigFile, parseConfigFile } from "../../../shared/code-host/git/config-file.ts";
import { git } from "./run.ts";
import type { Told, Twin } from "./twin.ts";

/** A JUnit file that a check has written. */
export type JunitReport = {
  readonly repository: string;
  readonly sha: string;
  readonly branch: string;
  /** Of the pull request that is tested. */
  readonly number: string;
  readonly job: string;
  readonly attempt: number;
  readonly junit: string;
};

type Commit = { readonly repository: string; readonly branch: string; readonly sha: string };
type Job = Commit & { readonly name: string; readonly command: string; readonly attempt: number };

export type Ci = {
  readonly hear: (told: Told) => void;
  readonly stop: () => void;
};

export type CiOptions = {
  readonly folder: string;
  readonly bareOf: (repository: string) => string;
  readonly twin: () => Pick<Twin, "ask">;
  /** What the repository's workflow sends to the service with its token. */
  readonly report: (report: JunitReport) => Promise<void>;
  readonly complain: (what: string) => void;
};

export function createCi(options: CiOptions): Ci {
  const { complain } = options;
  const commits = new Map<string, { readonly commit: Commit; attempts: number }>();
  const running = new Map<ChildProcess, string>();
  let checkouts = 0;

  const end = (sha?: string): void => {
    for (const [child, of] of running)
      if (sha === undefined || of === sha) {
        running.delete(child);
        // The whole group: a check may have started others.
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      }
  };
  const report = (job: Job, state: string, again: boolean): Promise<unknown> =>
    options.twin().ask(z.unknown(), "setCheckRun", job.repository, job.sha, job.name, state, { again });

  const play = async (job: Job, { reports }: ConfigFile): Promise<void> => {
    await report(job, "in_progress", job.attempt > 1);
    const tree = join(options.folder, `${(checkouts += 1)}`);
    await checkOut(options.bareOf(job.repository), job.sha, tree);
    const child = start(job, tree);
    running.set(child, job.sha);
    const passes = (await exitOf(child)) === 0;
    // One that was cancelled has nothing to say any more.
    if (!running.delete(child)) return;
    const { repository, sha, branch, name, attempt } = job;
    for (const path of reports.get(name) ?? []) {
      const junit = await readFile(join(tree, path), "utf8").catch(() => "");
      const number = numberOf(branch);
      if (junit !== "") await options.report({ repository, sha, branch, number, job: name, attempt, junit });
    }
    await report(job, passes ? "success" : "failure", false);
  };
  const playAll = async (commit: Commit, attempt: number, only?: readonly string[]): Promise<void> => {
    const text = await git(options.bareOf(commit.repository), ["show", `${commit.sha}:${CONFIG_FILE}`]);
    const read = parseConfigFile(Buffer.from(text));
    if (read.kind !== "READ") throw new Error(`no ${CONFIG_FILE} at ${commit.sha}`);
    const jobs = [...read.config.checks].filter(([name]) => only?.includes(name) ?? true);
    await Promise.all(jobs.map(([name, command]) => play({ ...commit, name, command, attempt }, read.config)));
  };
  const whenBuilt = async (commit: Commit): Promise<void> => {
    await sleep(BUILT_MS);
    if (await standsAt(options.bareOf(commit.repository), commit)) await playAll(commit, 1);
  };
  const attempt = (work: Promise<void>): void =>
    void work.catch((error: unknown) => complain(`the CI: ${error instanceof Error ? error.message : String(error)}`));

  return {
    hear: ({ pushed, rerun, cancelled }) => {
      if (pushed !== undefined && TESTING.test(pushed.branch)) {
        commits.set(pushed.sha, { commit: pushed, attempts: 1 });
        attempt(whenBuilt(pushed));
      }
      const known = commits.get(rerun?.sha ?? "");
      if (rerun !== undefined && known !== undefined) {
        known.attempts += 1;
        attempt(playAll(known.commit, known.attempts, rerun.names));
      }
      if (cancelled !== undefined) end(cancelled.sha);
    },
    stop: () => end(),
  };
}

/** `mainline/pr-<n>/<run>` */
const TESTING = /^mainline\/pr-(\d+)\//u;

/** A branch is built merge by merge: as long as it moves there is nothing to test. */
const BUILT_MS = 150;
const standsAt = async (bare: string, { branch, sha }: Commit): Promise<boolean> =>
  (await git(bare, ["for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`])) === sha;

async function checkOut(bare: string, sha: string, tree: string): Promise<void> {
  await mkdir(tree, { recursive: true });
  await git(tree, ["clone", "--quiet", "--shared", "--no-checkout", bare, "."]);
  await git(tree, ["checkout", "--quiet", "--detach", sha]);
}

const numberOf = (branch: string): string => TESTING.exec(branch)?.[1] ?? "";

const start = ({ command, attempt, branch }: Job, cwd: string): ChildProcess =>
  spawn("sh", ["-c", command], {
    cwd,
    detached: true,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      HOME: cwd,
      LC_ALL: "C",
      CI: "true",
      MAINLINE_ATTEMPT: String(attempt),
      MAINLINE_PULL_REQUESTS: numberOf(branch),
    },
  });

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
