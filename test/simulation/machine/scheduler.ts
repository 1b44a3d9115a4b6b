/**
 * The simulation's clock, and the one queue of everything that is going to happen. One thing happens at a time: the
 * next begins when all that follows from the last one has come to wait for something again.
 */
import { type EpochMs, epochMs } from "../../../shared/kernel/time.ts";
import { really } from "./virtual.ts";

type Due = { readonly at: number; readonly order: number; readonly call: () => void; cancelled: boolean };

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Callbacks of promises that are settled run before the next turn of the machine's own loop. */
const nextTurn = (): Promise<void> => really(() => new Promise((resolve) => setImmediate(resolve)));

export class Scheduler {
  private time: number;
  private order = 0;
  /** A binary heap, the earliest first. */
  private readonly heap: Due[] = [];
  private underWay = 0;
  isStopped = false;
  private wake: () => void = () => {};

  constructor(start: EpochMs) {
    this.time = start;
  }

  readonly now = (): EpochMs => epochMs(Math.floor(this.time));

  /** Calls back after so many milliseconds; the answer takes it back. Never in the past, in the order of asking. */
  readonly after = (ms: number, call: () => void): (() => void) => {
    const due: Due = { at: this.time + Math.max(0, ms), order: (this.order += 1), call, cancelled: false };
    this.push(due);
    return () => {
      due.cancelled = true;
    };
  };

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      this.after(ms, resolve);
    });

  /** Work of the real world: the simulation stands still until it is done. */
  readonly really = async <T>(work: () => Promise<T>): Promise<T> => {
    this.underWay += 1;
    try {
      return await really(work);
    } finally {
      this.underWay -= 1;
      if (this.underWay === 0) this.wake();
    }
  };

  /** Lets things happen until that many milliseconds have passed, or it is over. */
  async run(ms: number, until: () => boolean = () => false): Promise<void> {
    const isOver = (): boolean => this.isStopped || until();
    const end = this.time + ms;
    await this.settle();
    while (!isOver()) {
      const next = this.heap[0];
      if (next === undefined || next.at > end) break;
      this.pop();
      if (next.cancelled) continue;
      this.time = Math.max(this.time, next.at);
      next.call();
      await this.settle();
    }
    if (!isOver()) this.time = Math.max(this.time, end);
  }

  /** Nothing happens any more. */
  stop(): void {
    this.isStopped = true;
  }

  private async settle(): Promise<void> {
    await nextTurn();
    while (this.underWay > 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await nextTurn();
    }
  }

  private push(due: Due): void {
    const { heap } = this;
    heap.push(due);
    for (let at = heap.length - 1; at > 0; ) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || isBefore(above, due)) break;
      heap[at] = above;
      heap[up] = due;
      at = up;
    }
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const least = isRight ? right : left;
      if (least === undefined || isBefore(last, least)) break;
      heap[at] = least;
      at = 2 * at + (isRight ? 2 : 1);
      heap[at] = last;
    }
  }
}
