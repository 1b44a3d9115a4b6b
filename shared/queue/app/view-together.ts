import { type QueueKey, queueLabel } from "../../kernel/ids.ts";
import type { LoadedQueue, QueueStore } from "./ports.ts";

type View = Promise<LoadedQueue | undefined>;
type Reading = { readonly now: View; next: View | undefined };

const readings = new WeakMap<QueueStore, Map<string, Reading>>();

/**
 * The queue as it is now, for many at the same time: who comes while it is being read shares the next reading with all
 * others who do. Whoever asks sees what was written before; a thousand who ask at once cost a few readings.
 */
export function viewTogether(queues: QueueStore, key: QueueKey): View {
  const all = readings.get(queues) ?? new Map<string, Reading>();
  readings.set(queues, all);
  const name = queueLabel(key);
  const begin = (): View => {
    const now = queues.view(key);
    const reading: Reading = { now, next: undefined };
    all.set(name, reading);
    const end = (): void => {
      if (reading.next === undefined) all.delete(name);
    };
    now.then(end, end);
    return now;
  };
  const reading = all.get(name);
  if (reading === undefined) return begin();
  reading.next ??= reading.now.then(begin, begin);
  return reading.next;
}
