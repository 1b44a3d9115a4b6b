/**
 * What is uploaded in six weeks, about as long as results are kept, by a team that merges 30 changes a working day:
 * each change is pushed twice before it is merged, and every push and every commit of the default branch is tested
 * once by each of the 24 jobs, one per project. 2,700 uploads a job; nothing is re-run by hand.
 */
import { DAY_MS, type EpochMs, epochMs, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { drawsOf, mixAll } from "../policies/random.ts";

export const WEEKS = 6;
export const MERGES_PER_DAY = 30;
const PUSHES = 2;
/** A Monday. */
export const BEGIN = epochMs(Date.UTC(2026, 0, 5));

export type Upload = {
  readonly at: EpochMs;
  readonly id: string;
  readonly sha: string;
  readonly branch: string;
  readonly isDefaultBranch: boolean;
  /** The change, numbered in the order in which they are merged. */
  readonly change: number;
  /** Which push of it, from 0; the merged commit is the last. */
  readonly push: number;
  /** The changes below this number are contained in what was tested. */
  readonly base: number;
};

export function scheduleOf(seed: number): readonly Upload[] {
  const draw = drawsOf(mixAll(seed, 1));
  const days = Array.from({ length: 7 * WEEKS }, (_, day) => day).filter((day) => day % 7 < 5);
  const mergedAt = days.flatMap((day) => {
    const times = Array.from({ length: MERGES_PER_DAY }, () => BEGIN + day * DAY_MS + (9 + 10 * draw()) * HOUR_MS);
    return times.map(Math.round).toSorted((a, b) => a - b);
  });
  const uploads = mergedAt.flatMap((merged, change) => {
    const pushes = Array.from({ length: PUSHES }, () => Math.round(merged - (0.5 + 7.5 * draw()) * HOUR_MS));
    return [
      ...pushes.toSorted((a, b) => a - b).map((at, push) => pushed(at, change, push, mergedAt)),
      landed(Math.round(merged + (5 + 15 * draw()) * MINUTE_MS), change),
    ];
  });
  return uploads.toSorted((a, b) => a.at - b.at);
}

function pushed(at: number, change: number, push: number, mergedAt: readonly number[]): Upload {
  const name = `${change}-${push}`;
  const base = mergedAt.filter((merged) => merged < at).length;
  return {
    at: epochMs(at),
    id: `u${name}`,
    sha: `c${name}`,
    branch: `pr/${change}`,
    isDefaultBranch: false,
    change,
    push,
    base,
  };
}

function landed(at: number, change: number): Upload {
  const name = `${change}-merged`;
  const base = change + 1;
  return {
    at: epochMs(at),
    id: `u${name}`,
    sha: `c${name}`,
    branch: "main",
    isDefaultBranch: true,
    change,
    push: PUSHES,
    base,
  };
}
