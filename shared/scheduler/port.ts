/**
 * What calls the service back at a time. It only wakes: whether a window is open is decided from the window and the
 * clock alone, so that a call which comes twice, late or never changes nothing but how soon it shows.
 */
import type { QueueKey } from "../kernel/ids.ts";
import type { EpochMs } from "../kernel/time.ts";

export type Waking = {
  /** Made from the window's id: letters, digits, `-` and `_`, at most 64. Putting it again replaces it. */
  readonly name: string;
  readonly windowId: string;
  readonly key: QueueKey;
  readonly when:
    | { readonly kind: "AT"; readonly at: EpochMs }
    | { readonly kind: "CRON"; readonly cron: string; readonly timeZone: string };
};

/** It will never take this one: trying again is of no use. */
export class ScheduleRefused extends Error {
  override readonly name = "ScheduleRefused";
}

export type Scheduler = {
  /** Throws `ScheduleRefused` for what it will never take, and anything else for what may go well another time. */
  readonly put: (waking: Waking) => Promise<void>;
  /** Of one that is not there: nothing. */
  readonly remove: (name: string) => Promise<void>;
};

/** What the function for maintenance windows is called with. */
export const callOf = ({ windowId, key }: Waking) => ({ windowId, queue: key });

/** The schedules that a window may have: at its start (or whenever it recurs), and at its end. */
export const startOf = (windowId: string): string => `${windowId}-start`;
export const endOf = (windowId: string): string => `${windowId}-end`;

/** Neither is wanted any more. */
export const noMoreWakings = (windowId: string): readonly { readonly name: string; readonly wanted: null }[] =>
  [startOf(windowId), endOf(windowId)].map((name) => ({ name, wanted: null }));
