/** The target branch of one policy's run, and the truth about every content that could be built on it. */
import { mixAll, unitOf } from "./random.ts";
import type { World } from "./world.ts";

/** Something landed that is wrong, from the landing `from` on; `until` is the landing that mended it. */
type Red = { readonly change: number; readonly from: number; until: number };

export type Trunk = {
  readonly world: World;
  /** How many changes have landed. Content is named by this number and what is put on top. */
  landed: number;
  /** As how many-th it landed, or -1. */
  readonly place: Int32Array;
  /** Names of the content after each landing, in two halves of 32 bits; the order does not matter. */
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly reds: Red[];
  /** How often each content was run: an attempt of its own flakes on its own. */
  readonly attempts: Map<number, number>;
  /** Scratch: which changes are on top, marked with the number of the question. */
  readonly marks: Int32Array;
  asked: number;
};

export const newTrunk = (world: World): Trunk => ({
  world,
  landed: 0,
  place: new Int32Array(world.count).fill(-1),
  low: new Int32Array(world.count + 1),
  high: new Int32Array(world.count + 1),
  reds: [],
  attempts: new Map(),
  marks: new Int32Array(world.count),
  asked: 0,
});

const lowOf = (trunk: Trunk, change: number): number => mixAll(trunk.world.seed, 101, change);
const highOf = (trunk: Trunk, change: number): number => mixAll(trunk.world.seed, 102, change);

/**
 * Whether the content passes when nothing flakes: `base` landings and these changes on top. It fails iff one on top is
 * bad and not mended in it, or cannot be together with another in it, or overlaps something wrong that landed.
 */
export const isGood = (trunk: Trunk, base: number, onTop: readonly number[]): boolean =>
  isSound(trunk, base, onTop) && trunk.reds.every((red) => isHarmless(trunk, red, base, onTop));

/** Marks what is on top and answers whether the content holds a change. */
function contains(trunk: Trunk, base: number, onTop: readonly number[]): (change: number) => boolean {
  const { marks, place } = trunk;
  trunk.asked += 1;
  for (const change of onTop) marks[change] = trunk.asked;
  return (change) => {
    const landed = place[change] ?? -1;
    return marks[change] === trunk.asked || (landed >= 0 && landed < base);
  };
}

function isSound(trunk: Trunk, base: number, onTop: readonly number[]): boolean {
  const { isBad, fixedBy, conflicts } = trunk.world;
  const holds = contains(trunk, base, onTop);
  return onTop.every((change) => {
    if (isBad[change] === 1 && !holds(fixedBy[change] ?? -1)) return false;
    return !conflicts[change]?.some(holds);
  });
}

function isHarmless({ world }: Trunk, red: Red, base: number, onTop: readonly number[]): boolean {
  if (base <= red.from || base > red.until || onTop.includes(world.fixedBy[red.change] ?? -1)) return true;
  return !onTop.some((change) => doOverlap(world, change, red.change));
}

const doOverlap = (world: World, a: number, b: number): boolean =>
  world.earlier[Math.max(a, b)]?.includes(Math.min(a, b)) ?? false;

/** A number that names the content (53 bits). */
export function contentOf(trunk: Trunk, base: number, onTop: readonly number[]): number {
  let low = trunk.low[base] ?? 0;
  let high = trunk.high[base] ?? 0;
  for (const change of onTop) {
    low ^= lowOf(trunk, change);
    high ^= highOf(trunk, change);
  }
  return (high >>> 0) * 0x20_0000 + (low & 0x1f_ffff);
}

/** The outcome of a run of this content: the truth, unless this attempt flakes. Counts as an attempt. */
export function outcomeOf(trunk: Trunk, base: number, onTop: readonly number[]): boolean {
  const { seed, load } = trunk.world;
  const content = contentOf(trunk, base, onTop);
  const attempt = trunk.attempts.get(content) ?? 0;
  trunk.attempts.set(content, attempt + 1);
  const flakes = unitOf(mixAll(seed, 103, content / 0x20_0000, content & 0x1f_ffff, attempt)) < load.flake;
  return !flakes && isGood(trunk, base, onTop);
}

/** Lands a change. True iff its commit is green: the branch is right with it, whatever any test said. */
export function landOn(trunk: Trunk, change: number): boolean {
  const { world, landed } = trunk;
  const isGreen = isGood(trunk, landed, [change]);
  const isWrong = !isSound(trunk, landed, [change]);
  for (const red of trunk.reds) if (world.fixedBy[red.change] === change) red.until = landed;
  trunk.place[change] = landed;
  trunk.low[landed + 1] = (trunk.low[landed] ?? 0) ^ lowOf(trunk, change);
  trunk.high[landed + 1] = (trunk.high[landed] ?? 0) ^ highOf(trunk, change);
  trunk.landed += 1;
  if (isWrong) trunk.reds.push({ change, from: landed, until: Number.POSITIVE_INFINITY });
  return isGreen;
}
