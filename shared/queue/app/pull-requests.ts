/** Reading submitted pull requests. */
import type { QueueKey } from "../../kernel/ids.ts";
import { queueLabel } from "../../kernel/ids.ts";
import { fail, ok } from "../../kernel/result.ts";
import { type EpochMs, toRfc3339 } from "../../kernel/time.ts";
import { explain } from "../engine/explain.ts";
import type { Blocker, Explanation } from "../engine/telling.ts";
import type { Entry, EntryState, Move, StatusCheck } from "../engine/types.ts";
import { neverSubmitted, noQueue } from "./faults.ts";
import type { EffectTrouble, LoadedQueue, OutboxEffect, QueueApp } from "./ports.ts";
import { type EntryView, isInQueue, shownEntry, viewIn } from "./shown.ts";

export type PullRequestView = EntryView & { readonly timeline?: readonly Move[] };

export type Naming = { readonly number?: number | undefined; readonly branch?: string | undefined };

export async function getPullRequest(app: QueueApp, key: QueueKey, pr: Naming, includeTimeline: boolean) {
  const prNumber = pr.number ?? (await app.queues.prNumberOfBranch(key, pr.branch ?? ""));
  const [queue, found] = await Promise.all([
    app.queues.find(key),
    prNumber === undefined ? undefined : app.queues.submissions(key, [prNumber]),
  ]);
  const submission = prNumber === undefined ? undefined : found?.get(prNumber);
  if (prNumber === undefined || submission === undefined) {
    if (queue === undefined) return noQueue(key);
    return neverSubmitted(key, prNumber === undefined ? `A PR of branch ${pr.branch}` : `PR #${prNumber}`);
  }
  const shown = viewIn(queue, shownEntry(submission.entry));
  if (!includeTimeline) return ok<PullRequestView>(shown);
  return ok<PullRequestView>({ ...shown, timeline: await app.queues.timeline(key, prNumber, shown.entry.id) });
}

export async function getPullRequests(app: QueueApp, key: QueueKey, prNumbers: readonly number[]) {
  const [queue, found] = await Promise.all([
    app.queues.find(key),
    app.queues.submissions(key, [...new Set(prNumbers)]),
  ]);
  if (queue === undefined) return noQueue(key);
  const entries = prNumbers.flatMap((number) => found.get(number)?.entry ?? []);
  const shown = entries.map((entry) => viewIn(queue, shownEntry(entry)));
  return ok({ pullRequests: shown, notFound: prNumbers.filter((number) => !found.has(number)) });
}

export type Listing = {
  readonly state?: EntryState | undefined;
  readonly since?: EpochMs | undefined;
  readonly until?: EpochMs | undefined;
  readonly cursor?: string | undefined;
  readonly take: number;
};

/** Where a walk stands: first the live ones by number, then what ended, newest first. Bound to its own query. */
type Cursor = { readonly of: string; readonly live?: number; readonly ended?: string };

const ENDED: ReadonlySet<EntryState> = new Set(["MERGED", "FAILED", "CANCELLED"]);

export async function listPullRequests(app: QueueApp, key: QueueKey, asked: Listing) {
  const of = [queueLabel(key), asked.state, asked.since, asked.until].join(" ");
  const cursor = asked.cursor === undefined ? { of } : readCursor(asked.cursor);
  if (cursor === undefined || cursor.of !== of) {
    const issues = [{ path: "cursor", message: "is damaged, or of another query" }];
    return fail("INVALID_REQUEST", "The cursor cannot be used; ask for the first page anew.", { issues });
  }
  const queue = await app.queues.view(key);
  if (queue === undefined) return noQueue(key);
  const view = (entry: Entry): EntryView => viewIn(queue.record, entry);
  // Live ones have no time of conclusion: a query about that time is about ended ones only.
  const wantsLive = asked.since === undefined && asked.until === undefined && cursor.ended === undefined;
  const live = wantsLive
    ? queue.entries
        .map((one) => shownEntry(one.entry))
        .filter((entry) => isInQueue(entry) && (asked.state === undefined || entry.state === asked.state))
        .filter((entry) => entry.prNumber > (cursor.live ?? 0))
        .sort((a, b) => a.prNumber - b.prNumber)
    : [];
  if (live.length > asked.take) {
    const entries = live.slice(0, asked.take);
    return ok({
      pullRequests: entries.map(view),
      nextCursor: writeCursor({ of, live: entries.at(-1)?.prNumber ?? 0 }),
    });
  }
  const ended = await endedPage(app, key, asked, cursor.ended, asked.take - live.length);
  const next = ended.next === undefined ? {} : { nextCursor: writeCursor({ of, ended: ended.next }) };
  return ok({ pullRequests: [...live, ...ended.entries].map(view), ...next });
}

/** At most so many are looked through for one page of one state; the next page goes on from there. */
const LOOKED_THROUGH_MAX = 1000;

async function endedPage(app: QueueApp, key: QueueKey, asked: Listing, after: string | undefined, take: number) {
  const { state, since, until } = asked;
  if (state !== undefined && !ENDED.has(state)) return { entries: [] };
  const entries: Entry[] = [];
  let looked = 0;
  let next = after;
  do {
    const wanted = Math.max(1, take - entries.length);
    const page = await app.queues.history(key, { since, until, after: next, take: wanted });
    if (take === 0) return { entries, ...(page.entries.length > 0 ? { next: next ?? "~" } : {}) };
    entries.push(...page.entries.filter((entry) => state === undefined || entry.state === state));
    looked += page.entries.length;
    next = page.next;
  } while (next !== undefined && entries.length < take && looked < LOOKED_THROUGH_MAX);
  return { entries, ...(next === undefined ? {} : { next }) };
}

const writeCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString("base64url");

/** A place among the ended ones, as the table gives it, or the place before all of them. */
const PLACE = /^(?:~|\d{16}#[\w-]{1,100})$/u;

function readCursor(text: string): Cursor | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (typeof read !== "object" || read === null || !("of" in read) || typeof read.of !== "string") return undefined;
    const live = "live" in read && typeof read.live === "number" ? { live: read.live } : {};
    if ("ended" in read && !(typeof read.ended === "string" && PLACE.test(read.ended))) return undefined;
    const ended = "ended" in read && typeof read.ended === "string" ? { ended: read.ended } : {};
    return { of: read.of, ...live, ...ended };
  } catch {
    return undefined;
  }
}

export type ExplanationView = Explanation & {
  readonly entry: Entry;
  readonly failedRun: { readonly id: string; readonly statuses: readonly StatusCheck[] } | undefined;
  readonly timeline: readonly Move[];
};

/** Why a pull request is where it is: from the queue as it is now, and from what the loop noted when it decided. */
export async function explainPullRequest(app: QueueApp, key: QueueKey, prNumber: number) {
  const [queue, submissions] = await Promise.all([app.queues.view(key), app.queues.submissions(key, [prNumber])]);
  if (queue === undefined) return noQueue(key);
  const found = submissions.get(prNumber);
  if (found === undefined) return neverSubmitted(key, `PR #${prNumber}`);
  const entry = shownEntry(queue.entries.find((one) => one.entry.id === found.entry.id)?.entry ?? found.entry);
  const timeline = await app.queues.timeline(key, prNumber, entry.id);
  const told = explain(queue.state, entry, app.clock());
  const broken = await brokenFor(app, queue, entry);
  const degraded = queue.degraded === null ? undefined : `the queue itself is in trouble: ${queue.degraded.what}`;
  return ok<ExplanationView>({
    ...told,
    blockers: [...told.blockers, ...broken],
    waitsFor: [degraded ?? [], told.waitsFor, broken.map((one) => one.message)].flat(),
    entry,
    timeline,
    failedRun: await failedRunOf(app, key, entry),
  });
}

/** Work that a live entry waits for, and that failed: what broke, and when it is tried again. */
async function brokenFor(app: QueueApp, { record, state }: LoadedQueue, entry: Entry): Promise<readonly Blocker[]> {
  if (!isInQueue(entry)) return [];
  const concerns = ({ effect }: EffectTrouble): boolean =>
    effect.type === "read-tip" ||
    (effect.type === "read-statuses" && state.runs.get(effect.run)?.group.includes(entry.id) === true) ||
    ((effect.type === "compute-targets" || effect.type === "compare-targets") && effect.entry === entry.id);
  const troubles = (await app.queues.troubles(record.key)).filter(concerns);
  return troubles.map(({ effect, what, retryAt }) => ({
    kind: "INFRASTRUCTURE",
    message: `${FAILED_WORK[effect.type] ?? "the code host could not be asked"} (${what}); it is tried again at ${toRfc3339(retryAt)}`,
    prNumber: null,
  }));
}

const FAILED_WORK: { readonly [Type in OutboxEffect["type"]]?: string } = {
  "compare-targets": "its impacted targets could not be compared",
  "compute-targets": "its impacted targets could not be computed from the paths that it changes",
};

async function failedRunOf(app: QueueApp, key: QueueKey, entry: Entry): Promise<ExplanationView["failedRun"]> {
  if (entry.state !== "FAILED" || entry.verifiedBy === null) return undefined;
  const ended = await app.queues.endedRun(key, entry.verifiedBy);
  return ended && { id: ended.run.id, statuses: ended.run.statuses };
}
