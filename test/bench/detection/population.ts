/**
 * The tests, what is true of each, and in which uploads it fails.
 *
 * - flaky: as measured, each execution by itself;
 * - stable: those that never failed in 10,000 runs, less those that the generator takes for the next two;
 * - regressed, 300: a change breaks it, a later one mends it, after 1 commit or more (a geometric number, 4 on average);
 *   what was pushed on a base in between fails too, all executions of it. One in five breaks a second time. Half of
 *   them also fail on the first push of some change, which its second mends. Three breaks of one test within two weeks,
 *   each mended at once, are not among them: without retries nothing tells those from chance.
 * - broken: those that failed in all of 10,000 runs, and 60 that a change breaks and nobody mends.
 */
import { drawsOf, type Draw, mixAll } from "../policies/random.ts";
import type { MeasuredTest } from "./dataset.ts";
import type { Upload } from "./schedule.ts";

export const KINDS = ["stable", "regressed", "broken", "flaky"] as const;
export type Kind = (typeof KINDS)[number];

/** An upload in which the test failed at least once, by its number; all others passed. */
export type Failure = { readonly upload: number; readonly passed: number; readonly failed: number };

export type SimulatedTest = {
  readonly project: string;
  readonly kind: Kind;
  readonly failureProbability: number;
  /** By the number of the upload. */
  readonly failures: readonly Failure[];
};

export type Outage = { readonly from: number; readonly until: number };
export type World = {
  readonly seed: number;
  readonly uploads: readonly Upload[];
  /** Of a failing test within an upload; it ends with the first pass. */
  readonly retries: number;
  readonly outage: Outage | null;
};

const REGRESSED = 300;
const NEWLY_BROKEN = 60;
const COMMITS_BROKEN = 4;
const SECOND_BREAK = 0.2;

export function populationOf(measured: readonly MeasuredTest[], world: World): readonly SimulatedTest[] {
  const neverFailed = measured.flatMap((test, at) => (test.failureProbability === 0 ? [at] : []));
  const chosen = shuffled(neverFailed, drawsOf(mixAll(world.seed, 2)));
  const regressed = new Set(chosen.slice(0, REGRESSED));
  const broken = new Set(chosen.slice(REGRESSED, REGRESSED + NEWLY_BROKEN));
  return measured.map((test, at) => {
    const draw = drawsOf(mixAll(world.seed, 3, at));
    const p = test.failureProbability;
    const of = (kind: Kind, failures: readonly Failure[]): SimulatedTest => ({
      ...test,
      kind,
      failures: withOutage(failures, world, mixAll(world.seed, 4, at)),
    });
    if (regressed.has(at)) return of("regressed", alwaysOn(regressionsOf(world, draw), world));
    if (broken.has(at)) return of("broken", alwaysOn(fromOn(world, draw), world));
    if (p === 1)
      return of(
        "broken",
        alwaysOn(() => true, world),
      );
    return p === 0 ? of("stable", []) : of("flaky", byChance(p, world, draw));
  });
}

function shuffled(values: readonly number[], draw: Draw): readonly number[] {
  const keyed = values.map((value) => ({ value, key: draw() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value);
}

/** The next upload that begins with a failure is a geometric number away. */
function byChance(p: number, { uploads, retries }: World, draw: Draw): readonly Failure[] {
  const skip = (): number => Math.floor(Math.log(1 - draw()) / Math.log(1 - p));
  const failures: Failure[] = [];
  for (let upload = skip(); upload < uploads.length; upload += 1 + skip())
    failures.push({ upload, ...executed(p, retries, draw) });
  return failures;
}

/** Having failed once. */
function executed(p: number, retries: number, draw: Draw): { readonly passed: number; readonly failed: number } {
  for (let failed = 1; failed <= retries; failed += 1) if (draw() >= p) return { passed: 1, failed };
  return { passed: 0, failed: 1 + retries };
}

type Fails = (upload: Upload) => boolean;

const alwaysOn = (fails: Fails, { uploads, retries }: World): readonly Failure[] =>
  uploads.flatMap((one, upload) => (fails(one) ? [{ upload, passed: 0, failed: 1 + retries }] : []));

function fromOn({ uploads }: World, draw: Draw): Fails {
  const from = Math.floor((uploads.length / 3) * draw());
  return ({ base }) => base > from;
}

function regressionsOf({ uploads }: World, draw: Draw): Fails {
  const changes = uploads.length / 3;
  const breaks = Array.from({ length: draw() < SECOND_BREAK ? 2 : 1 }, () => {
    const by = Math.floor(changes * draw());
    return { by, mendedBy: by + 1 + Math.floor(Math.log(1 - draw()) / Math.log(1 - 1 / COMMITS_BROKEN)) };
  });
  const unripe = draw() < 0.5 ? Math.floor(changes * draw()) : -1;
  return ({ base, change, push, isDefaultBranch }) =>
    (change === unripe && push === 0 && !isDefaultBranch) ||
    breaks.some(({ by, mendedBy }) => base > by && base <= mendedBy && change !== mendedBy);
}

/** Something is down that so many tests need; then an execution of such a one fails with this probability. */
const NEEDED_BY = 0.6;
const FAILS_WHILE_DOWN = 0.9;

function withOutage(failures: readonly Failure[], world: World, seed: number): readonly Failure[] {
  const { outage, uploads, retries } = world;
  const draw = drawsOf(seed);
  if (outage === null || draw() >= NEEDED_BY) return failures;
  const failing = new Set(failures.map((one) => one.upload));
  const within: Failure[] = [];
  for (const upload of uploads.keys()) {
    const at = uploads[upload]?.at ?? 0;
    if (at >= outage.from && at < outage.until && !failing.has(upload) && draw() < FAILS_WHILE_DOWN)
      within.push({ upload, ...executed(FAILS_WHILE_DOWN, retries, draw) });
  }
  return [...failures, ...within].toSorted((a, b) => a.upload - b.upload);
}
