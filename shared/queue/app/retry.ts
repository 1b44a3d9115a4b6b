import { fail } from "../../kernel/result.ts";
import { Unavailable } from "../../kernel/unavailable.ts";
import type { Waiting } from "../../kernel/waiting.ts";

const ATTEMPTS_MAX = 12;
const PAUSE_MS = 15;

/** A write met another one: read again, decide again. */
export const RACED = Symbol("raced");

type Waits = { readonly waiting: Waiting };

/**
 * Tries until the attempt does not meet somebody else's write, for about three seconds at most; then 503. The pauses
 * grow and differ, so that many callers at one entry do not meet again and again.
 */
export async function untilUncontended<T>({ waiting }: Waits, attempt: (n: number) => Promise<T | typeof RACED>) {
  for (let n = 1; n <= ATTEMPTS_MAX; n += 1) {
    const outcome = await attempt(n);
    if (outcome !== RACED) return outcome;
    await waiting.pause(PAUSE_MS * n * (0.5 + waiting.random()));
  }
  return fail("UNAVAILABLE", "Many changes to this came at once and this one was not made. Send it again.", {
    retryAfterSeconds: 1,
  });
}

const OUTAGE_ATTEMPTS_MAX = 40;
const OUTAGE_PAUSE_MS = 500;

/**
 * Writes what is done already and lacks only its record, through an outage of the table that lasts up to twenty
 * seconds: giving up would keep everybody waiting until the claim on the work runs out.
 */
export async function patiently({ waiting }: Waits, write: () => Promise<void>): Promise<void> {
  for (let n = 1; ; n += 1)
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Unavailable) || n >= OUTAGE_ATTEMPTS_MAX) throw error;
      await waiting.pause(OUTAGE_PAUSE_MS);
    }
}
