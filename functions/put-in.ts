import type { Wiring } from "./wiring.ts";

let wiring: Wiring | undefined;

/** The local server and tests put theirs in before the first request. */
export const putIn = (one: Wiring): void => {
  wiring = one;
};

/** Undefined in a deployed function, which makes its own of its environment. */
export const thatWasPutIn = (): Wiring | undefined => wiring;
