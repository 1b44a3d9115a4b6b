/** Queues themselves: create, read, change, delete. */
import type { OrgSlug, QueueKey, RepoKey } from "../../kernel/ids.ts";
import { queueId } from "../../kernel/ids.ts";
import { fail, ok } from "../../kernel/result.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { newQueue } from "../engine/new-queue.ts";
import { compareEntries, isAdmitted } from "../engine/order.ts";
import { modeInForce, permitsOf } from "../engine/permits.ts";
import type { Entry, Mode, OperatorState, QueueStateName } from "../engine/types.ts";
import { noQueue } from "./faults.ts";
import type { LoadedQueue, QueueApp, QueueRecord, Recording } from "./ports.ts";
import { RACED, untilUncontended } from "./retry.ts";
import type { QueueSettings, SettingsPatch } from "./settings.ts";
import { isInQueue, shownEntry } from "./shown.ts";

/** A queue as it is shown. */
export type QueueView = {
  readonly repo: RepoKey;
  readonly branch: string;
  readonly settings: QueueSettings;
  readonly state: QueueStateName;
  readonly stateChangedAt: EpochMs;
  readonly stateReason: string | null;
  readonly allowUrgent: boolean;
  readonly mode: Mode;
  readonly switchingTo: Mode | null;
};

export type QueueChange = {
  readonly key: QueueKey;
  readonly patch: SettingsPatch;
  readonly state?: OperatorState | undefined;
  readonly reason?: string | undefined;
  readonly allowUrgent?: boolean | undefined;
  readonly clearHold?: boolean | undefined;
  readonly deleteRequiredStatuses?: boolean | undefined;
  readonly by: string;
};

export type QueueCreation = Pick<QueueChange, "key" | "patch" | "state" | "by"> & { readonly repo: RepoKey };

export async function createQueue(app: QueueApp, asked: QueueCreation, record: Recording<QueueView>) {
  const now = app.clock();
  const { key, repo, patch, by } = asked;
  const state = asked.state ?? "RUNNING";
  const reason = state === "RUNNING" ? null : `created ${state} by ${by}`;
  const queue: QueueRecord = {
    key,
    id: queueId(app.newId().replaceAll("-", "").slice(0, 12)),
    repo,
    patch,
    config: {
      settings: app.resolveSettings(patch),
      operator: { state, reason, since: now, allowUrgent: false },
      holdsClearedAt: null,
      windows: [],
    },
    windowsClosedAt: null,
    createdAt: now,
    revision: 1,
    deleting: false,
  };
  const fresh = newQueue(queue.id, key.branch, queue.config);
  const view = viewOf(queue, fresh, now);
  const where = `${repo.host}/${repo.owner}/${repo.name}`;
  return untilUncontended(app, async () => {
    if ((await app.queues.create(queue, fresh, record(view))) === "CREATED") return ok(view);
    // Another write stood in the way; it need not have been the creation of this queue.
    if ((await app.queues.find(key)) === undefined) return RACED;
    return fail(
      "QUEUE_ALREADY_EXISTS",
      `A merge queue for "${key.branch}" of ${where} exists. Change it with /updateQueue.`,
    );
  });
}

export async function getQueue(app: QueueApp, key: QueueKey) {
  const queue = await app.queues.view(key);
  if (queue === undefined) return noQueue(key);
  return ok({ queue: viewOf(queue.record, queue.state, app.clock()), entries: inConsideredOrder(queue) });
}

export async function listQueues(app: QueueApp, org: OrgSlug, repo: RepoKey | undefined) {
  const keys = await app.queues.list(org, repo);
  const queues = await Promise.all(keys.map((key) => app.queues.view(key)));
  const now = app.clock();
  return ok(queues.flatMap((queue) => (queue === undefined ? [] : [viewOf(queue.record, queue.state, now)])));
}

export async function updateQueue(app: QueueApp, asked: QueueChange, record: Recording<QueueView>) {
  return untilUncontended(app, async () => {
    const queue = await app.queues.view(asked.key);
    if (queue === undefined) return noQueue(asked.key);
    const wanted = queue.record.config.settings.mode;
    const isSwitching = modeInForce(queue.state) !== wanted;
    if (isSwitching && asked.patch.mode !== undefined && asked.patch.mode !== wanted)
      return fail("MODE_CHANGE_IN_PROGRESS", `The queue is switching to ${wanted} mode. Change it again when it has.`);
    const now = app.clock();
    const next = changed(app, queue.record, asked, now);
    const view = viewOf(next, { ...queue.state, holds: heldStill(queue, next) }, now);
    const done = await app.queues.update(queue.record, next, record(view));
    app.passing("ask:after-write");
    return done === "UPDATED" ? ok(view) : RACED;
  });
}

const heldStill = (queue: LoadedQueue, { config }: QueueRecord) =>
  queue.state.holds.filter((hold) => config.holdsClearedAt === null || hold.since > config.holdsClearedAt);

function changed(app: QueueApp, queue: QueueRecord, asked: QueueChange, now: EpochMs): QueueRecord {
  const { requiredStatuses, ...others } = { ...queue.patch, ...asked.patch };
  const patch = asked.deleteRequiredStatuses === true ? others : { ...others, requiredStatuses };
  const { windows, holdsClearedAt } = queue.config;
  const closes = asked.state === "RUNNING";
  return {
    ...queue,
    patch,
    deleting: false,
    // An operator's RUNNING ends the windows that are open; those to come stay.
    windowsClosedAt: closes ? now : queue.windowsClosedAt,
    config: {
      settings: app.resolveSettings(patch),
      operator: operatorAfter(queue.config, asked, now),
      holdsClearedAt: asked.clearHold === true ? now : holdsClearedAt,
      windows: closes ? windows.filter((one) => one.startsAt > now) : windows,
    },
  };
}

function operatorAfter({ operator, windows }: QueueRecord["config"], asked: QueueChange, now: EpochMs) {
  const { state, reason, allowUrgent, by } = asked;
  if (state === undefined)
    return { ...operator, reason: reason ?? operator.reason, allowUrgent: allowUrgent ?? operator.allowUrgent };
  const said = reason === undefined || reason === "" ? `set to ${state} by ${by}` : `${reason} (${by})`;
  const closed = state === "RUNNING" ? windows.filter((one) => one.startsAt <= now && now < one.endsAt) : [];
  const closing = closed.map((one) => `, which ended the maintenance window ${one.id}`).join("");
  const since = state === operator.state ? operator.since : now;
  return { state, reason: `${said}${closing}`, since, allowUrgent: allowUrgent ?? false };
}

/** Deletes a queue in which nobody is. Marked first, so that a submission at the same moment is refused or seen. */
export async function deleteQueue(app: QueueApp, key: QueueKey, record: Recording<QueueView>) {
  return untilUncontended(app, async () => {
    const queue = await app.queues.view(key);
    if (queue === undefined) return noQueue(key);
    const inside = queue.entries.filter((one) => isInQueue(shownEntry(one.entry)));
    if (inside.length > 0) return notEmpty(key, inside.length);
    // Cancelled a moment ago, and the loop has not taken it out yet.
    if (queue.entries.length > 0) return RACED;
    const marked = { ...queue.record, deleting: true };
    if (!queue.record.deleting && (await app.queues.update(queue.record, marked, undefined)) === "CONFLICT")
      return RACED;
    return removeMarked(app, key, record);
  });
}

/** Goes on with a deletion that was begun: removes the queue, or takes the mark back if somebody came in before it. */
export async function removeMarked(app: QueueApp, key: QueueKey, record: Recording<QueueView>) {
  const queue = await app.queues.view(key);
  if (queue === undefined) return noQueue(key);
  if (!queue.record.deleting) return RACED;
  const view = viewOf(queue.record, queue.state, app.clock());
  if (queue.entries.length > 0) {
    await app.queues.update(queue.record, { ...queue.record, deleting: false }, undefined);
    return notEmpty(key, queue.entries.length);
  }
  return (await app.queues.remove(queue.record, record(view))) === "REMOVED" ? ok(view) : RACED;
}

const notEmpty = (key: QueueKey, count: number) =>
  fail(
    "QUEUE_NOT_EMPTY",
    `${count} pull requests are in the queue of "${key.branch}". Let them end or cancel them first.`,
  );

function viewOf(
  record: QueueRecord,
  state: Pick<LoadedQueue["state"], "mode" | "holds" | "entries">,
  now: EpochMs,
): QueueView {
  const { settings, operator } = record.config;
  const present = { ...state, config: record.config };
  const mode = modeInForce(present);
  const permits = permitsOf({ ...present, mode }, now);
  return {
    repo: record.repo,
    branch: record.key.branch,
    settings,
    state: permits.state,
    stateChangedAt: permits.since,
    stateReason: permits.reason,
    allowUrgent: operator.allowUrgent,
    mode,
    switchingTo: mode === settings.mode ? null : settings.mode,
  };
}

/** Testing, then pending, then not yet ready; each in queue order. */
export function inConsideredOrder(queue: Pick<LoadedQueue, "entries">): readonly Entry[] {
  const entries = queue.entries.map((one) => shownEntry(one.entry)).filter(isInQueue);
  const rank = (entry: Entry): number => (!isAdmitted(entry) ? 2 : entry.state === "PENDING" ? 1 : 0);
  return entries.sort((a, b) => rank(a) - rank(b) || compareEntries(a, b));
}
