/** What one policy did in one world, in numbers. */
import { HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { FILLING_MS, isDecided, type Ledger } from "./ledger.ts";
import type { World } from "./world.ts";

/** Of changes that arrive while the queue is still filling nothing is counted. */
const DROPPED_SHARE = 0.2;
/** Undecided changes late in the run, against the middle of it: above this the backlog grows. */
const GROWTH_MAX = 1.4;
const GROWTH_MIN_CHANGES = 5;
/** What an overloaded policy was not asked to decide takes so long: beyond every ratio, and a number. */
const NEVER_MS = 100_000 * HOUR_MS;

/** Minutes from arrival to decision. */
export type Quantiles = { readonly p50: number; readonly p95: number; readonly p99: number };

export type Figures = {
  readonly all: Quantiles;
  readonly landed: Quantiles;
  /**
   * While changes arrive, the first fifth dropped; what lands after the last arrival is not counted. Where it was given
   * up, from the second hour on until then.
   */
  readonly mergesPerHour: number;
  /** Repeats counted as runs. */
  readonly runsPerLanded: number;
  readonly workerHoursPerLanded: number;
  /** Of the runs started. */
  readonly abortedShare: number;
  /** False ejections per hundred good changes: those that landed rightly and those thrown out wrongly. */
  readonly wrongedPer100: number;
  /** Of the commits that landed, those on which the branch is right. */
  readonly greenShare: number;
  /**
   * Jain's index of slowdown (time to land, in lengths of the change's own run): 1 when all wait alike for their size,
   * 1/n when one bears it all.
   */
  readonly fairness: number;
  readonly isOverloaded: boolean;
};

export function figuresOf(world: World, ledger: Ledger): Figures {
  const from = ledger.gaveUpAt === Infinity ? Math.floor(world.count * DROPPED_SHARE) : 0;
  const counted = Array.from({ length: world.count - from }, (_, at) => from + at);
  const landed = counted.filter((change) => ledger.landed[change] === 1);
  const kept = counted.filter((change) => ledger.landed[change] === 1 || !isDecided(ledger, change));
  const minutes = (change: number): number => turnaroundMs(world, ledger, change) / MINUTE_MS;
  const total = (each: ArrayLike<number>): number => counted.reduce((sum, change) => sum + (each[change] ?? 0), 0);
  const green = landed.length - total(ledger.isRed);
  const wronged = total(ledger.wronged);
  const runs = total(ledger.runs);
  return {
    all: quantiles(counted.map(minutes)),
    landed: quantiles(kept.map(minutes)),
    mergesPerHour: mergesPerHour(world, ledger, from),
    runsPerLanded: runs / Math.max(1, landed.length),
    workerHoursPerLanded: total(ledger.busyMs) / HOUR_MS / Math.max(1, landed.length),
    abortedShare: runs === 0 ? 0 : total(ledger.aborted) / runs,
    wrongedPer100: (100 * wronged) / Math.max(1, wronged + green),
    greenShare: green / Math.max(1, landed.length),
    fairness: jain(landed.map((change) => turnaroundMs(world, ledger, change) / (world.takes[change] ?? 1))),
    isOverloaded: isOverloaded(world, ledger),
  };
}

const turnaroundMs = (world: World, ledger: Ledger, change: number): number =>
  isDecided(ledger, change)
    ? (ledger.decidedAt[change] ?? Number.NaN) - (world.arrivesAt[change] ?? Number.NaN)
    : NEVER_MS;

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function mergesPerHour(world: World, ledger: Ledger, from: number): number {
  const isWhole = ledger.gaveUpAt === Infinity;
  const begun = isWhole ? (world.arrivesAt[from] ?? 0) : FILLING_MS;
  const ended = isWhole ? (world.arrivesAt[world.count - 1] ?? 0) : ledger.gaveUpAt;
  const during = ledger.decidedAt.filter((at, change) => ledger.landed[change] === 1 && at >= begun && at < ended);
  return during.length / ((ended - begun) / HOUR_MS);
}

export function jain(values: readonly number[]): number {
  const sum = values.reduce((a, b) => a + b, 0);
  const squares = values.reduce((a, b) => a + b * b, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

/** Whether more and more changes are undecided as long as changes arrive. */
export function isOverloaded(world: World, ledger: Ledger): boolean {
  if (ledger.gaveUpAt < Infinity) return true;
  const middle = backlog(world, ledger, 0.4, 0.6);
  const last = backlog(world, ledger, 0.8, 1);
  return last > GROWTH_MAX * middle && last - middle > GROWTH_MIN_CHANGES;
}

/** Undecided changes as arrivals find them, on average over this part of the arrivals. */
function backlog({ count, arrivesAt }: World, { decidedAt }: Ledger, from: number, to: number): number {
  const decided = decidedAt.toSorted();
  const first = Math.floor(count * from);
  const last = Math.floor(count * to);
  let gone = 0;
  let sum = 0;
  for (let change = 0; change < last; change += 1) {
    while (gone < count && (decided[gone] ?? 0) <= (arrivesAt[change] ?? 0)) gone += 1;
    if (change >= first) sum += change - gone;
  }
  return sum / (last - first);
}
