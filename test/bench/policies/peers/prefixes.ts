/**
 * Speculation in one lane: the first entries of the queue, as many as the window, are each tested on top of those
 * ahead of them. The products differ in what a failure does:
 *
 * - GitHub's merge queue (window of 5, its default): a failed entry stays until it is at the head, where it is removed;
 *   everything behind is then built again without it. Where its documentation is silent (a failure while others are
 *   ahead), this is the reading that wrongs fewer changes.
 * - GitLab's merge trains (window of 20, its maximum): a failed entry leaves the train at once, even when something
 *   ahead is to blame (gitlab issue 500693), and everything behind is built again.
 * - Zuul's dependent pipeline: a failed entry stays, and everything behind is built again at once on the nearest one
 *   ahead that has not failed; it is built again itself when something ahead of it fails. The window begins at 20,
 *   grows by one with every success at the head, and is halved by every failure there, down to 3 (its defaults).
 *
 * None of them repeats a failed run by itself.
 */
import { contentOf } from "../trunk.ts";
import type { Build, Peer, Site } from "./site.ts";

type Rules = {
  readonly window: number;
  readonly onFailure: "WAITS" | "LEAVES" | "IS_SKIPPED";
  /** The least that the window shrinks to; undefined where it is fixed. */
  readonly floor?: number;
};

export const github = (site: Site): Peer => prefixes(site, { window: 5, onFailure: "WAITS" });
export const gitlab = (site: Site): Peer => prefixes(site, { window: 20, onFailure: "LEAVES" });
export const zuul = (site: Site): Peer => prefixes(site, { window: 20, onFailure: "IS_SKIPPED", floor: 3 });

function prefixes(site: Site, { window: begin, onFailure, floor }: Rules): Peer {
  const { trunk } = site;
  const queue: number[] = [];
  const builds = new Map<number, { readonly build: Build; readonly content: number }>();
  let window = begin;

  const leave = (at: number, isLanding: boolean): void => {
    const [change] = queue.splice(at, 1);
    if (change === undefined) return;
    builds.delete(change);
    if (isLanding) site.land(change);
    else site.eject(change);
    if (floor !== undefined && at === 0) window = isLanding ? window + 1 : Math.max(floor, Math.floor(window / 2));
  };
  /** The build of this entry on exactly what is ahead of it now; one on anything else is stopped. */
  const buildOf = (change: number, ahead: readonly number[]): Build | undefined => {
    const known = builds.get(change);
    const onTop = [...ahead, change];
    if (known?.content === contentOf(trunk, trunk.landed, onTop)) return known.build;
    if (known !== undefined) {
      site.stop(known.build);
      builds.delete(change);
    }
    return undefined;
  };
  /** One walk along the window. True when an entry left, so that everything behind has to be looked at again. */
  const walk = (): boolean => {
    const ahead: number[] = [];
    for (const [at, change] of queue.entries()) {
      // Beyond a window that has shrunk nothing is started, but what stands on something else is stopped there as well.
      if (at >= window && !builds.has(change)) break;
      const build = buildOf(change, ahead);
      const hasEnded = build?.phase === "ENDED";
      if (hasEnded && at === 0) {
        leave(0, build.passes);
        return true;
      }
      const hasFailed = hasEnded && !build.passes;
      if (hasFailed && onFailure === "LEAVES") {
        leave(at, false);
        return true;
      }
      if (!hasFailed || onFailure === "WAITS") ahead.push(change);
    }
    return false;
  };
  /** Stopped builds have given their workers back by now: the earliest entries take them. */
  const fill = (): void => {
    const ahead: number[] = [];
    for (const change of queue.slice(0, window)) {
      if (!site.isFree()) return;
      const known = builds.get(change)?.build;
      if (known === undefined) {
        const content = contentOf(trunk, trunk.landed, [...ahead, change]);
        builds.set(change, { build: site.start([change], ahead), content });
      }
      const hasFailed = known?.phase === "ENDED" && !known.passes;
      if (!hasFailed || onFailure === "WAITS") ahead.push(change);
    }
  };
  return {
    arrives: (change) => void queue.push(change),
    ended: () => {},
    goOn: () => {
      while (walk());
      fill();
    },
  };
}
