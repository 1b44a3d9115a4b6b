/**
 * Maintenance windows: made, shown, cancelled. A window is stored as it was asked for; which times it is open at is
 * worked out when its queue is read. So nothing has to happen at the right moment for the right thing to be decided.
 */
import type { OrgSlug, QueueKey, RepoKey } from "../../kernel/ids.ts";
import { type FaultIssue, fail, ok } from "../../kernel/result.ts";
import { DAY_MS, type EpochMs, epochMs, later, MINUTE_MS, toRfc3339 } from "../../kernel/time.ts";
import type { Schedule } from "../../maintenance/occurrences.ts";
import { firstOpenings, isOver, keptUntil, type MaintenanceWindow, type Opening } from "../../maintenance/windows.ts";
import { noQueue } from "./faults.ts";
import type { QueueRecord, Recording } from "./ports.ts";
import { RACED, untilUncontended } from "./retry.ts";
import { noMoreWakings } from "../../scheduler/port.ts";
import { wakingsFor, wanting } from "./wakings.ts";
import type { WindowApp, WindowedQueue } from "./window-ports.ts";

/** Each may be due at every step of its queue. */
export const WINDOWS_PER_QUEUE_MAX = 20;
export const WINDOWS_PER_ORGANIZATION_MAX = 1_000;
/** A typing error in the year is worth an error. */
const AHEAD_MS_MAX = 2 * 366 * DAY_MS;
const SHOWN_OPENINGS = 10;
/** What expired is taken along, so many at a time, where the table does not expire it by itself. */
const GONE_MAX = 20;

export type WindowState = "SCHEDULED" | "OPEN" | "ENDED" | "CANCELLED";

/** A window as it is shown. */
export type WindowView = {
  readonly window: MaintenanceWindow;
  readonly repo: RepoKey;
  readonly branch: string;
  readonly state: WindowState;
  /** Those that are not over, at most ten. */
  readonly openings: readonly Opening[];
};

export type WindowAsked = {
  readonly key: QueueKey;
  readonly action: MaintenanceWindow["action"];
  /** Of a window that opens once; without either it opens now. */
  readonly startsAt?: EpochMs | undefined;
  readonly schedule?: Schedule | undefined;
  readonly durationMinutes: number;
  readonly reason?: string | undefined;
  readonly allowUrgent?: boolean | undefined;
  readonly by: string;
  /** Known to whoever asks: asking again is the same window, and nothing happens. */
  readonly id?: string | undefined;
};

export async function scheduleMaintenance(app: WindowApp, asked: WindowAsked, record: Recording<WindowView>) {
  const id = asked.id ?? app.newId().replaceAll("-", "").slice(0, 16);
  return untilUncontended(app, async () => {
    const queue = await app.windows.of(asked.key);
    if (queue === undefined) return noQueue(asked.key);
    // That is over in a moment, one way or the other.
    if (queue.record.deleting) return RACED;
    const now = app.clock();
    const there = queue.windows.find((one) => one.id === id);
    if (there !== undefined) return ok(viewOf(queue.record, there, now));
    const window = made(queue.record, asked, id, now);
    const issues = problemsOf(window, now);
    if (issues.length > 0) return fail("INVALID_REQUEST", "No such window can be made; see issues.", { issues });
    const full = await whatIsFull(app, queue, now);
    if (full !== undefined) return fail("TOO_MANY_MAINTENANCE_WINDOWS", full);
    const view = viewOf(queue.record, window, now);
    const wakings = wakingsFor(asked.key, window, queue.record.windowsClosedAt, now).map(wanting);
    const change = { window, wakings, gone: goneOf(queue, now) };
    const done = await app.windows.set(queue.record, change, record(view));
    app.passing("window:after-write");
    return done === "SET" ? ok(view) : RACED;
  });
}

function made(record: QueueRecord, asked: WindowAsked, id: string, now: EpochMs): MaintenanceWindow {
  const { action, schedule, durationMinutes, by } = asked;
  const startsAt = asked.startsAt ?? now;
  // Who asks now wants it open now, whatever was closed before. An event that knows its window only came late: what an
  // operator has said since it happened stands.
  const opensAt =
    asked.id === undefined ? epochMs(Math.max(startsAt, now, (record.windowsClosedAt ?? 0) + 1)) : startsAt;
  const endsAt = later(startsAt, durationMinutes * MINUTE_MS);
  return {
    id,
    queue: record.id,
    action,
    times: schedule === undefined ? { kind: "ONCE", startsAt: opensAt, endsAt } : { kind: "RECURRING", ...schedule },
    durationMinutes,
    reason: asked.reason === undefined || asked.reason === "" ? null : asked.reason,
    allowUrgent: asked.allowUrgent ?? false,
    createdAt: now,
    createdBy: by,
    cancelledAt: null,
  };
}

/** What only the clock can tell of a request; all of it at once. */
function problemsOf(window: MaintenanceWindow, now: EpochMs): readonly FaultIssue[] {
  const { times } = window;
  if (times.kind === "RECURRING") return scheduleProblems(window, now);
  if (times.endsAt <= now)
    return [{ path: "startsAt", message: `is over: with durationMinutes it ends at ${toRfc3339(times.endsAt)}` }];
  if (times.startsAt > now + AHEAD_MS_MAX) return [{ path: "startsAt", message: "must be within the next two years" }];
  return [];
}

function scheduleProblems(window: MaintenanceWindow, now: EpochMs): readonly FaultIssue[] {
  const openings = firstOpenings(window, null, now, SHOWN_OPENINGS);
  if (openings.length === 0) return [{ path: "schedule", message: "never comes: no time from now on fits it" }];
  const meeting = openings.findIndex((one, at) => at > 0 && one.startsAt < (openings[at - 1]?.endsAt ?? 0));
  const second = openings[meeting];
  if (second === undefined) return [];
  const message = `is too long for the schedule: the window of ${toRfc3339(second.startsAt)} begins before the one ahead of it ends`;
  return [{ path: "durationMinutes", message }];
}

async function whatIsFull(app: WindowApp, queue: WindowedQueue, now: EpochMs): Promise<string | undefined> {
  if (liveIn(queue, now).length >= WINDOWS_PER_QUEUE_MAX)
    return `The queue has ${WINDOWS_PER_QUEUE_MAX} maintenance windows that are not over, the most it may have. Cancel some with /cancelMaintenance.`;
  const all = await app.windows.ofOrganization(queue.record.key.org);
  const count = all.reduce((sum, one) => sum + liveIn(one, now).length, 0);
  if (count < WINDOWS_PER_ORGANIZATION_MAX) return undefined;
  return `The organization has ${count} maintenance windows that are not over, the most it may have. Cancel some with /cancelMaintenance.`;
}

const liveIn = ({ record, windows }: WindowedQueue, now: EpochMs): readonly MaintenanceWindow[] =>
  windows.filter((window) => !isOver(window, record.windowsClosedAt, now));

const goneOf = ({ windows }: WindowedQueue, now: EpochMs): readonly string[] =>
  windows
    .filter((window) => (keptUntil(window) ?? now) < now)
    .slice(0, GONE_MAX)
    .map((window) => window.id);

/** Those of one queue, of a repository, or of all; what opened first or opens next comes first. None that is over. */
export async function listWindows(
  app: WindowApp,
  org: OrgSlug,
  { repo, branch }: { readonly repo?: RepoKey | undefined; readonly branch?: string | undefined },
) {
  const now = app.clock();
  const queue = repo && branch && (await app.windows.of({ org, repo, branch }));
  if (repo && branch && !queue) return noQueue({ org, repo, branch });
  const queues = queue ? [queue] : await app.windows.ofOrganization(org);
  const views = queues
    .filter(({ record: { key } }) => repo === undefined || isSameRepo(key.repo, repo))
    .flatMap((one) => liveIn(one, now).map((window) => viewOf(one.record, window, now)));
  return ok(views.sort((a, b) => (a.openings[0]?.startsAt ?? 0) - (b.openings[0]?.startsAt ?? 0)));
}

const isSameRepo = (a: RepoKey, b: RepoKey): boolean => a.host === b.host && a.owner === b.owner && a.name === b.name;

/** Ends it at once, and for good. One that is over or cancelled already stays as it is. */
export async function cancelMaintenance(
  app: WindowApp,
  asked: { readonly org: OrgSlug; readonly id: string; readonly by: string },
  record: Recording<WindowView>,
) {
  const { org, id } = asked;
  return untilUncontended(app, async () => {
    const key = await app.windows.find(org, id);
    const queue = key === undefined ? undefined : await app.windows.of(key);
    const window = queue?.windows.find((one) => one.id === id);
    if (key === undefined || queue === undefined || window === undefined) return noWindow(id);
    const now = app.clock();
    if (isOver(window, queue.record.windowsClosedAt, now)) return ok(viewOf(queue.record, window, now));
    const cancelled = { ...window, cancelledAt: now };
    const view = viewOf(queue.record, cancelled, now);
    const change = { window: cancelled, wakings: noMoreWakings(id), gone: goneOf(queue, now) };
    const done = await app.windows.set(queue.record, change, record(view));
    app.passing("window:after-write");
    if (done !== "SET") return RACED;
    app.log.info("a maintenance window was cancelled", { window: id, by: asked.by });
    return ok(view);
  });
}

const noWindow = (id: string) =>
  fail("MAINTENANCE_WINDOW_NOT_FOUND", `There is no maintenance window "${id}". /listMaintenanceWindows shows them.`);

function viewOf(record: QueueRecord, window: MaintenanceWindow, now: EpochMs): WindowView {
  const openings = firstOpenings(window, record.windowsClosedAt, now, SHOWN_OPENINGS);
  const [next] = openings;
  const state = next === undefined ? "ENDED" : next.startsAt <= now ? "OPEN" : "SCHEDULED";
  return {
    window,
    repo: record.repo,
    branch: record.key.branch,
    state: window.cancelledAt === null ? state : "CANCELLED",
    openings,
  };
}
