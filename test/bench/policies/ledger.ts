/** What came of each change under one policy, and what it cost. */
import { HOUR_MS } from "../../../shared/kernel/time.ts";
import { isGood, landOn, type Trunk } from "./trunk.ts";

export type Ledger = {
  /** Milliseconds; NaN while undecided. */
  readonly decidedAt: Float64Array;
  readonly landed: Uint8Array;
  /** Landed as a commit on which the branch is not right. */
  readonly isRed: Uint8Array;
  /** Thrown out although it would have been right on the branch as it was. */
  readonly wronged: Uint8Array;
  /** Runs started, repeats counted as runs, by the newest change that they tested. */
  readonly runs: Int32Array;
  /** Of these, stopped before their end. */
  readonly aborted: Int32Array;
  /** Time of workers. */
  readonly busyMs: Float64Array;
  /** Milliseconds; Infinity unless it was found to be overloaded, and the rest was not played. */
  gaveUpAt: number;
};

/** What is given up has been played for so long, and its first hour fills the queue: what lands comes in bursts. */
export const PLAYED_MS_MIN = 3 * HOUR_MS;
export const FILLING_MS = HOUR_MS;

export const newLedger = (count: number): Ledger => ({
  decidedAt: new Float64Array(count).fill(Number.NaN),
  landed: new Uint8Array(count),
  isRed: new Uint8Array(count),
  wronged: new Uint8Array(count),
  runs: new Int32Array(count),
  aborted: new Int32Array(count),
  busyMs: new Float64Array(count),
  gaveUpAt: Infinity,
});

export const isDecided = (ledger: Ledger, change: number): boolean => !Number.isNaN(ledger.decidedAt[change]);

export function noteLanded(ledger: Ledger, trunk: Trunk, change: number, now: number): void {
  if (isDecided(ledger, change)) throw new Error(`change ${change} was decided before`);
  ledger.decidedAt[change] = now;
  ledger.landed[change] = 1;
  if (!landOn(trunk, change)) ledger.isRed[change] = 1;
}

export function noteEjected(ledger: Ledger, trunk: Trunk, change: number, now: number): void {
  if (isDecided(ledger, change)) throw new Error(`change ${change} was decided before`);
  ledger.decidedAt[change] = now;
  if (isGood(trunk, trunk.landed, [change])) ledger.wronged[change] = 1;
}

const newest = (tested: readonly number[]): number => tested.reduce((a, b) => Math.max(a, b), 0);

export function noteStarted(ledger: Ledger, tested: readonly number[]): void {
  const change = newest(tested);
  ledger.runs[change] = (ledger.runs[change] ?? 0) + 1;
}

/** A run gave its worker back. */
export function noteEnded(ledger: Ledger, tested: readonly number[], tookMs: number, isAborted: boolean): void {
  const change = newest(tested);
  ledger.busyMs[change] = (ledger.busyMs[change] ?? 0) + tookMs;
  if (isAborted) ledger.aborted[change] = (ledger.aborted[change] ?? 0) + 1;
}
