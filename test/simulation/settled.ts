/** When a world has come to rest. */
import { HOUR_MS, MINUTE_MS } from "../../shared/kernel/time.ts";
import type { Entry } from "../../shared/queue/engine/types.ts";
import { queueStore } from "../../shared/table/queue-store.ts";
import { QUEUE, type World } from "./world.ts";

export const live = ({ commits }: World): readonly Entry[] => [...(commits.last?.state.entries.values() ?? [])];

/** Lets the world go on until somebody has an answer. */
export async function during<T>(world: World, work: Promise<T>): Promise<T | undefined> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  await world.scheduler.run(HOUR_MS, () => isDone);
  return isDone ? done : undefined;
}

/** A minute at a time, for so long at most; `each` does what people do meanwhile. */
export async function untilSettled(world: World, msMax: number, each: (minute: number) => Promise<void>) {
  const { scheduler, book } = world;
  const until = scheduler.now() + msMax;
  for (let minute = 1; scheduler.now() < until; minute += 1) {
    await scheduler.run(MINUTE_MS);
    if (scheduler.isStopped || (await isSettled(world))) return;
    await each(minute);
  }
  const left = live(world).map((entry) => `#${entry.prNumber} ${entry.state}`);
  book.problem(`it does not come to rest: ${left.join(", ")}`);
}

/** Nobody is waiting but those who wait for somebody outside, and nothing is on its way. */
async function isSettled(world: World): Promise<boolean> {
  const { commits, promises, scheduler, table } = world;
  const ids = new Set<string>(live(world).map((entry) => entry.id));
  if (live(world).some((entry) => entry.state !== "NOT_READY")) return false;
  if ([...promises.submitted.keys()].some((id) => !ids.has(id) && !commits.ended.has(id as Entry["id"]))) return false;
  const queues = queueStore(table);
  return scheduler.really(async () => {
    const queue = await queues.load(QUEUE);
    const effects = await queues.waitingEffects(QUEUE, Number.POSITIVE_INFINITY as never);
    return queue?.inbox.length === 0 && queue.entries.every((one) => one.seen) && effects.length === 0;
  });
}
