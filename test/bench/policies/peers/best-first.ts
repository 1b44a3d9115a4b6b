/**
 * Uber's SubmitQueue: a change depends on the undecided changes ahead that overlap it; each guess about how they turn
 * out is a build of its own; free workers take the guesses that are likeliest to be right, those below the threshold
 * excepted. A build goes on until its guess is proven wrong (their `sticky` allocator). A change is decided when all
 * that it depends on is, by its build on exactly that: it lands or it is out; nothing is repeated.
 *
 * Its predictor is given the very probability with which the change was drawn to be good, and revises it by what builds
 * have shown, as theirs does: better than any that could be had.
 */
import { isDecided } from "../ledger.ts";
import { type Guess, guesses, type Head } from "./paths.ts";
import type { Build, Peer, Site } from "./site.ts";

/** By what a build that assumed nobody out multiplies the odds of its change, or divides them when it fails. */
const EVIDENCE_FACTOR = 50;
/** Without a threshold of its own, what is this unlikely is not worth finding. */
const SCORE_MIN = 1e-9;

type Path = { readonly build: Build; readonly landing: ReadonlySet<number>; readonly leaving: ReadonlySet<number> };

export const bestFirst =
  (threshold: number) =>
  (site: Site): Peer => {
    const { world, ledger } = site;
    const live: number[] = [];
    /** Of each change that has arrived: the undecided ones ahead that overlap it, in order. */
    const open: (readonly number[])[] = [];
    const paths: Path[][] = [];
    const floor = Math.max(threshold, SCORE_MIN);

    /** How likely each is to land, by all that is known of it. */
    const lands = world.chance.map((good) => good * (1 - world.load.flake));

    const learn = (change: number): void => {
      const good = (world.chance[change] ?? 0) * (1 - world.load.flake);
      let odds = good / (1 - good);
      for (const { build, leaving } of paths[change] ?? [])
        if (build.phase === "ENDED" && leaving.size === 0) odds *= build.passes ? EVIDENCE_FACTOR : 1 / EVIDENCE_FACTOR;
      lands[change] = odds / (1 + odds);
    };

    const decide = (change: number, isLanding: boolean): void => {
      if (isLanding) site.land(change);
      else site.eject(change);
      for (const { build } of paths[change] ?? []) site.stop(build);
      live.splice(live.indexOf(change), 1);
      for (const other of world.later[change] ?? []) {
        if (open[other] === undefined) continue;
        open[other] = open[other].filter((one) => one !== change);
        dropBroken(other, change, isLanding);
        settle(other);
      }
    };
    /** Stops the paths that guessed the other outcome. */
    const dropBroken = (change: number, decided: number, isLanding: boolean): void => {
      const known = paths[change] ?? [];
      if (!known.some((path) => isBroken(path, decided, isLanding))) return;
      for (const path of known) if (isBroken(path, decided, isLanding)) site.stop(path.build);
      paths[change] = known.filter((path) => !isBroken(path, decided, isLanding));
      learn(change);
    };
    /** Decides a change of which everything ahead is decided: what is left of its paths assumed exactly that. */
    const settle = (change: number): void => {
      if (isDecided(ledger, change) || open[change]?.length !== 0) return;
      const build = paths[change]?.find((path) => path.build.phase === "ENDED")?.build;
      if (build !== undefined) decide(change, build.passes);
    };

    /** Whether one of its paths assumes the same of all that is still open. */
    const isBuilt = ({ change, landing }: Guess): boolean =>
      (paths[change] ?? []).some((path) => {
        if (!landing.every((other) => path.landing.has(other))) return false;
        let assumed = 0;
        for (const other of open[change] ?? []) if (path.landing.has(other)) assumed += 1;
        return assumed === landing.length;
      });
    const begin = ({ change, landing }: Guess): void => {
      const ahead = new Set(landing);
      const leaving = new Set((open[change] ?? []).filter((other) => !ahead.has(other)));
      paths[change] = [...(paths[change] ?? []), { build: site.start([change], landing), landing: ahead, leaving }];
    };
    return {
      arrives: (change) => {
        live.push(change);
        open[change] = [...(world.earlier[change] ?? [])].filter((other) => !isDecided(ledger, other));
        paths[change] = [];
      },
      ended: ({ tested }) => {
        for (const change of tested) {
          learn(change);
          settle(change);
        }
      },
      goOn: () => {
        if (!site.isFree()) return;
        const draw = guesses(worthAsking());
        for (let guess = draw(); guess !== undefined && site.isFree(); guess = draw()) {
          if (guess.score < floor) return;
          if (!isBuilt(guess)) begin(guess);
        }
      },
    };

    /**
     * The changes of which a guess could be among the likeliest that there are workers for: once so many unbuilt ones
     * are known, nothing less likely at best need be looked at, and behind so many certain ones nothing at all.
     */
    function worthAsking(): readonly Head[] {
      const free = site.freeCount();
      const heads: Head[] = [];
      /** The best scores of unbuilt first guesses, falling; at most as many as there are workers free. */
      const scores: number[] = [];
      for (const change of live) {
        const bar = Math.max(floor, scores.length < free ? 0 : (scores.at(-1) ?? 0));
        if (bar >= 1) break;
        const best = bestScore(open[change] ?? [], lands, bar);
        if (best === 0) continue;
        const head = { change, open: open[change] ?? [], lands: (open[change] ?? []).map(chanceOf), best };
        heads.push(head);
        const landing = head.open.filter((other) => chanceOf(other) >= 0.5);
        if (isBuilt({ change, landing, score: best })) continue;
        scores.push(best);
        scores.sort((a, b) => b - a);
        if (scores.length > free) scores.pop();
      }
      return heads;
    }

    function chanceOf(change: number): number {
      return lands[change] ?? 0;
    }
  };

const isBroken = ({ landing, leaving }: Path, change: number, isLanding: boolean): boolean =>
  isLanding ? leaving.has(change) : landing.has(change);

/** The probability of the likeliest guess about these; 0 when it is below the bar. */
function bestScore(open: readonly number[], lands: Float64Array, bar: number): number {
  let score = 1;
  for (const change of open) {
    const p = lands[change] ?? 0;
    score *= Math.max(p, 1 - p);
    if (score < bar) return 0;
  }
  return score;
}
