import { type PartsOf, tableOnly } from "./parts.ts";
import { thatWasPutIn } from "./put-in.ts";
import type { Parts, Side, Wiring } from "./wiring.ts";

type Made<Names extends keyof Wiring> = { readonly parts: Parts; readonly wiring: Pick<Wiring, Names> };

export type Lent<Names extends keyof Wiring> = (() => Pick<Wiring, Names>) & {
  /** Before an invocation, and never within one: what it works with is one and the same from its beginning to its end. */
  readonly ready: () => Promise<void>;
};

/** What a function works with: what was put in, else what is made of its environment, once per cold start. */
export function lent<Names extends keyof Wiring>(side: Side<Names>, partsOf: PartsOf = tableOnly): Lent<Names> {
  let made: Made<Names> | undefined;
  const wire = (parts: Parts): Made<Names> => (made = { parts, wiring: side(parts) });
  const own = (): Made<Names> => made ?? wire(partsOf(process.env));
  const ready = async (): Promise<void> => {
    if (thatWasPutIn() !== undefined) return;
    const { parts } = own();
    const renewed = await parts.renewed?.();
    if (renewed !== undefined) wire({ ...parts, ...renewed });
  };
  return Object.assign(() => thatWasPutIn() ?? own().wiring, { ready });
}
