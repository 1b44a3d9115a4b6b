/** This machine's timers and chance. */
import { setTimeout as sleep } from "node:timers/promises";
import { LATE, type Waiting } from "../shared/kernel/waiting.ts";

export const systemWaiting: Waiting = {
  pause: async (ms) => {
    await sleep(ms);
  },
  within: async (ms, work) => {
    const over = new AbortController();
    const late = sleep<typeof LATE>(ms, LATE, { signal: over.signal }).catch((): typeof LATE => LATE);
    return Promise.race([work, late]).finally(() => over.abort());
  },
  random: Math.random,
};
