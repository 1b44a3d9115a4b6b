import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 50;
/** How long nothing may change. No step of anything that is waited for takes a hundredth of it on a quiet machine. */
const STANDSTILL_MS = 120_000;

export type Until = <T>(
  read: () => Promise<T> | T,
  is: (value: T) => boolean,
  named?: { readonly what?: string },
) => Promise<T>;

/**
 * Reads until `is` holds and answers what was read. It gives up only when what is read has stopped changing, and not
 * after a time that a slow machine exceeds.
 *
 * @param movement ends when it is worth looking again. Called before each look, so that nothing is missed meanwhile
 */
export const untilBy =
  (movement: () => Promise<unknown>): Until =>
  async (read, is, { what = "what was waited for" } = {}) => {
    let seen: string | undefined;
    let changedAt = performance.now();
    for (;;) {
      const moved = movement();
      const value = await read();
      if (is(value)) return value;
      const text = JSON.stringify(value);
      if (text !== seen) [seen, changedAt] = [text, performance.now()];
      if (performance.now() - changedAt > STANDSTILL_MS)
        throw new Error(`${what} did not come: ${text?.slice(0, 3000)}`);
      await moved;
    }
  };

export const eventually = untilBy(() => sleep(STEP_MS));
