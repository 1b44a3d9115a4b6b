/**
 * Inside a simulation time, timers, random numbers and UUIDs are the simulation's; everywhere else they stay the
 * machine's. Who is inside is told by the asynchronous context, so that several simulations can run in one process and
 * the service under test needs no seam for it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";

export type VirtualWorld = {
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Calls back after so many virtual milliseconds; the answer takes it back. */
  readonly after: (ms: number, call: () => void) => () => void;
};

const inside = new AsyncLocalStorage<VirtualWorld | undefined>();

export const virtually = <T>(world: VirtualWorld, work: () => T): T => inside.run(world, work);

/** For what talks to the real table: its connections and timeouts live in real time. */
export const really = <T>(work: () => T): T => inside.run(undefined, work);

const real = {
  now: Date.now,
  random: Math.random,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  randomUUID: crypto.randomUUID,
  setImmediate: timersPromises.setImmediate,
};

/** As much of a timer as anybody asks for. */
class VirtualTimer {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

type Callback = (...args: readonly unknown[]) => void;

function setTimeoutHere(callback: Callback, ms = 0, ...args: readonly unknown[]): unknown {
  const world = inside.getStore();
  if (world === undefined) return real.setTimeout(callback, ms, ...args);
  const inContext = AsyncLocalStorage.snapshot();
  return new VirtualTimer(world.after(ms, () => inContext(() => callback(...args))));
}

function clearTimeoutHere(timer: unknown): void {
  if (timer instanceof VirtualTimer) timer.cancel();
  else real.clearTimeout(timer as NodeJS.Timeout | undefined);
}

/** A version 4 UUID of the simulation's own numbers. */
export function virtualUuid(random: () => number): ReturnType<typeof crypto.randomUUID> {
  const hex = (digits: number): string =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(8)}${hex(4)}`;
}

/** Done once and for good: outside of a simulation nothing is different. */
function install(): void {
  Date.now = () => inside.getStore()?.now() ?? real.now();
  Math.random = () => inside.getStore()?.random() ?? real.random();
  for (const place of [globalThis, timers])
    Object.assign(place, { setTimeout: setTimeoutHere, clearTimeout: clearTimeoutHere });
  // A breath between two portions of work: others get their turn.
  timersPromises.setImmediate = (value, options) => {
    const world = inside.getStore();
    if (world === undefined) return real.setImmediate(value, options);
    return new Promise((resolve) => void world.after(0, () => resolve(value as never)));
  };
  crypto.randomUUID = (options) => {
    const world = inside.getStore();
    return world === undefined ? real.randomUUID.call(crypto, options) : virtualUuid(world.random);
  };
  syncBuiltinESMExports();
}

install();
