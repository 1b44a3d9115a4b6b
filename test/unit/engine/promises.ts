import { breachesSince } from "../../support/queue.ts";

/** For afterEach: whatever a test drove its queues through, no invariant may have been broken on the way. */
export function keepsPromises(): void {
  const found = breachesSince();
  if (found.length > 0) throw new Error(`broken promises: ${found.join("; ")}`);
}
