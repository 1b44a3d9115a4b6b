/**
 * One at a time: a change is built once everything that it depends on ahead is decided, and its first failure is its
 * last (homu and bors without batches, and "require branches to be up to date", repeat nothing). In one lane
 * everything depends on everything; in lanes only on what overlaps.
 */
import { newHeap, pop, push } from "../heap.ts";
import { isDecided } from "../ledger.ts";
import type { Peer, Site } from "./site.ts";

export function serial(site: Site): Peer {
  const waiting: number[] = [];
  let next = 0;
  let isBusy = false;
  return {
    arrives: (change) => void waiting.push(change),
    ended: ({ tested, passes }) => {
      for (const change of tested) decide(site, change, passes);
      isBusy = false;
    },
    goOn: () => {
      const change = waiting[next];
      if (isBusy || change === undefined) return;
      site.start([change], []);
      next += 1;
      isBusy = true;
    },
  };
}

export function serialLanes(site: Site): Peer {
  const { world, ledger } = site;
  const ready = newHeap<number>((a, b) => a < b);
  /** How many undecided changes ahead overlap it. */
  const blockers = new Int32Array(world.count);
  const hasArrived = new Uint8Array(world.count);
  return {
    arrives: (change) => {
      hasArrived[change] = 1;
      blockers[change] = world.earlier[change]?.filter((other) => !isDecided(ledger, other)).length ?? 0;
      if (blockers[change] === 0) push(ready, change);
    },
    ended: ({ tested, passes }) => {
      for (const change of tested) {
        decide(site, change, passes);
        for (const other of world.later[change] ?? []) {
          if (hasArrived[other] !== 1) continue;
          blockers[other] = (blockers[other] ?? 0) - 1;
          if (blockers[other] === 0) push(ready, other);
        }
      }
    },
    goOn: () => {
      while (site.isFree()) {
        const change = pop(ready);
        if (change === undefined) return;
        site.start([change], []);
      }
    },
  };
}

const decide = (site: Site, change: number, passes: boolean): void => (passes ? site.land(change) : site.eject(change));
