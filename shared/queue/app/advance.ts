import type { QueueKey } from "../../kernel/ids.ts";
import { queueLabel } from "../../kernel/ids.ts";
import { later, MINUTE_MS } from "../../kernel/time.ts";
import { Unavailable } from "../../kernel/unavailable.ts";
import { changesAnything, foldQueue } from "./fold-queue.ts";
import { showing } from "./people/showing.ts";
import type { LoadedQueue, QueueApp } from "./ports.ts";

/** A call stops there, so that no queue keeps others waiting; what is left is picked up at once by the next. */
const COMMITS_MAX = 25;

/**
 * The loop: read, decide, write once; until nothing is left to decide. Whoever else does the same at the same time
 * loses the race for META's version, reads again and finds it done.
 */
export async function advance(app: QueueApp, key: QueueKey): Promise<void> {
  for (let round = 0; round < COMMITS_MAX; round += 1) {
    const progress = await advanceOnce(app, key);
    if (progress === "DONE") return;
  }
  await app.queues.tell(key, { type: "wake" });
}

async function advanceOnce(app: QueueApp, key: QueueKey): Promise<"DONE" | "AGAIN"> {
  const queue = await app.queues.load(key);
  const now = app.clock();
  if (queue === undefined || (queue.degraded !== null && queue.degraded.retryAt > now)) return "DONE";
  try {
    const folded = foldQueue(queue, now);
    if (!changesAnything(queue, folded)) return "DONE";
    app.passing("advance:before-commit");
    const done = await app.queues.commit(queue, folded, now, showing(app, queue, folded));
    app.passing("advance:after-commit");
    return done === "CONFLICT" || folded.decision.more ? "AGAIN" : "DONE";
  } catch (error) {
    if (error instanceof Unavailable || !(await isOutdated(app, queue))) throw error;
    return "AGAIN";
  }
}

/**
 * Somebody committed while it was read, so that it may be half of the old and half of the new: no decision on it would
 * have been written, and one that cannot be made says nothing about the queue. The version is read before all else.
 */
async function isOutdated(app: QueueApp, { record, version }: LoadedQueue): Promise<boolean> {
  return (await app.queues.view(record.key))?.version !== version;
}

const DEGRADED_MS = MINUTE_MS;

/**
 * For whoever serves many queues: one that fails for a reason of its own is marked, tried again in a minute, and
 * never in the way of the others.
 */
export async function advanceOrDegrade(app: QueueApp, key: QueueKey): Promise<void> {
  try {
    await advance(app, key);
  } catch (error) {
    // An outage of the table is nobody's own reason, and the mark could not be written either.
    if (error instanceof Unavailable) throw error;
    const what = error instanceof Error ? error.message : String(error);
    app.log.error("a queue cannot be advanced", { queue: queueLabel(key), error: what });
    await app.queues.degrade(key, what.slice(0, 500), later(app.clock(), DEGRADED_MS));
  }
}
