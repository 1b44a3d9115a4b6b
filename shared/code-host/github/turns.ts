/** In what order runs are built that are begun together, by one process. */
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND_MS } from "../../kernel/time.ts";
import type { BuildRequest } from "../port.ts";

/** Who is begun together with the first has come by then. */
const GATHERED_MS = 50;
/** Then the rest is built at once: nobody waits for as long as he may be at it. */
const TURNS_MS = 30 * SECOND_MS;

type Waiting = { readonly changes: number; readonly build: () => Promise<void> };

/**
 * In each repository one run is built at a time, of those that wait the one of the fewest changes: runs that are begun
 * together are merged each onto the one ahead, whose commit it then contains.
 */
export function turns() {
  const waiting = new Map<string, Waiting[]>();
  const serve = async (place: string, all: Waiting[]): Promise<void> => {
    await sleep(GATHERED_MS);
    const over = sleep(TURNS_MS, undefined, { ref: false });
    for (let next = takeShortest(all); next !== undefined; next = takeShortest(all))
      await Promise.race([next.build(), over]);
    waiting.delete(place);
  };
  return <T>({ repo: { owner, name }, changes }: BuildRequest, work: () => Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const one = { changes: changes.length, build: () => work().then(resolve, reject) };
    const place = `${owner}/${name}`;
    const others = waiting.get(place);
    if (others === undefined) {
      const all = [one];
      waiting.set(place, all);
      void serve(place, all);
    } else others.push(one);
    return promise;
  };
}

function takeShortest(all: Waiting[]): Waiting | undefined {
  const least = Math.min(...all.map((one) => one.changes));
  const at = all.findIndex((one) => one.changes === least);
  return at === -1 ? undefined : all.splice(at, 1)[0];
}
