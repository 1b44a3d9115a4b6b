import { type PartsOf, tableOnly } from "./parts.ts";
import { thatWasPutIn } from "./put-in.ts";
import type { Side, Wiring } from "./wiring.ts";

/** What a function works with: what was put in, else what is made of its environment, once per cold start. */
export function lent<Names extends keyof Wiring>(
  side: Side<Names>,
  parts: PartsOf = tableOnly,
): () => Pick<Wiring, Names> {
  let made: Pick<Wiring, Names> | undefined;
  return () => thatWasPutIn() ?? (made ??= side(parts(process.env)));
}
