/** Maintenance windows as people make them, and the times at which each is open. */
import type { QueueId } from "../kernel/ids.ts";
import { DAY_MS, type EpochMs, epochMs, later, MINUTE_MS } from "../kernel/time.ts";
import { occurrences, type Schedule } from "./occurrences.ts";

export type WindowAction = "DRAIN" | "PAUSE";

export type WindowTimes =
  | { readonly kind: "ONCE"; readonly startsAt: EpochMs; readonly endsAt: EpochMs }
  | ({ readonly kind: "RECURRING" } & Schedule);

export type MaintenanceWindow = {
  readonly id: string;
  /** A queue of the same name that is made later is another. */
  readonly queue: QueueId;
  readonly action: WindowAction;
  readonly times: WindowTimes;
  readonly durationMinutes: number;
  readonly reason: string | null;
  readonly allowUrgent: boolean;
  readonly createdAt: EpochMs;
  readonly createdBy: string;
  /** Kept for a while, so that a message that comes twice does not open it again. */
  readonly cancelledAt: EpochMs | null;
};

/** One time at which a window is open: from `startsAt` on, and at `endsAt` no more. */
export type Opening = { readonly startsAt: EpochMs; readonly endsAt: EpochMs };

/**
 * The openings that are not over, in order. `closedAt`: what opened until then, an operator has closed. A recurring
 * window counts from its creation: it is never found open at once.
 */
export function* openingsOf(
  window: MaintenanceWindow,
  closedAt: EpochMs | null,
  now: EpochMs,
): Generator<Opening, void> {
  for (const opening of allOpenings(window, now))
    if (opening.endsAt > now && opening.startsAt > (closedAt ?? 0)) yield opening;
}

function* allOpenings(window: MaintenanceWindow, now: EpochMs): Generator<Opening, void> {
  const { times, durationMinutes, createdAt, cancelledAt } = window;
  if (cancelledAt !== null) return;
  if (times.kind === "ONCE") {
    yield { startsAt: times.startsAt, endsAt: times.endsAt };
    return;
  }
  const lasts = durationMinutes * MINUTE_MS;
  const from = epochMs(Math.max(now - lasts, createdAt));
  for (const startsAt of occurrences(times, from)) yield { startsAt, endsAt: later(startsAt, lasts) };
}

export const firstOpenings = (
  window: MaintenanceWindow,
  closedAt: EpochMs | null,
  now: EpochMs,
  count: number,
): readonly Opening[] => {
  const found: Opening[] = [];
  for (const opening of openingsOf(window, closedAt, now)) if (found.push(opening) === count) break;
  return found;
};

/**
 * What the queue has to know now: what is open, and what opens next. Made anew whenever a queue is read, so nothing has
 * to be renewed in time: its edge wakes the queue, which then reads the one after.
 */
export function windowsAt(windows: readonly MaintenanceWindow[], closedAt: EpochMs | null, now: EpochMs) {
  return windows.flatMap((window) => {
    const { id, action, reason, allowUrgent } = window;
    const due: Opening[] = [];
    for (const opening of openingsOf(window, closedAt, now)) {
      due.push(opening);
      if (opening.startsAt > now) break;
    }
    return due.map((opening) => ({ id, action, ...opening, reason, allowUrgent }));
  });
}

/** It will open no more, whatever happens. */
export const isOver = (window: MaintenanceWindow, closedAt: EpochMs | null, now: EpochMs): boolean =>
  firstOpenings(window, closedAt, now, 1).length === 0;

/** Longer than any message that would open it is repeated. */
const KEPT_MS = 7 * DAY_MS;

/** When a window that is over may be forgotten; undefined for one that goes on. */
export function keptUntil({ times, cancelledAt }: MaintenanceWindow): EpochMs | undefined {
  if (times.kind === "ONCE") return later(epochMs(Math.max(times.endsAt, cancelledAt ?? 0)), KEPT_MS);
  return cancelledAt === null ? undefined : later(cancelledAt, KEPT_MS);
}
