/** Patience that ends only when nothing moves any more: how long all of it takes is up to the machine. */
export type Patience = {
  /** What is seen now. True when it has been the same for too long. */
  readonly isOver: (seen: unknown) => boolean;
};

export function patience(standstillMs: number, now: () => number = () => performance.now()): Patience {
  let last: string | undefined;
  let since = now();
  return {
    isOver: (seen) => {
      const text = JSON.stringify(seen);
      if (text !== last) [last, since] = [text, now()];
      return now() - since > standstillMs;
    },
  };
}
