/** Cancel and restart: wishes written onto the live entry, so that the answer is true before the loop has run. */
import type { QueueKey } from "../../kernel/ids.ts";
import { fail, ok } from "../../kernel/result.ts";
import type { Asked, Entry } from "../engine/types.ts";
import { alreadyMerged, isLanding, neverSubmitted, noQueue } from "./faults.ts";
import type { QueueApp, QueueRecord, Recording, Submission } from "./ports.ts";
import { RACED, untilUncontended } from "./retry.ts";
import { type EntryView, isInQueue, shownEntry, viewIn } from "./shown.ts";

export type Wishing = { readonly key: QueueKey; readonly prNumber: number; readonly by: string };

export async function cancel(app: QueueApp, wish: Wishing, record: Recording<EntryView>) {
  return untilUncontended(app, async () => {
    const found = await submissionOf(app, wish);
    if (!found.ok) return found;
    const shown = shownEntry(found.value.submission.entry);
    if (shown.state === "MERGED") return alreadyMerged(wish.prNumber);
    if (shown.state === "CANCELLED") return ok(viewIn(found.value.queue, shown));
    if (shown.state === "FAILED") return notInQueue(wish, shown);
    return write(app, wish, found.value, { cancel: { by: wish.by, at: app.clock() } }, record);
  });
}

export async function restart(app: QueueApp, wish: Wishing, record: Recording<EntryView>) {
  return untilUncontended(app, async () => {
    const found = await submissionOf(app, wish);
    if (!found.ok) return found;
    const shown = shownEntry(found.value.submission.entry);
    if (!isInQueue(shown)) return notInQueue(wish, shown);
    return write(app, wish, found.value, { restart: { by: wish.by, at: app.clock() } }, record);
  });
}

async function submissionOf(app: QueueApp, { key, prNumber }: Wishing) {
  const [queue, submissions] = await Promise.all([app.queues.find(key), app.queues.submissions(key, [prNumber])]);
  if (queue === undefined) return noQueue(key);
  const submission = submissions.get(prNumber);
  return submission === undefined ? neverSubmitted(key, `PR #${prNumber}`) : ok({ queue, submission });
}

const notInQueue = ({ prNumber }: Wishing, entry: Entry) =>
  fail(
    "PULL_REQUEST_NOT_IN_QUEUE",
    `PR #${prNumber} is not in the queue: it ended ${entry.state}. ${entry.state === "MERGED" ? "" : "Submit it again."}`.trim(),
  );

type Found = { readonly queue: QueueRecord; readonly submission: Submission };

async function write(
  app: QueueApp,
  wish: Wishing,
  { queue, submission: { entry, stored } }: Found,
  asked: Asked,
  record: Recording<EntryView>,
) {
  // Ended between the two reads of one batch: look again.
  if (stored === undefined) return RACED;
  if (stored.landing) return isLanding(wish.prNumber);
  const shown = viewIn(queue, shownEntry({ ...entry, asked: { ...entry.asked, ...asked } }));
  const done = await app.queues.ask(wish.key, stored, asked, record(shown));
  app.passing("ask:after-write");
  return done === "ASKED" ? ok(shown) : RACED;
}
