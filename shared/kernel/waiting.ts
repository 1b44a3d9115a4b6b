/** Waiting and chance. A port, as the clock is: what waits for nothing real is tested without waiting. */

export type Waiting = {
  readonly pause: (ms: number) => Promise<void>;
  /** What the work comes to, or LATE when it has not come to anything in time. The work itself goes on. */
  readonly within: <T>(ms: number, work: Promise<T>) => Promise<T | typeof LATE>;
  /** From 0 up to, but never, 1. */
  readonly random: () => number;
};

export const LATE: unique symbol = Symbol("late");
