/**
 * Batch and bisect, as bors-ng does: whatever has been approved meanwhile becomes the next batch, of at most eight; one
 * batch is tested at a time; a failed one is cut in two and both halves are tested again, before anything newer; a
 * single change that fails is thrown out. Nothing is repeated.
 */
import type { Build, Peer, Site } from "./site.ts";

const BATCH_MAX = 8;

export function batchAndBisect(site: Site): Peer {
  const waiting: number[] = [];
  /** Halves to be tested, the next one last. */
  const halves: (readonly number[])[] = [];
  let running: Build | undefined;
  return {
    arrives: (change) => void waiting.push(change),
    ended: ({ tested, passes }) => {
      running = undefined;
      const [only] = tested;
      if (passes) for (const change of tested) site.land(change);
      else if (tested.length === 1 && only !== undefined) site.eject(only);
      else {
        const middle = Math.ceil(tested.length / 2);
        halves.push(tested.slice(middle), tested.slice(0, middle));
      }
    },
    goOn: () => {
      if (running !== undefined) return;
      const batch = halves.pop() ?? waiting.splice(0, BATCH_MAX);
      if (batch.length > 0) running = site.start(batch, []);
    },
  };
}
