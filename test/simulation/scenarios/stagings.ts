/** Every scenario without faults, without anybody looking after it, and under each class of faults. */
import { FAULT_CLASSES } from "../machine/faults.ts";
import { SCENARIOS } from "./all.ts";
import type { Staging } from "./play.ts";
import { NO_SWEEP } from "./scenario.ts";

export type Chosen = {
  /** A part of the name. */
  readonly only?: string;
  /** A class of faults; all of them if it is not given. */
  readonly faults?: string | undefined;
  readonly seed?: number;
  readonly echo?: Staging["echo"];
  /** The second of nine parts is the second staging, the eleventh, and so on. */
  readonly part?: readonly [number, number];
};

export function stagingsOf({ only = "", faults, seed = 1, echo, part: [part, parts] = [1, 1] }: Chosen = {}) {
  const classes = faults === undefined ? ["none", NO_SWEEP, ...FAULT_CLASSES] : [faults];
  const all = SCENARIOS.filter((scenario) => scenario.name.includes(only)).flatMap((scenario, at) =>
    classes.map((name, of): Staging => {
      const deployment = (at + of) % 3 === 0 ? "SERVER" : "LAMBDAS";
      return { scenario, faults: name, deployment, seed, echo };
    }),
  );
  return all.filter(
    (staging, at) => at % parts === part - 1 && !(staging.faults === NO_SWEEP && staging.scenario.needsTime === true),
  );
}
