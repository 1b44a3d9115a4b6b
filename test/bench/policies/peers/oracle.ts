/**
 * Knows every outcome beforehand. One build per change, begun in order of arrival, on exactly what will land ahead of
 * it; nothing flakes, nothing is batched. A yardstick, not a bound: whoever batches or lands before a test ahead has
 * ended can be faster.
 */
import { isDecided } from "../ledger.ts";
import type { World } from "../world.ts";
import type { Peer, Site } from "./site.ts";

export function oracle(site: Site): Peer {
  const { world, ledger } = site;
  const lands = whatLands(world);
  const waiting: number[] = [];
  let next = 0;
  const isBuilt = new Uint8Array(world.count);

  const isFirst = (change: number): boolean =>
    !world.earlier[change]?.some((other) => lands[other] === 1 && !isDecided(ledger, other));
  /** Lands it, and then whatever waited for it alone. */
  const settle = (change: number): void => {
    if (isBuilt[change] !== 1 || isDecided(ledger, change)) return;
    if (world.isBad[change] === 1) return site.eject(change);
    if (!isFirst(change)) return;
    if (lands[change] !== 1) return site.eject(change);
    site.land(change);
    for (const other of world.later[change] ?? []) settle(other);
  };
  return {
    arrives: (change) => void waiting.push(change),
    ended: ({ tested }) => {
      for (const change of tested) {
        isBuilt[change] = 1;
        settle(change);
      }
    },
    goOn: () => {
      while (next < waiting.length && site.isFree()) {
        const change = waiting[next];
        next += 1;
        if (change !== undefined) site.startSure([change], []);
      }
    },
  };
}

/** In order of arrival: what is good on its own and goes together with all that landed before. */
function whatLands({ count, isBad, conflicts }: World): Uint8Array {
  const lands = new Uint8Array(count);
  for (let change = 0; change < count; change += 1)
    lands[change] = isBad[change] === 1 || conflicts[change]?.some((other) => lands[other] === 1) ? 0 : 1;
  return lands;
}
