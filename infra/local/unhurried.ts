import { setTimeout as sleep } from "node:timers/promises";
import type { StreamHandler } from "./stream-delivery.ts";

export type Unhurried = { readonly handler: StreamHandler; readonly ended: () => Promise<void> };

export type Patience = {
  readonly ms: number;
  /** Batches that go on by themselves at most; one more is waited for. */
  readonly most: number;
  /** A batch that went on by itself has ended: what it wrote is somebody's news. */
  readonly nudge: () => void;
};

/**
 * Waits for a batch for a while and no longer: what takes more time goes on by itself, so that one pull request that
 * is slow to build keeps no other queue waiting. Only for work that is claimed, and that the sweep brings again.
 */
export function unhurried(handler: StreamHandler, { ms, most, nudge }: Patience): Unhurried {
  const going = new Set<Promise<unknown>>();
  return {
    handler: async (event, context) => {
      const work = Promise.resolve(handler(event, context));
      const ended = work.catch(() => {});
      if (going.size >= most) return work;
      const waiting = new AbortController();
      const late = sleep(ms, "LATE" as const, { signal: waiting.signal }).catch(() => "LATE" as const);
      const answer = await Promise.race([work, late]).finally(() => waiting.abort());
      if (answer !== "LATE") return answer;
      going.add(ended);
      void ended.then(() => {
        going.delete(ended);
        nudge();
      });
    },
    ended: async () => {
      await Promise.all(going);
    },
  };
}
