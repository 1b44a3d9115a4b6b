/** Where the peers work: a clock, workers, and a branch. Arrivals and ends of builds happen in order of time. */
import { first, newHeap, pop, push } from "../heap.ts";
import { type Ledger, newLedger, noteEjected, noteEnded, noteLanded, noteStarted } from "../ledger.ts";
import { isGood, newTrunk, outcomeOf, type Trunk } from "../trunk.ts";
import type { World } from "../world.ts";

export type Build = {
  /** What it is the test of: its length, and whose cost it is. */
  readonly tested: readonly number[];
  /** Everything on top of the branch, in order; what is tested comes last. */
  readonly onTop: readonly number[];
  readonly startedAt: number;
  readonly endsAt: number;
  readonly number: number;
  readonly passes: boolean;
  phase: "RUNNING" | "ENDED" | "STOPPED";
};

export type Site = {
  readonly world: World;
  readonly trunk: Trunk;
  readonly ledger: Ledger;
  readonly isFree: () => boolean;
  readonly freeCount: () => number;
  /** Takes a free worker. `ahead` are not landed, and come before what is tested. */
  readonly start: (tested: readonly number[], ahead: readonly number[]) => Build;
  /** A build that never flakes, for the oracle. */
  readonly startSure: (tested: readonly number[], ahead: readonly number[]) => Build;
  readonly stop: (build: Build) => void;
  readonly land: (change: number) => void;
  readonly eject: (change: number) => void;
};

export type Peer = {
  readonly arrives: (change: number) => void;
  readonly ended: (build: Build) => void;
  /** After every event: lands, ejects and starts what can be. */
  readonly goOn: () => void;
};

export function simulate(world: World, peerOf: (site: Site) => Peer): Ledger {
  const trunk = newTrunk(world);
  const ledger = newLedger(world.count);
  const running = newHeap<Build>((a, b) => a.endsAt < b.endsAt || (a.endsAt === b.endsAt && a.number < b.number));
  let now = 0;
  let busy = 0;
  let number = 0;

  const begin = (tested: readonly number[], onTop: readonly number[], passes: boolean): Build => {
    if (busy >= world.workers) throw new Error("no worker is free");
    busy += 1;
    number += 1;
    const takes = tested.reduce((longest, change) => Math.max(longest, world.takes[change] ?? 0), 0);
    const build: Build = { tested, onTop, startedAt: now, endsAt: now + takes, number, passes, phase: "RUNNING" };
    push(running, build);
    noteStarted(ledger, tested);
    return build;
  };
  const end = (build: Build, phase: "ENDED" | "STOPPED"): void => {
    if (build.phase !== "RUNNING") return;
    build.phase = phase;
    busy -= 1;
    noteEnded(ledger, build.tested, now - build.startedAt, phase === "STOPPED");
  };
  const peer = peerOf({
    world,
    trunk,
    ledger,
    isFree: () => busy < world.workers,
    freeCount: () => world.workers - busy,
    start: (tested, ahead) => {
      const onTop = [...ahead, ...tested];
      return begin(tested, onTop, outcomeOf(trunk, trunk.landed, onTop));
    },
    startSure: (tested, ahead) => {
      const onTop = [...ahead, ...tested];
      return begin(tested, onTop, isGood(trunk, trunk.landed, onTop));
    },
    stop: (build) => end(build, "STOPPED"),
    land: (change) => noteLanded(ledger, trunk, change, now),
    eject: (change) => noteEjected(ledger, trunk, change, now),
  });

  for (let arriving = 0; ; ) {
    while (first(running)?.phase === "STOPPED") pop(running);
    const arrivesAt = arriving < world.count ? (world.arrivesAt[arriving] ?? 0) : Number.POSITIVE_INFINITY;
    const build = first(running);
    if (build !== undefined && build.endsAt <= arrivesAt) {
      pop(running);
      now = build.endsAt;
      end(build, "ENDED");
      peer.ended(build);
    } else if (arriving < world.count) {
      now = arrivesAt;
      peer.arrives(arriving);
      arriving += 1;
    } else return ledger;
    peer.goOn();
  }
}
