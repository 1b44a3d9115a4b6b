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

export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/** First come, first served. */
export function createLimit(most: number): Limit {
  let busy = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (busy < most) busy++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy--;
      else next();
    }
  };
}
