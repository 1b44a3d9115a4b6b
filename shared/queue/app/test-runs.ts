/** Reading test runs: those in progress, a pull request's latest, or one by its id. */
import type { EntryId, QueueKey } from "../../kernel/ids.ts";
import { runId } from "../../kernel/ids.ts";
import { fail, ok } from "../../kernel/result.ts";
import { isInProgress } from "../engine/run-index.ts";
import type { EndedRun, Entry, Run } from "../engine/types.ts";
import { neverSubmitted, noQueue } from "./faults.ts";
import type { LoadedQueue, QueueApp, Submission } from "./ports.ts";

export type RunStatus = "IN_PROGRESS" | "FAILED" | "CANCELLED" | "SUCCEEDED";

/**
 * Targets of several PRs together. `total` is null for ALL; beyond what is shown it counts a target of two PRs twice.
 */
export type TargetsView = { readonly shown: "ALL" | readonly string[]; readonly total: number | null };

export type TestRunView = {
  readonly run: Run;
  readonly status: RunStatus;
  readonly tested: EndedRun["tested"];
  readonly impactedTargets: TargetsView;
  readonly impactedTargetsForTested: TargetsView;
  readonly dependents: readonly number[];
};

export type Wanted = { readonly prNumber?: number | undefined; readonly testRunId?: string | undefined };

export async function testingDetails(app: QueueApp, key: QueueKey, wanted: Wanted) {
  const { testRunId, prNumber } = wanted;
  // The submission before the queue: the run it names is then live in the queue, or has ended.
  const submissions = prNumber === undefined ? undefined : await app.queues.submissions(key, [prNumber]);
  const queue = await app.queues.view(key);
  if (queue === undefined) return noQueue(key);
  if (testRunId !== undefined) return named(app, queue, testRunId);
  if (prNumber !== undefined) return latestOf(app, queue, prNumber, submissions?.get(prNumber));
  const running = [...queue.state.runs.values()].filter(isInProgress);
  return ok({ named: false, runs: await Promise.all(running.map((run) => viewOfLive(app, queue, run))) });
}

async function latestOf(app: QueueApp, queue: LoadedQueue, prNumber: number, found: Submission | undefined) {
  if (found === undefined) return neverSubmitted(queue.record.key, `PR #${prNumber}`);
  if (found.entry.lastRun === null)
    return fail(
      "TEST_RUN_NOT_FOUND",
      `PR #${prNumber} has not been tested yet. /explainPullRequest says what it waits for.`,
    );
  return named(app, queue, found.entry.lastRun);
}

async function named(app: QueueApp, queue: LoadedQueue, id: string) {
  const live = queue.state.runs.get(runId(id));
  if (live !== undefined) return ok({ named: true, runs: [await viewOfLive(app, queue, live)] });
  const ended = await app.queues.endedRun(queue.record.key, runId(id));
  if (ended === undefined) return fail("TEST_RUN_NOT_FOUND", `This queue has no test run "${id}".`);
  const group = await testedThen(app, queue, ended);
  return ok({ named: true, runs: [await viewOf(app, queue, ended, ended.outcome, group)] });
}

/** Those whose run it was, live or ended; who has been submitted anew since is another entry. */
async function testedThen(app: QueueApp, queue: LoadedQueue, { run, tested }: EndedRun): Promise<readonly Entry[]> {
  const numbers = tested.map((one) => one.prNumber);
  const found = await app.queues.submissions(queue.record.key, numbers);
  const entries = [...found.values()].map((one) => one.entry);
  return entries.filter((entry) => run.group.includes(entry.id));
}

const STATUS_OF_PHASE = {
  BUILDING: "IN_PROGRESS",
  TESTING: "IN_PROGRESS",
  REPEATING: "IN_PROGRESS",
  PASSED: "SUCCEEDED",
  FAILED: "FAILED",
} as const satisfies Record<Run["phase"], RunStatus>;

function viewOfLive(app: QueueApp, queue: LoadedQueue, run: Run): Promise<TestRunView> {
  const group = entriesOf(queue, run.group);
  const tested = group.map(({ prNumber, pr }) => ({ prNumber, title: pr?.title ?? null, url: pr?.url ?? null }));
  return viewOf(app, queue, { run, tested }, STATUS_OF_PHASE[run.phase], group);
}

async function viewOf(
  app: QueueApp,
  queue: LoadedQueue,
  { run, tested }: Pick<EndedRun, "run" | "tested">,
  status: RunStatus,
  group: readonly Entry[],
) {
  const [own, all] = await Promise.all([
    targetsOf(app, queue, group),
    targetsOf(app, queue, [...entriesOf(queue, run.predecessors), ...group]),
  ]);
  const onTop = [...queue.state.runs.values()].filter((other) =>
    run.group.some((id) => other.predecessors.includes(id)),
  );
  const dependents = onTop.flatMap((other) => entriesOf(queue, other.group)).map((entry) => entry.prNumber);
  const view: TestRunView = {
    run,
    status,
    tested,
    impactedTargets: all,
    impactedTargetsForTested: own,
    dependents: [...new Set(dependents)].sort((a, b) => a - b),
  };
  return view;
}

const entriesOf = (queue: LoadedQueue, ids: readonly EntryId[]): readonly Entry[] =>
  ids.flatMap((id) => queue.state.entries.get(id) ?? []);

/** As many strings as an answer shows of a list. */
const SHOWN_MAX = 1000;
const READ_AT_ONCE = 20;

/**
 * Sets are read only for showing, and no more of them than it takes to fill an answer: of the rest their count is known.
 * In SINGLE mode most PRs have none.
 */
async function targetsOf(app: QueueApp, queue: LoadedQueue, entries: readonly Entry[]): Promise<TargetsView> {
  const { org, repo } = queue.record.key;
  if (entries.some((entry) => entry.targets?.kind === "ALL")) return { shown: "ALL", total: null };
  const left = entries.filter(({ targets }) => targets?.kind === "SET" && targets.count > 0);
  const shown = new Set<string>();
  let hidden = 0;
  while (left.length > 0 && shown.size < SHOWN_MAX) {
    const portion = left.splice(0, READ_AT_ONCE);
    const found = await Promise.all(
      portion.map(async ({ headSha, prNumber }) =>
        headSha === null ? undefined : app.targets.find(org, repo, prNumber, headSha),
      ),
    );
    for (const set of found) {
      if (set === undefined || set.targets.kind === "ALL") continue;
      for (const target of set.shown) shown.add(target);
      hidden += set.targets.count - set.shown.length;
    }
  }
  for (const { targets } of left) hidden += targets?.kind === "SET" ? targets.count : 0;
  return { shown: [...shown], total: shown.size + hidden };
}
