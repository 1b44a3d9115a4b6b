import { setTimeout as sleep } from "node:timers/promises";

export type Waker = {
  /** Ends every idle wait at once. */
  readonly nudge: () => void;
  /** How often it was nudged: taken before looking, so that a nudge while looking is not slept over. */
  readonly count: () => number;
  /** Waits, unless something came since `seen`. */
  readonly idle: (ms: number, seen: number) => Promise<void>;
  /** Waits whatever comes, until the end of all. */
  readonly pause: (ms: number) => Promise<void>;
};

const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, { signal }).catch(() => {});
};

export function waker(stopping: AbortSignal): Waker {
  let nudges = 0;
  let round = new AbortController();
  return {
    nudge: () => {
      nudges += 1;
      round.abort();
      round = new AbortController();
    },
    count: () => nudges,
    idle: async (ms, seen) => {
      if (nudges === seen) await wait(ms, AbortSignal.any([stopping, round.signal]));
    },
    pause: (ms) => wait(ms, stopping),
  };
}
