/** What somebody's CI does: it sees pushes, and reports checks and statuses. */
import type { EventEmitter } from "node:events";
import { ACTIONS } from "./actions.ts";
import { requireRepository } from "../content/pulls.ts";
import { emitRun, emitSuite } from "../events.ts";
import { addRun, addStatus, changeRun } from "../content/reporting.ts";
import {
  type Account,
  accountOf,
  type Cancelled,
  type CheckApp,
  type CheckRun,
  findRepository,
  inTurn,
  type Pushed,
  type Rerun,
  type Status,
  type World,
} from "../world.ts";

export type News = EventEmitter<{ pushed: [Pushed]; rerun: [Rerun]; cancelled: [Cancelled] }>;
export type RunState = CheckRun["status"] | NonNullable<CheckRun["conclusion"]>;

export type Ci = {
  /**
   * A check run of an app other than the one under test, GitHub Actions unless another is named. While one of that name
   * is not completed it moves on; else it is a new one, as of a re-run. Answers its id.
   */
  readonly setCheckRun: (
    repository: string,
    sha: string,
    name: string,
    state: RunState,
    how?: { readonly app?: CheckApp; readonly summary?: string; readonly again?: boolean },
  ) => Promise<number>;
  /** Somebody pressed "Re-run" at a check run. */
  readonly rerequest: (repository: string, run: number) => Promise<void>;
  /** By a bot, or by the App that is named. */
  readonly setStatus: (
    repository: string,
    sha: string,
    context: string,
    state: Status["state"],
    how?: { readonly description?: string; readonly app?: CheckApp },
  ) => Promise<void>;
  /** Every branch that moved, whoever moved it. */
  readonly onPush: (callback: (push: Pushed) => void) => void;
  /** Those under `mainline/`. */
  readonly onTestingBranch: (callback: (push: Pushed) => void) => void;
  /** Failed jobs of a workflow run are asked for again, by their names; CI reports them as new check runs. */
  readonly onRerun: (callback: (rerun: Rerun) => void) => void;
  /** The workflow run of a commit was cancelled, and its jobs count as cancelled already. */
  readonly onCancel: (callback: (cancelled: Cancelled) => void) => void;
  /** A run of GitHub Actions, of a fork's pull request where that is named. */
  readonly addWorkflowRun: (
    repository: string,
    wanted: {
      readonly headSha: string;
      readonly headBranch: string;
      readonly fork?: string;
      readonly event?: string;
      readonly status?: "queued" | "in_progress" | "completed";
    },
  ) => number;
  readonly endWorkflowRun: (repository: string, id: number, conclusion: string) => void;
};

const STATUSES: readonly string[] = ["queued", "in_progress", "completed"];

export function createCi(world: World, news: News): Ci {
  return {
    setCheckRun: (name, sha, check, state, how = {}) => {
      const repo = requireRepository(world, name);
      const app = how.app ?? ACTIONS;
      const sender = botOfApp(world, app);
      const wanted = {
        ...stateOf(state),
        ...(how.summary === undefined ? {} : { title: check, summary: how.summary }),
      };
      return inTurn(repo, async () => {
        const open = repo.checkRuns.findLast(
          (run) =>
            run.name === check && run.suite.sha === sha && run.suite.app.id === app.id && run.status !== "completed",
        );
        if (open === undefined || how.again === true)
          return (await addRun(world, repo, app, sha, { ...wanted, name: check }, sender)).id;
        await changeRun(world, repo, open, wanted, sender);
        return open.id;
      });
    },
    rerequest: (name, id) => {
      const repo = requireRepository(world, name);
      const sender = accountOf(world, "somebody");
      return inTurn(repo, async () => {
        const run = repo.checkRuns.find((one) => one.id === id);
        if (run === undefined) throw new Error(`${name} has no check run ${id}`);
        emitRun(world, repo, "rerequested", run, sender);
        await emitSuite(world, repo, "rerequested", run.suite, sender);
      });
    },
    setStatus: (name, sha, context, state, how = {}) => {
      const repo = requireRepository(world, name);
      const creator = how.app === undefined ? accountOf(world, "ci-bot", "Bot") : botOfApp(world, how.app);
      const made = { sha, context, state, creator, description: how.description ?? null, targetUrl: null };
      return inTurn(repo, async () => void (await addStatus(world, repo, made)));
    },
    onPush: (callback) => void news.on("pushed", callback),
    onTestingBranch: (callback) =>
      void news.on("pushed", (push) => {
        if (push.branch.startsWith("mainline/")) callback(push);
      }),
    onRerun: (callback) => void news.on("rerun", callback),
    onCancel: (callback) => void news.on("cancelled", callback),
    addWorkflowRun: (name, wanted) => {
      const repo = requireRepository(world, name);
      const fork = wanted.fork === undefined ? repo : findRepository(world, `${wanted.fork}/${repo.name}`);
      if (fork === undefined) throw new Error(`${wanted.fork} has no fork of ${name}`);
      const id = world.nextId();
      repo.workflowRuns.set(id, {
        id,
        event: wanted.event ?? "pull_request",
        suite: null,
        attempt: 1,
        status: wanted.status ?? "in_progress",
        conclusion: null,
        headSha: wanted.headSha,
        headBranch: wanted.headBranch,
        headRepository: fork,
        at: world.now(),
      });
      return id;
    },
    endWorkflowRun: (name, id, conclusion) => {
      const run = requireRepository(world, name).workflowRuns.get(id);
      if (run === undefined) throw new Error(`${name} has no workflow run ${id}`);
      run.status = "completed";
      run.conclusion = conclusion;
    },
  };
}

function botOfApp(world: World, app: CheckApp): Account {
  world.apps.set(app.slug, app);
  return accountOf(world, `${app.slug}[bot]`, "Bot");
}

const stateOf = (state: RunState): Pick<CheckRun, "status"> & { conclusion?: CheckRun["conclusion"] } =>
  STATUSES.includes(state)
    ? { status: state as CheckRun["status"] }
    : { status: "completed", conclusion: state as CheckRun["conclusion"] };
