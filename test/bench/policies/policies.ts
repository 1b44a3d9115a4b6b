/** Every policy that is measured, by name. */
import type { QueueSettingsPatch } from "../../../shared/schemas/queue-settings.ts";
import type { Ledger } from "./ledger.ts";
import { drive } from "./mainline/drive.ts";
import { batchAndBisect } from "./peers/batches.ts";
import { bestFirst } from "./peers/best-first.ts";
import { oracle } from "./peers/oracle.ts";
import { github, gitlab, zuul } from "./peers/prefixes.ts";
import { serial, serialLanes } from "./peers/serial.ts";
import { type Peer, type Site, simulate } from "./peers/site.ts";
import type { World } from "./world.ts";

export type Policy = { readonly run: (world: World) => Ledger; readonly usesEngine: boolean };

const peer = (peerOf: (site: Site) => Peer): Policy => ({
  run: (world) => simulate(world, peerOf),
  usesEngine: false,
});
const mainline = (settingsFor: (world: World) => QueueSettingsPatch): Policy => ({
  run: (world) => drive(world, settingsFor(world)),
  usesEngine: true,
});
const fixed = (settings: QueueSettingsPatch): Policy => mainline(() => settings);

/** Whatever passes clears what it contains; no failure waits for that. */
const OPTIMISTIC = { canOptimisticallyMerge: true, pendingFailureDepth: 0 } as const;
/** No waiting for a batch: one forms only as far as more wait than there are slots. */
const underLoad = (batchingMinSize: number) => ({ batch: true, batchingMaxWaitTimeMinutes: 0, batchingMinSize });
/** A batch forms when it is full or its first has waited so long, whatever the load. */
const waiting = (batchingMinSize: number) => ({ batch: true, batchingMaxWaitTimeMinutes: 5, batchingMinSize });

export const ORACLE = "oracle";
export const DEFAULTS = "Mainline, defaults";
export const TUNED = "Mainline, tuned";

/** The one setting that is to do well everywhere. */
const TUNED_SETTINGS = { ...OPTIMISTIC, ...underLoad(8) };

const COMPARED: Readonly<Record<string, Policy>> = {
  [ORACLE]: peer(oracle),
  serial: peer(serial),
  "serial in lanes": peer(serialLanes),
  "batch and bisect (bors)": peer(batchAndBisect),
  "prefixes of 5 (GitHub)": peer(github),
  "prefixes of 20 (GitLab)": peer(gitlab),
  "sliding window (Zuul)": peer(zuul),
  "best first, 0 (Uber)": peer(bestFirst(0)),
  "best first, .1 (Uber)": peer(bestFirst(0.1)),
  [DEFAULTS]: fixed({}),
  [TUNED]: fixed(TUNED_SETTINGS),
};

export const UNBATCHED = "fixed: optimistic";

/** Settings of Mainline that somebody could have chosen once and for all; concurrency is the workers unless said. */
const FIXED: Readonly<Record<string, Policy>> = {
  "fixed: plain": fixed({}),
  [UNBATCHED]: fixed(OPTIMISTIC),
  "fixed: batches of 4 under load": fixed(underLoad(4)),
  "fixed: batches of 8 under load": fixed(underLoad(8)),
  "fixed: batches of 4, waiting": fixed(waiting(4)),
  "fixed: optimistic, failures wait for 3 behind": fixed({ ...OPTIMISTIC, pendingFailureDepth: 3 }),
  "fixed: optimistic, half the workers": mainline(({ workers }) => ({
    ...OPTIMISTIC,
    concurrency: Math.max(1, Math.floor(workers / 2)),
  })),
};

export const COMPARED_NAMES: readonly string[] = Object.keys(COMPARED);
export const FIXED_NAMES: readonly string[] = Object.keys(FIXED);

export function policyOf(name: string): Policy {
  const policy = COMPARED[name] ?? FIXED[name];
  if (policy === undefined) throw new Error(`there is no policy ${name}`);
  return policy;
}
