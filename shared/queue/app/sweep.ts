import type { CodeHost } from "../../code-host/port.ts";
import { queueLabel } from "../../kernel/ids.ts";
import { MINUTE_MS } from "../../kernel/time.ts";
import { isInProgress } from "../engine/runs.ts";
import { advanceOrDegrade } from "./advance.ts";
import { removeMarked } from "./queues.ts";
import type { DueQueue, LoadedQueue, QueueApp } from "./ports.ts";
import { perform, readStatuses } from "./perform.ts";

/** Facts of a live PR older than this are read again, a few at each sweep. */
const FACTS_MS = 10 * MINUTE_MS;
const FACTS_READ_MAX = 10;

/**
 * Heals what messages lost: performs effects that nobody finished, asks hosts for what they did not tell, and wakes
 * queues for which something is due. Everything it does may be done twice.
 */
export async function sweep(app: QueueApp): Promise<void> {
  for (const due of await app.queues.due()) {
    try {
      await sweepQueue(app, due);
    } catch (error) {
      app.log.error("a queue cannot be swept", { queue: queueLabel(due.key), error: String(error) });
    }
  }
}

async function sweepQueue(app: QueueApp, { key, wakeAt }: DueQueue): Promise<void> {
  for (const effect of await app.queues.waitingEffects(key, app.clock())) await perform(app, key, effect);
  const queue = await app.queues.view(key);
  if (queue === undefined) return;
  // Whoever began to delete it died half-way.
  if (queue.record.deleting) await removeMarked(app, key, () => undefined);
  else await askHostIfItAnswers(app, queue);
  if ((wakeAt !== null && wakeAt <= app.clock()) || (await app.queues.hasInbox(key))) await advanceOrDegrade(app, key);
}

/** What is due, timeouts among it, is due whether or not the host can be asked. */
async function askHostIfItAnswers(app: QueueApp, queue: LoadedQueue): Promise<void> {
  try {
    await askHost(app, queue);
  } catch (error) {
    app.log.warn("a code host could not be asked", { queue: queueLabel(queue.record.key), error: String(error) });
  }
}

async function askHost(app: QueueApp, queue: LoadedQueue): Promise<void> {
  const { org, repo } = queue.record.key;
  const host = app.hosts(org, repo.host);
  if (host === undefined || queue.entries.length === 0) return;
  await askAboutRuns(app, host, queue);
  await askAboutTip(app, host, queue);
  await askAboutFacts(app, queue);
}

/** Statuses that the host knows and the queue does not. */
async function askAboutRuns(app: QueueApp, host: CodeHost, { record, state }: LoadedQueue): Promise<void> {
  for (const run of state.runs.values()) {
    if (!isInProgress(run) || run.phase === "BUILDING") continue;
    const event = await readStatuses(app, host, record.key, run.id);
    const isNews =
      event.type !== "statuses" ||
      event.complete !== run.complete ||
      JSON.stringify(event.statuses) !== JSON.stringify(run.statuses);
    if (isNews) await app.queues.tell(record.key, event);
  }
}

async function askAboutTip(app: QueueApp, host: CodeHost, { record, state }: LoadedQueue): Promise<void> {
  if (state.tipRead !== null || state.landing !== null) return;
  const { repo, branch } = record.key;
  const read = await host.tip(repo, branch, null, []);
  const sha = read === "MISSING" ? null : read.tip.sha;
  const isMissing = state.holds.some((hold) => hold.kind === "TARGET_MISSING");
  if (sha === (state.tip?.sha ?? null) && isMissing === (read === "MISSING")) return;
  await app.queues.tell(record.key, { type: "news", prNumbers: [], tip: { sha } });
}

async function askAboutFacts(app: QueueApp, { record, state }: LoadedQueue): Promise<void> {
  const before = app.clock() - FACTS_MS;
  const old = [...state.entries.values()].filter((entry) => entry.pr !== null && (entry.factsAt ?? 0) < before);
  const prNumbers = old.slice(0, FACTS_READ_MAX).map((entry) => entry.prNumber);
  if (prNumbers.length > 0) await app.queues.tell(record.key, { type: "news", prNumbers, tip: null });
}
