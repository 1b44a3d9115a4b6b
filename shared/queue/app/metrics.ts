/** The facts that a queue's metrics are counted from, as they are at this moment. */
import type { OrgSlug, QueueKey, RepoKey } from "../../kernel/ids.ts";
import { epochMs, type EpochMs, HOUR_MS } from "../../kernel/time.ts";
import { permitsOf } from "../engine/permits.ts";
import { isInProgress } from "../engine/run-index.ts";
import type { Entry, Run } from "../engine/types.ts";
import type { LoadedQueue, QueueApp } from "./ports.ts";
import { shownEntry } from "./shown.ts";

export async function metricsFacts(app: QueueApp, org: OrgSlug, repo: RepoKey | undefined) {
  const keys = await app.queues.list(org, repo);
  const facts = await Promise.all(keys.map((key) => factsOf(app, key)));
  return facts.flatMap((one) => one ?? []);
}

async function factsOf(app: QueueApp, key: QueueKey) {
  const queue = await app.queues.view(key);
  if (queue === undefined) return undefined;
  const at = app.clock();
  // A queue that was deleted and made again begins anew.
  const since = epochMs(Math.max(at - HOUR_MS, queue.record.createdAt));
  // Read after the live ones: what ends in between is then met twice, and not missed.
  const ended = await endedSince(app, key, since);
  const gone = new Set(ended.map((entry) => entry.id));
  const live = queue.entries.filter((one) => !gone.has(one.entry.id));
  const { settings } = queue.record.config;
  return {
    repo: queue.record.repo,
    branch: key.branch,
    state: permitsOf(queue.state, at).state,
    concurrency: settings.concurrency,
    bisectionConcurrency: settings.bisectionConcurrency,
    overdueMs: Math.max(0, at - (queue.wakeAt ?? at)),
    submissions: [...live.map((one) => submission(one.entry)), ...ended.map(submission)],
    runs: runsOf(queue),
    totals: queue.meta.totals,
    bisectionDepth: Math.max(0, ...queue.meta.bisections.flatMap((one) => one.parts.map((part) => part.depth))),
    at,
    since,
  };
}

const PAGE = 500;

async function endedSince(app: QueueApp, key: QueueKey, since: EpochMs): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let after: string | undefined;
  do {
    const page = await app.queues.history(key, { since, after, take: PAGE });
    entries.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  return entries;
}

/** As it is shown, with what follows from an acknowledged wish that the loop has not taken in yet. */
function submission(entry: Entry): Entry {
  const shown = shownEntry(entry);
  if (entry.state !== "TESTING" || shown.state === "TESTING") return shown;
  return {
    ...shown,
    testedMs: entry.testedMs + Math.max(0, shown.stateChangedAt - entry.stateChangedAt),
    restartedAt: shown.state === "PENDING" ? [...entry.restartedAt, shown.stateChangedAt] : entry.restartedAt,
  };
}

const runsOf = (queue: LoadedQueue) =>
  [...queue.state.runs.values()].map((run: Run) => ({
    kind: run.kind,
    inProgress: isInProgress(run),
    group: run.group,
  }));
