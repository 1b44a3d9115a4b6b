import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 50;

/** Reads until `is` holds and answers what was read; after the deadline it throws, with what was read last. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  is: (value: T) => boolean,
  { withinMs = 30_000, what = "what was waited for" } = {},
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (is(value)) return value;
    if (performance.now() > until) throw new Error(`${what} did not come: ${JSON.stringify(value)?.slice(0, 3000)}`);
    await sleep(STEP_MS);
  }
}
