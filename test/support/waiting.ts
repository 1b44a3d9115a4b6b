import type { Waiting } from "../../shared/kernel/waiting.ts";

/** Waits for no time: pauses are over at once, and work has all the time it takes. Keeps the pauses. */
export function noWaiting(): Waiting & { readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  return {
    pauses,
    pause: async (ms) => void pauses.push(ms),
    within: (_ms, work) => work,
    random: () => 0.5,
  };
}
