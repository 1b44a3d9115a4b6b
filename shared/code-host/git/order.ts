/** Two small tools: one thing at a time per key, and so many things at a time in all. */

export type Serial = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createSerial(): Serial {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const now = before.then(work, work);
    last.set(key, now);
    try {
      return await now;
    } finally {
      if (last.get(key) === now) last.delete(key);
    }
  };
}

/** Answers undefined, without having begun, when `giveUp` comes while it waits. */
export type Limit = <T>(work: () => Promise<T>, giveUp: AbortSignal) => Promise<T | undefined>;

/** First come, first served. */
export function createLimit(most: number): Limit {
  let busy = 0;
  const waiting: (() => void)[] = [];
  const turn = (giveUp: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const enter = (): void => {
        giveUp.removeEventListener("abort", leave);
        resolve(true);
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(enter), 1);
        resolve(false);
      };
      waiting.push(enter);
      giveUp.addEventListener("abort", leave, { once: true });
    });
  return async (work, giveUp) => {
    if (giveUp.aborted) return undefined;
    if (busy < most) busy++;
    else if (!(await turn(giveUp))) return undefined;
    try {
      return await work();
    } finally {
      // The place is handed on without being given up in between.
      const next = waiting.shift();
      if (next === undefined) busy--;
      else next();
    }
  };
}
