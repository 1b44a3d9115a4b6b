/** Small worlds, made by hand. Times in minutes. */
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Ledger } from "../../bench/policies/ledger.ts";
import { workload } from "../../bench/policies/workload.ts";
import { turned, type World } from "../../bench/policies/world.ts";

export type ChangeOf = {
  readonly at: number;
  readonly takes: number;
  readonly bad?: boolean;
  readonly chance?: number;
  /** Earlier changes that it overlaps, and of those the ones it cannot be together with. */
  readonly overlaps?: readonly number[];
  readonly conflicts?: readonly number[];
  readonly fixedBy?: number;
};

export function aWorld(workers: number, ...changes: readonly ChangeOf[]): World {
  const earlier = changes.map(({ overlaps }) => Int32Array.from(overlaps ?? []));
  const conflicts = changes.map((_, change) => [
    ...(changes[change]?.conflicts ?? []),
    ...changes.flatMap((other, at) => (other.conflicts?.includes(change) === true ? [at] : [])),
  ]);
  return {
    load: workload({ flake: 0, changes: changes.length }),
    seed: 1,
    count: changes.length,
    workers,
    arrivesAt: Float64Array.from(changes, ({ at }) => at * MINUTE_MS),
    takes: Float64Array.from(changes, ({ takes }) => takes * MINUTE_MS),
    chance: Float64Array.from(changes, ({ chance }) => chance ?? 0.9),
    isBad: Uint8Array.from(changes, ({ bad }) => (bad === true ? 1 : 0)),
    fixedBy: Int32Array.from(changes, ({ fixedBy }) => fixedBy ?? -1),
    earlier,
    later: turned(earlier),
    conflicts,
  };
}

/** `lands 40` or `out 10` for each change. */
export const story = ({ landed, decidedAt }: Ledger): readonly string[] =>
  [...decidedAt].map((at, change) => `${landed[change] === 1 ? "lands" : "out"} ${at / MINUTE_MS}`);

export const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);
