/**
 * The schedules that wake a queue at the edges of its maintenance windows. A window and its schedules cannot be written
 * at once, so the window is written together with the wish for them, and the sweep grants the wishes: one that was
 * granted by somebody who died is granted again, which changes nothing.
 */
import { type QueueKey, queueLabel } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { firstOpenings, type MaintenanceWindow } from "../../maintenance/windows.ts";
import { endOf, type Scheduler, startOf, type Waking } from "../../scheduler/port.ts";
import type { StoredWaking, WakingChange, WindowApp } from "./window-ports.ts";

/** At the start and at the end; of a window that recurs, whenever it begins: that call asks for the end's. */
export function wakingsFor(key: QueueKey, { id, times }: MaintenanceWindow, now: EpochMs): readonly WakingChange[] {
  const wanted = (name: string, when: Waking["when"]): WakingChange => ({
    name,
    wanted: { name, windowId: id, key, when },
  });
  if (times.kind === "RECURRING") return [wanted(startOf(id), { ...times, kind: "CRON" })];
  const end = wanted(endOf(id), { kind: "AT", at: times.endsAt });
  return times.startsAt > now ? [wanted(startOf(id), { kind: "AT", at: times.startsAt }), end] : [end];
}

export const noMoreWakings = (id: string): readonly WakingChange[] =>
  [startOf(id), endOf(id)].map((name) => ({ name, wanted: null }));

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
  const now = app.clock();
  const [opening] = firstOpenings(window, queue.record.windowsClosedAt, now, 1);
  if (window.times.kind === "ONCE" || opening === undefined || opening.startsAt > now) return;
  const name = endOf(windowId);
  const when = { kind: "AT", at: opening.endsAt } as const;
  await app.windows.change([{ name, wanted: { name, windowId, key, when } }]);
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
  else if (wanted.when.kind === "CRON" || wanted.when.at > app.clock()) await scheduler.put(wanted);
  app.passing("waking:made");
  await app.windows.settled(change);
}
