/**
 * Rules as other services have them or let them be set, each at the time at which it first calls a test flaky. They know
 * no outages. A test is judged when it fails, and where its next pass matters, at that.
 */
import { DAY_MS, type EpochMs } from "../../../shared/kernel/time.ts";
import type { Failure, SimulatedTest } from "./population.ts";
import type { Upload } from "./schedule.ts";

export type Rival = (test: SimulatedTest, world: Sight) => EpochMs | null;

/** The uploads, and for each how many of the default branch came before it. */
export type Sight = {
  readonly uploads: readonly Upload[];
  readonly defaults: readonly Upload[];
  readonly before: readonly number[];
};

export function sightOf(uploads: readonly Upload[]): Sight {
  let count = 0;
  const before = uploads.map((upload) => (upload.isDefaultBranch ? count++ : count));
  return { uploads, before, defaults: uploads.filter((upload) => upload.isDefaultBranch) };
}

const atOf = ({ uploads }: Sight, failure: Failure | undefined): EpochMs | null =>
  failure === undefined ? null : (uploads[failure.upload]?.at ?? null);

/** Passed and failed on one commit, once. */
const oneCommit: Rival = ({ failures }, sight) =>
  atOf(
    sight,
    failures.find((one) => one.passed > 0),
  );

/** Any failure, until it has passed 30 times: called at once. */
const anyFailure: Rival = ({ failures }, sight) => atOf(sight, failures[0]);

const RATE_WINDOW_MS = 7 * DAY_MS;
const RATE_RUNS_MIN = 20;

/** At least this share of the runs of the last 7 days, of at least 20, on all branches, failed at least once. */
const rateFrom =
  (rateMin: number): Rival =>
  ({ failures }, sight) => {
    let first = 0;
    let oldest = 0;
    for (const [count, { upload }] of failures.entries()) {
      const from = (sight.uploads[upload]?.at ?? 0) - RATE_WINDOW_MS;
      while ((sight.uploads[first]?.at ?? Infinity) <= from) first += 1;
      while ((failures[oldest]?.upload ?? Infinity) < first) oldest += 1;
      const runs = upload - first + 1;
      if (runs >= RATE_RUNS_MIN && (count - oldest + 1) / runs >= rateMin) return atOf(sight, failures[count]);
    }
    return null;
  };

const TURNS_OF = 100;
const TURNS_MIN = 4;

/** It went from pass to failure or back at least 4 times within the last 100 runs of the default branch. */
const transitions: Rival = ({ failures }, sight) => {
  const failing = failures.filter((one) => one.passed === 0 && sight.uploads[one.upload]?.isDefaultBranch === true);
  const numbers = failing.map((one) => sight.before[one.upload] ?? 0);
  const known = new Set(numbers);
  const turns = numbers.flatMap((number) => [
    ...(number > 0 && !known.has(number - 1) ? [number] : []),
    ...(known.has(number + 1) ? [] : [number + 1]),
  ]);
  const at = turns.findIndex((turn, index) => turn - (turns[index - TURNS_MIN + 1] ?? -Infinity) < TURNS_OF);
  return at < 0 ? null : (sight.defaults[turns[at] ?? -1]?.at ?? null);
};

export const RIVALS: Readonly<Record<string, Rival>> = {
  "same commit, n = 1": oneCommit,
  "failure rate ≥ 5 %": rateFrom(0.05),
  "failure rate ≥ 20 %": rateFrom(0.2),
  "any failure, until 30 passes": anyFailure,
  "≥ 4 transitions in 100 runs": transitions,
};
