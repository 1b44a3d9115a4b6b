/** Tokens of installations: made when they are needed, and kept until shortly before their end. */
import { type Clock, type EpochMs, later, MINUTE_MS } from "../../kernel/time.ts";
import { toldBy } from "./told.ts";

export type Token = { readonly token: string; readonly endsAt: EpochMs };
export type Tokens = {
  readonly of: (installation: number) => Promise<string>;
  readonly forget: (installation: number) => void;
};

const SPARE_MS = 5 * MINUTE_MS;

/** A token's shape is GitHub's affair. One that is being made is waited for by all. */
export function createTokens(make: (installation: number) => Promise<Token>, clock: Clock): Tokens {
  const kept = new Map<number, Promise<Token>>();
  const fresh = async (installation: number): Promise<string> => {
    const making = make(installation);
    kept.set(installation, making);
    making.catch(() => kept.delete(installation));
    return (await making).token;
  };
  return {
    of: async (installation) => {
      const known = await kept.get(installation);
      if (known !== undefined && clock() < later(known.endsAt, -SPARE_MS)) return known.token;
      return fresh(installation);
    },
    forget: (installation) => void kept.delete(installation),
  };
}

/** A token may be revoked before its end: the next one shows whether the rights are gone, too. */
export async function withToken<T>(
  tokens: Tokens,
  installation: number,
  work: (token: string) => Promise<T>,
): Promise<T> {
  try {
    return await work(await tokens.of(installation));
  } catch (error) {
    if (toldBy(error)?.status !== 401) throw error;
    tokens.forget(installation);
    return work(await tokens.of(installation));
  }
}
