/**
 * What the benchmark of policies measures in memory is what the service does: twenty of its worlds, lived through by the
 * engine alone and by everything. The same decisions are demanded of both.
 */
import { MINUTE_MS } from "../../shared/kernel/time.ts";
import type { Decision } from "../../shared/queue/engine/types.ts";
import type { QueueSettingsPatch } from "../../shared/schemas/queue-settings.ts";
import { drive } from "../bench/policies/mainline/drive.ts";
import { workload } from "../bench/policies/workload.ts";
import { worldOf } from "../bench/policies/world.ts";
import type { Table } from "../../shared/table/client.ts";
import { live } from "./whole-system.ts";

export const CHANGES = 12;

/** What was decided, one line each: tests started and repeated, landings, ends. Without the queue's own name. */
function story() {
  const lines: string[] = [];
  const note = (atMs: number, what: string) => lines.push(`${(atMs / MINUTE_MS).toFixed(2)} ${what}`);
  const numbers = (changes: readonly { readonly prNumber: number }[]) =>
    changes.map((one) => `#${one.prNumber}`).join(" ");
  const run = (id: string) => id.slice(id.lastIndexOf("-") + 1);
  const watch = ({ effects, endedEntries }: Decision, atMs: number): void => {
    for (const effect of effects) {
      if (effect.type === "build-run") note(atMs, `test ${run(effect.run)}: ${numbers(effect.changes)}`);
      if (effect.type === "repeat-checks") note(atMs, `repeat ${run(effect.run)}`);
      if (effect.type === "close-run") note(atMs, `close ${run(effect.run)}`);
      if (effect.type === "land") note(atMs, `land ${numbers(effect.changes)}`);
    }
    for (const entry of endedEntries) note(atMs, `#${entry.prNumber} ${entry.state}`);
  };
  return { lines, watch };
}

const TUNED: QueueSettingsPatch = {
  canOptimisticallyMerge: true,
  pendingFailureDepth: 1,
  batch: true,
  batchingMaxWaitTimeMinutes: 0,
  batchingMinSize: 4,
};
const SETTINGS: readonly QueueSettingsPatch[] = [{}, TUNED];

export const WORLDS = Array.from({ length: 20 }, (_, at) => ({
  seed: at + 1,
  settings: SETTINGS[at % SETTINGS.length] ?? {},
  load: workload({
    perHour: 100,
    overlap: at % 3 === 0 ? "CLUSTERED" : 0.2,
    success: 0.8,
    flake: 0.1,
    workers: at % 4 < 2 ? 0.05 : 0.2,
    changes: CHANGES,
  }),
}));

/** What was decided in one of them, each line in its order. */
export async function storiesOf({ seed, settings, load }: (typeof WORLDS)[number], table: Table) {
  const world = worldOf(load, seed);
  const alone = story();
  drive(world, settings, alone.watch);
  const whole = story();
  await live(table, world, settings, whole.watch);
  return { alone: alone.lines, whole: whole.lines };
}
