import { HostUnavailable, NotConnected } from "../../code-host/port.ts";
import type { QueueKey } from "../../kernel/ids.ts";
import { entryId } from "../../kernel/ids.ts";
import { fail, ok } from "../../kernel/result.ts";
import { later, SECOND_MS } from "../../kernel/time.ts";
import { LATE } from "../../kernel/waiting.ts";
import { newEntry } from "../engine/new-entry.ts";
import type { Asked, NewEntry, Priority } from "../engine/types.ts";
import { alreadyMerged, noQueue } from "./faults.ts";
import type { QueueApp, QueueRecord, Recording, StoredEntry } from "./ports.ts";
import { RACED, untilUncontended } from "./retry.ts";
import { takenBy } from "./targets.ts";
import { type EntryView, shownEntry, viewIn } from "./shown.ts";

export type Submitting = {
  readonly key: QueueKey;
  readonly prNumber: number;
  /** null asks for the default; absent leaves a queued PR's as it is. */
  readonly priority?: number | null | undefined;
  readonly noBatch?: boolean | undefined;
  readonly by: string;
};

const DEFAULT_PRIORITY = 100;
const HOST_ANSWERS_WITHIN_MS = 2 * SECOND_MS;
const LOOK_AGAIN_MS = 10 * SECOND_MS;

const priorityOf = (wanted: number | null | undefined): Priority =>
  wanted === null || wanted === undefined
    ? { value: DEFAULT_PRIORITY, byDefault: true }
    : { value: wanted, byDefault: false };

/**
 * Puts a pull request into a queue. One that is queued already keeps its place and takes only what is sent; one that
 * failed or was cancelled is queued anew. The entry and the message that wakes the loop are one transaction.
 */
export async function submit(app: QueueApp, asked: Submitting, record: Recording<EntryView>) {
  const { key, prNumber } = asked;
  return untilUncontended(app, async () => {
    const queue = await app.queues.find(key);
    if (queue === undefined) return noQueue(key);
    const submission = (await app.queues.submissions(key, [prNumber])).get(prNumber);
    // Being deleted, or cancelled and not yet taken out by the loop: both are over in a moment.
    if (queue.deleting || submission?.stored?.entry.asked.cancel !== undefined) return RACED;
    if (submission?.stored !== undefined) return resubmit(app, asked, queue, submission.stored, record);
    if (submission?.entry.state === "MERGED") return alreadyMerged(prNumber);
    return submitAnew(app, asked, queue, record);
  });
}

async function resubmit(
  app: QueueApp,
  asked: Submitting,
  queue: QueueRecord,
  stored: StoredEntry,
  record: Recording<EntryView>,
) {
  const wishes: Asked = {
    ...(asked.priority === undefined ? {} : { priority: priorityOf(asked.priority) }),
    ...(asked.noBatch === undefined ? {} : { noBatch: asked.noBatch }),
  };
  const shown = viewIn(queue, shownEntry({ ...stored.entry, asked: { ...stored.entry.asked, ...wishes } }));
  if (Object.keys(wishes).length === 0) return ok(shown);
  const done = await app.queues.ask(asked.key, stored, wishes, record(shown));
  app.passing("ask:after-write");
  return done === "ASKED" ? ok(shown) : RACED;
}

async function submitAnew(app: QueueApp, asked: Submitting, queue: QueueRecord, record: Recording<EntryView>) {
  const { key, prNumber } = asked;
  const facts = await factsWithin(app, key, prNumber);
  if (facts === "NOT_FOUND") {
    const where = `${key.repo.host}/${key.repo.owner}/${key.repo.name}`;
    return fail("PULL_REQUEST_NOT_FOUND", `${where} has no pull request #${prNumber}. Push it first.`);
  }
  const head = facts.pr?.headSha;
  const known = head === undefined ? undefined : await app.targets.find(key.org, key.repo, prNumber, head);
  const submitted: NewEntry = {
    ...facts,
    id: entryId(app.newId()),
    prNumber,
    submittedAt: app.clock(),
    submittedBy: asked.by,
    priority: priorityOf(asked.priority),
    noBatch: asked.noBatch ?? false,
    // What was found from paths before is found anew: the mapping may be another one now.
    targets: known === undefined || known.source === "PATHS" ? null : takenBy(queue.config.settings, known),
  };
  const entry = newEntry(submitted, 0);
  const shown = viewIn(queue, entry);
  const stored: StoredEntry = { entry, queue: queue.id, revision: 1, seen: false, landing: false };
  app.passing("submit:before-write");
  const done = await app.queues.submit(key, stored, record(shown));
  app.passing("submit:after-write");
  if (done === "CONFLICT") return RACED;
  return (await isStillThere(app, queue)) ? ok(shown) : withdrawn(app, key, stored);
}

/** A queue that was deleted while the entry was written has not seen it, and never will. */
async function isStillThere(app: QueueApp, queue: QueueRecord): Promise<boolean> {
  const now = await app.queues.find(queue.key);
  return now !== undefined && now.id === queue.id && !now.deleting;
}

async function withdrawn(app: QueueApp, key: QueueKey, stored: StoredEntry) {
  await app.queues.withdraw(key, stored);
  return noQueue(key);
}

type Facts = Pick<NewEntry, "pr" | "factsAt" | "trouble">;

/** The host's facts, or why there are none yet: a host that does not answer in time is asked again later. */
async function factsWithin(app: QueueApp, key: QueueKey, prNumber: number): Promise<Facts | "NOT_FOUND"> {
  const host = app.hosts(key.org, key.repo.host);
  const readAt = app.clock();
  const trouble = (kind: "NOT_CONNECTED" | "UNREACHABLE", what: string): Facts => ({
    pr: null,
    factsAt: null,
    trouble: { kind, what, count: 1, retryAt: later(readAt, LOOK_AGAIN_MS) },
  });
  if (host === undefined)
    return trouble(
      "NOT_CONNECTED",
      `no code host is connected for ${key.repo.host}: connect it, or submit to a queue of a host that is`,
    );
  try {
    const facts = await app.waiting.within(HOST_ANSWERS_WITHIN_MS, host.pullRequest(key.repo, prNumber, key.branch));
    if (facts === LATE) return trouble("UNREACHABLE", `no answer within ${HOST_ANSWERS_WITHIN_MS / SECOND_MS} seconds`);
    return facts === "NOT_FOUND" ? facts : { pr: facts, factsAt: readAt, trouble: null };
  } catch (error) {
    if (error instanceof NotConnected) return trouble("NOT_CONNECTED", error.message);
    if (error instanceof HostUnavailable) return trouble("UNREACHABLE", error.message);
    throw error;
  }
}
