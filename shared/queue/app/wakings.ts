/**
 * The schedules that wake a queue at the edges of its maintenance windows. A window and its schedules cannot be written
 * at once, so the window is written together with the wish for them, and the sweep grants the wishes: one that was
 * granted by somebody who died is granted again, which changes nothing.
 */
import { type QueueKey, queueLabel } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { firstOpenings, type MaintenanceWindow } from "../../maintenance/windows.ts";
import { endOf, noMoreWakings, ScheduleRefused, type Scheduler, startOf, type Waking } from "../../scheduler/port.ts";
import type { StoredWaking, WakingChange, WindowApp } from "./window-ports.ts";

/** At the start and at the end; of a window that recurs, whenever it begins, and at the end while it is open. */
export function wakingsFor(
  key: QueueKey,
  window: MaintenanceWindow,
  closedAt: EpochMs | null,
  now: EpochMs,
): readonly Waking[] {
  const { id: windowId, times } = window;
  const [opening] = firstOpenings(window, closedAt, now, 1);
  const waking = (name: string, when: Waking["when"]): Waking => ({ name, windowId, key, when });
  if (opening === undefined) return [];
  const starts: Waking["when"] =
    times.kind === "ONCE" ? { kind: "AT", at: opening.startsAt } : { ...times, kind: "CRON" };
  const end = waking(endOf(windowId), { kind: "AT", at: opening.endsAt });
  const isOpen = opening.startsAt <= now;
  return [
    ...(isOpen && times.kind === "ONCE" ? [] : [waking(startOf(windowId), starts)]),
    ...(isOpen || times.kind === "ONCE" ? [end] : []),
  ];
}

/** All schedules that there should be: for a scheduler that remembers none. */
export async function allWakings(app: WindowApp): Promise<readonly Waking[]> {
  const now = app.clock();
  const queues = await Promise.all((await app.queues.due()).map(({ key }) => app.windows.of(key)));
  return queues
    .filter((queue) => queue !== undefined)
    .flatMap(({ record, windows }) =>
      windows.flatMap((window) => wakingsFor(record.key, window, record.windowsClosedAt, now)),
    );
}

export const wanting = (waking: Waking): WakingChange => ({ name: waking.name, wanted: waking });

/** A schedule called. The queue looks for itself what is open now; for the same reason it does not matter when. */
export async function windowCalled(app: WindowApp, key: QueueKey, windowId: string): Promise<void> {
  const queue = await app.windows.of(key);
  const window = queue?.windows.find((one) => one.id === windowId);
  if (queue !== undefined) await app.queues.tell(key, { type: "wake" });
  if (queue === undefined || window === undefined || window.cancelledAt !== null) {
    // Made after it was removed, by a sweep that was late: nobody else knows of it.
    await app.windows.change(noMoreWakings(windowId));
    return;
  }
  if (window.times.kind === "ONCE") return;
  // The end of a window that recurs is asked for when it begins.
  const wakings = wakingsFor(key, window, queue.record.windowsClosedAt, app.clock());
  await app.windows.change(wakings.filter(({ name }) => name === endOf(windowId)).map(wanting));
}

/** Tells the scheduler what it has not been told yet. One that cannot be told keeps no other waiting. */
export async function settleWakings(app: WindowApp, scheduler: Scheduler): Promise<void> {
  for (const change of await app.windows.changes())
    try {
      await settle(app, scheduler, change);
    } catch (error) {
      app.log.error("a schedule of a maintenance window could not be changed; the next sweep tries again", {
        schedule: change.name,
        ...(change.wanted === null ? {} : { queue: queueLabel(change.wanted.key) }),
        error: String(error),
      });
    }
}

async function settle(app: WindowApp, scheduler: Scheduler, change: StoredWaking): Promise<void> {
  const { name, wanted } = change;
  if (wanted === null) await scheduler.remove(name);
  // What has begun by now, the sweep itself has noticed: queues keep the time of their next edge.
  else if (wanted.when.kind === "CRON" || wanted.when.at > app.clock()) await put(app, scheduler, wanted);
  app.passing("waking:made");
  await app.windows.settled(change);
}

/** The window opens all the same: the sweep wakes its queue, within its minute. */
async function put(app: WindowApp, scheduler: Scheduler, waking: Waking): Promise<void> {
  try {
    await scheduler.put(waking);
  } catch (error) {
    if (!(error instanceof ScheduleRefused)) throw error;
    const said = { schedule: waking.name, queue: queueLabel(waking.key), when: waking.when, error: error.message };
    app.log.error("a schedule of a maintenance window was refused; its queue is woken by the sweep alone", said);
  }
}
