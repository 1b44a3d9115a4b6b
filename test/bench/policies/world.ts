/** The changes of one simulated week: when each arrives, how long its run takes, what is wrong with it. */
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { beta, type Draw, drawsOf, exponential, mixAll, normal, unitOf } from "./random.ts";
import { type Workload, workersOf } from "./workload.ts";

const RUN_MEDIAN_MINUTES = 27;
const RUN_SIGMA = 0.6;
const RUN_MAX_MINUTES = 120;
/** Of the Beta distribution of chances: how much changes differ in how likely they are to pass. */
const CHANCE_WEIGHT = 10;
const CONFLICT = 0.034;
const CONFLICT_WITHIN_MS = 30 * MINUTE_MS;
const AREAS = 12;
const ALL_SHARE = 0.03;
const ALL = -1;

/** Changes are numbered in order of arrival. Times in milliseconds from the start. */
export type World = {
  readonly load: Workload;
  readonly seed: number;
  readonly count: number;
  readonly workers: number;
  readonly arrivesAt: Float64Array;
  /** How long a run takes that tests it; a run that tests several takes as long as the longest. */
  readonly takes: Float64Array;
  /** The probability with which it was drawn to be good: all that a perfect predictor could know. */
  readonly chance: Float64Array;
  readonly isBad: Uint8Array;
  /** The change with which it passes although it is bad, or -1. */
  readonly fixedBy: Int32Array;
  /** Overlapping changes that arrived before it, ascending; and after it. */
  readonly earlier: readonly Int32Array[];
  readonly later: readonly Int32Array[];
  /** Those it cannot be together with. */
  readonly conflicts: readonly (readonly number[])[];
};

/** Each aspect has its own stream, so that varying one factor leaves everything else as it was. */
const ASPECTS = ["arrival", "length", "chance", "bad", "overlap", "area", "conflict", "fix"] as const;
const streamOf = (seed: number, aspect: (typeof ASPECTS)[number]): number => mixAll(seed, ASPECTS.indexOf(aspect));

export function worldOf(load: Workload, seed: number): World {
  const count = load.changes;
  const arrivesAt = arrivals(load, drawsOf(streamOf(seed, "arrival")));
  const takes = lengths(count, drawsOf(streamOf(seed, "length")));
  const chance = Float64Array.from({ length: count }, chances(load.success, drawsOf(streamOf(seed, "chance"))));
  const bad = drawsOf(streamOf(seed, "bad"));
  const isBad = Uint8Array.from(chance, (good) => (bad() < good ? 0 : 1));
  const overlap = load.overlap;
  const earlier =
    overlap === "CLUSTERED"
      ? sharedAreas(count, drawsOf(streamOf(seed, "area")))
      : randomPairs(count, overlap, drawsOf(streamOf(seed, "overlap")));
  const later = turned(earlier);
  const conflicts = conflictsOf(streamOf(seed, "conflict"), arrivesAt, earlier);
  const fixedBy = fixes(load.fixForward, streamOf(seed, "fix"), isBad, later);
  const workers = workersOf(load);
  return { load, seed, count, workers, arrivesAt, takes, chance, isBad, fixedBy, earlier, later, conflicts };
}

function arrivals({ changes, perHour, burst }: Workload, draw: Draw): Float64Array {
  const times = new Float64Array(changes);
  const meanMs = (60 * MINUTE_MS * burst) / perHour;
  let at = 0;
  for (let change = 0; change < changes; change += 1) {
    if (change % burst === 0) at += exponential(draw) * meanMs;
    times[change] = Math.round(at);
  }
  return times;
}

function lengths(count: number, draw: Draw): Float64Array {
  const minutes = (): number => Math.min(RUN_MAX_MINUTES, RUN_MEDIAN_MINUTES * Math.exp(RUN_SIGMA * normal(draw)));
  return Float64Array.from({ length: count }, () => Math.max(1, Math.round(minutes() * MINUTE_MS)));
}

const chances = (mean: number, draw: Draw) => (): number => (mean >= 1 ? 1 : beta(draw, mean, CHANCE_WEIGHT));

/** Jumps from pair to pair: a geometric number of pairs lies between two that overlap. */
function randomPairs(count: number, share: number, draw: Draw): readonly Int32Array[] {
  return Array.from({ length: count }, (_, change) => {
    const found: number[] = [];
    const jump = (): number => Math.floor(-exponential(draw) / Math.log(1 - share));
    for (let other = jump(); other < change; other += 1 + jump()) found.push(other);
    return Int32Array.from(found);
  });
}

/** Each change touches one area, the k-th most popular with weight 1/k (Zipf), or everything. */
function sharedAreas(count: number, draw: Draw): readonly Int32Array[] {
  const weights = Array.from({ length: AREAS }, (_, at) => 1 / (at + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const areas = Int32Array.from({ length: count }, () => {
    let left = draw() < ALL_SHARE ? ALL : draw() * total;
    if (left === ALL) return ALL;
    return weights.findIndex((weight, at) => (left -= weight) < 0 || at === AREAS - 1);
  });
  return Array.from({ length: count }, (_, change) => {
    const own = areas[change];
    const overlaps = (area: number | undefined): boolean => area === own || area === ALL || own === ALL;
    const before = Array.from({ length: change }, (_, other) => other);
    return Int32Array.from(before.filter((other) => overlaps(areas[other])));
  });
}

/** The same pairs, seen from the other side. */
export function turned(earlier: readonly Int32Array[]): readonly Int32Array[] {
  const later: number[][] = earlier.map(() => []);
  for (const [change, others] of earlier.entries()) for (const other of others) later[other]?.push(change);
  return later.map((others) => Int32Array.from(others));
}

function conflictsOf(stream: number, arrivesAt: Float64Array, earlier: readonly Int32Array[]): readonly number[][] {
  const conflicts: number[][] = earlier.map(() => []);
  for (const [change, others] of earlier.entries())
    for (const other of others) {
      const apart = (arrivesAt[change] ?? 0) - (arrivesAt[other] ?? 0);
      if (apart > CONFLICT_WITHIN_MS || unitOf(mixAll(stream, other, change)) >= CONFLICT) continue;
      conflicts[change]?.push(other);
      conflicts[other]?.push(change);
    }
  return conflicts;
}

function fixes(share: number, stream: number, isBad: Uint8Array, later: readonly Int32Array[]): Int32Array {
  return Int32Array.from(isBad, (bad, change) => {
    if (bad === 0 || unitOf(mixAll(stream, change)) >= share) return -1;
    return later[change]?.find((other) => isBad[other] === 0) ?? -1;
  });
}
