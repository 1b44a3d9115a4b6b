/** The loop by hand: what the stream's functions do for one queue, one after another, until nothing is left to do. */
import type { QueueKey, RunId } from "../../shared/kernel/ids.ts";
import { advance } from "../../shared/queue/app/advance.ts";
import { reportRun } from "../../shared/queue/app/news.ts";
import { perform } from "../../shared/queue/app/perform.ts";
import type { BenchService } from "./service.ts";

const ROUNDS_MAX = 1_000;

/** The loop for what lies in the inbox, then each effect of the outbox, until both are empty. */
export async function settles({ app, observer }: BenchService, key: QueueKey): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await advance(app, key);
    // The stream brings these to `run-effects` without a read.
    const effects = await observer.waitingEffects(key, app.clock());
    for (const effect of effects) await perform(app, key, effect);
    if (effects.length === 0) return;
  }
  throw new Error("the queue does not settle");
}

/** The host tells that the run's checks passed. */
export async function passes({ app, host }: BenchService, key: QueueKey, run: RunId): Promise<void> {
  host.passes(run);
  await reportRun(app, host, key, run);
}

/** The run of the pull request that lands next. */
export async function firstRun({ observer }: BenchService, key: QueueKey): Promise<RunId> {
  const queue = await observer.view(key);
  const testing = [...(queue?.state.runs.values() ?? [])].filter((run) => run.phase === "TESTING");
  const first = testing.toSorted((a, b) => a.predecessors.length - b.predecessors.length)[0];
  if (first === undefined) throw new Error("nothing is being tested");
  return first.id;
}
