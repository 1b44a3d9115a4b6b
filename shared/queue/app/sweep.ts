import { isDeepStrictEqual } from "node:util";
import type { CodeHost } from "../../code-host/port.ts";
import { queueLabel } from "../../kernel/ids.ts";
import { SECOND_MS } from "../../kernel/time.ts";
import { isInProgress } from "../engine/run-index.ts";
import type { PullRequestFacts } from "../engine/types.ts";
import { advanceOrDegrade } from "./advance.ts";
import { hearMissed } from "./people/hear-missed.ts";
import { isShow } from "./people/showing.ts";
import { removeMarked } from "./queues.ts";
import type { DueQueue, LoadedQueue, QueueApp } from "./ports.ts";
import { takenBy } from "./targets.ts";
import { perform, readPullRequest, readStatuses } from "./perform.ts";

/** So many live PRs are looked at at each sweep, another part of the queue each time. */
const READ_MAX = 10;
const TURN_MS = 10 * SECOND_MS;
/** Queues swept at the same time: one whose host hangs keeps few others waiting. */
const AT_ONCE = 10;

/**
 * Heals what messages lost: performs effects that nobody finished, asks hosts for what they did not tell, and wakes
 * queues for which something is due. Everything it does may be done twice.
 */
export async function sweep(app: QueueApp): Promise<void> {
  const waiting = [...(await app.queues.due())];
  const worker = async (): Promise<void> => {
    for (let due = waiting.shift(); due !== undefined; due = waiting.shift()) await sweepOrLog(app, due);
  };
  const hearing = hearMissed(
    app,
    waiting.map(({ key }) => key),
  );
  await Promise.all([...Array.from({ length: AT_ONCE }, worker), hearing]);
}

async function sweepOrLog(app: QueueApp, due: DueQueue): Promise<void> {
  try {
    await sweepQueue(app, due);
  } catch (error) {
    app.log.error("a queue cannot be swept", { queue: queueLabel(due.key), error: String(error) });
  }
}

/** So many pages at each sweep: they wait for nobody's sake. */
const SHOWS_MAX = 20;

async function sweepQueue(app: QueueApp, due: DueQueue): Promise<void> {
  const { key } = due;
  const waiting = await app.queues.waitingEffects(key, app.clock());
  const shows = waiting.filter(isShow);
  for (const effect of waiting) if (!isShow(effect)) await perform(app, key, effect);
  await sweepRest(app, due);
  // Last: whoever shows pages may be slow, and nothing else is to wait for that.
  for (const effect of shows.slice(0, SHOWS_MAX)) await perform(app, key, effect);
}

async function sweepRest(app: QueueApp, { key, wakeAt }: DueQueue): Promise<void> {
  const queue = await app.queues.view(key);
  if (queue === undefined) return;
  // Whoever began to delete it died half-way.
  if (queue.record.deleting) await removeMarked(app, key, () => undefined);
  else {
    await bringTargets(app, queue);
    await askHostIfItAnswers(app, queue);
  }
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
  await askAboutFacts(app, host, queue);
}

/** Statuses that the host knows and the queue does not. */
async function askAboutRuns(app: QueueApp, host: CodeHost, { record, state }: LoadedQueue): Promise<void> {
  for (const run of state.runs.values()) {
    if (!isInProgress(run) || run.phase === "BUILDING") continue;
    const event = await readStatuses(app, host, record.key, run.id);
    const isNews =
      event.type !== "statuses" || event.complete !== run.complete || !isDeepStrictEqual(event.statuses, run.statuses);
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

/** The part of the queue whose turn it is. */
function inTurn<T>(app: QueueApp, all: readonly T[]): readonly T[] {
  const first = Math.floor(app.clock() / TURN_MS) * READ_MAX;
  const turn = Array.from({ length: Math.min(READ_MAX, all.length) }, (_, at) => all[(first + at) % all.length]);
  return turn.filter((one) => one !== undefined);
}

/**
 * The set that was uploaded for an entry's head and that the entry does not know of: whoever stored it died before
 * telling, or it came before the push that made its commit the head. What the service finds from paths it tells itself.
 * A lost race is won at the entry's next turn.
 */
async function bringTargets(app: QueueApp, { record, entries }: LoadedQueue): Promise<void> {
  const { key } = record;
  for (const stored of inTurn(app, entries)) {
    const { headSha, prNumber, asked, comparing, targets } = stored.entry;
    const found = headSha === null ? undefined : await app.targets.find(key.org, key.repo, prNumber, headSha);
    const known = asked.targets ?? comparing?.targets ?? targets;
    if (found === undefined || found.source === "PATHS") continue;
    const taken = takenBy(record.config.settings, found);
    if (!isDeepStrictEqual(taken, known)) await app.queues.ask(key, stored, { targets: taken }, undefined);
  }
}

/** What the host says of PRs and nobody told: a push, a close, a ref that is gone. */
async function askAboutFacts(app: QueueApp, host: CodeHost, { record, state }: LoadedQueue): Promise<void> {
  const known = [...state.entries.values()].filter((entry) => entry.pr !== null);
  for (const entry of inTurn(app, known)) {
    const event = await readPullRequest(app, host, record.key, entry.prNumber);
    if (event.type !== "pull-request" || !isKnown(event.facts, entry.pr)) await app.queues.tell(record.key, event);
  }
}

/** Alike but for the tip that mergeability was judged on, which every landing changes. */
const isKnown = (facts: PullRequestFacts, known: PullRequestFacts | null): boolean =>
  known !== null && isDeepStrictEqual({ ...facts, judgedOn: null }, { ...known, judgedOn: null });
