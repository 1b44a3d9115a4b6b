import type { EntryId } from "../../kernel/ids.ts";
import { type EpochMs, earliest, later, MINUTE_MS } from "../../kernel/time.ts";
import { overlaps } from "./lanes.ts";
import type { Group, Line } from "./line.ts";
import { isUrgent } from "./order.ts";
import type { Permits } from "./permits.ts";
import { batchSizeUnderLoad, estimatesNow } from "./policy.ts";
import { isInProgress } from "./run-index.ts";
import type { Entry, QueueState, Run } from "./types.ts";

/** What a batch is formed from: the queue, its order, and which runs an entry has. */
export type Forming = Pick<QueueState, "config" | "entries" | "mode" | "totals" | "runs"> & {
  readonly now: EpochMs;
  readonly line: () => Line;
  readonly runsOf: (id: EntryId) => readonly Run[];
  readonly closedMs: () => number;
};

/** Who is tested together now, or until when the first waits for more. */
export type Formed = { readonly members: readonly EntryId[]; readonly waitsUntil: EpochMs | undefined };

/**
 * The batch that begins with this group. It forms when the target size is reached, when one of it has waited the
 * maximum time, when the queue admits nobody, or when somebody behind depends on it who may not join. With a maximum
 * wait of 0 nobody waits for a batch: one forms only as far as more entries wait than there are slots.
 */
export function batchFrom(forming: Forming, seed: Group, permits: Permits): Formed {
  const { batch, batchingMinSize, batchingMaxWaitTimeMinutes } = forming.config.settings;
  const alone = { members: seed.members, waitsUntil: undefined };
  if (!batch || seed.isBisected || !seed.members.every((id) => mayJoin(forming, id, permits))) return alone;
  if (seed.members.some((id) => wasTestedInBatch(forming.entries.get(id)))) return alone;
  const underLoad = batchingMaxWaitTimeMinutes === 0;
  const size = underLoad ? sizeUnderLoad(forming, permits) : batchingMinSize;
  const { members, sealed } = gather(forming, seed, size, permits, underLoad);
  if (underLoad || members.length >= size || sealed || !permits.isOpen) return { members, waitsUntil: undefined };
  const deadlines = members.flatMap((id) => deadlineOf(forming, id));
  const until = deadlines.length === 0 ? undefined : earliest(...deadlines);
  return { members, waitsUntil: until !== undefined && until > forming.now ? until : undefined };
}

/** What is left of a batch is tested again as it is, at once. */
const wasTestedInBatch = (entry: Entry | undefined): boolean =>
  entry !== undefined && entry.group !== null && entry.firstTestAt !== null;

/** When an entry has waited long enough for others, time during which the queue admitted nobody left out. */
export function batchDeadline(
  forming: Pick<Forming, "config" | "closedMs">,
  { admittedAt, closedMsBefore, state }: Entry,
): EpochMs | undefined {
  const { batch, batchingMaxWaitTimeMinutes } = forming.config.settings;
  if (!batch || batchingMaxWaitTimeMinutes === 0 || admittedAt === null || state !== "PENDING") return undefined;
  return later(admittedAt, batchingMaxWaitTimeMinutes * MINUTE_MS + (forming.closedMs() - closedMsBefore));
}

function deadlineOf(forming: Forming, id: EntryId): readonly EpochMs[] {
  const entry = forming.entries.get(id);
  const at = entry === undefined ? undefined : batchDeadline(forming, entry);
  return at === undefined ? [] : [at];
}

/** Not yet tested as it is now, and nobody said that it is to be tested alone. */
function mayJoin(forming: Forming, id: EntryId, permits: Permits): boolean {
  const entry = forming.entries.get(id);
  if (entry === undefined || !permits.starts(entry)) return false;
  return entry.state === "PENDING" && isBatchable(entry) && forming.runsOf(id).length === 0;
}

const isBatchable = (entry: Entry): boolean =>
  !entry.noBatch &&
  entry.lane?.isolated !== true &&
  !isUrgent(entry) &&
  entry.broken === null &&
  entry.conflictsWith === null &&
  // Whom the host refused to land is landed alone: it may not be the one whom the refusal was about.
  entry.refusal === null;

type Gathered = { readonly members: readonly EntryId[]; readonly sealed: boolean };

/** One more joins when all that it depends on is in the batch or ahead of it, and, in lanes, it overlaps a member. */
function gather(forming: Forming, seed: Group, size: number, permits: Permits, underLoad: boolean): Gathered {
  const line = forming.line();
  const members = [...seed.members];
  const allowed = new Set([...seed.members, ...line.predecessorsOf(seed)]);
  if (underLoad && isUndecided(forming, seed)) return { members, sealed: true };
  for (const other of line.groups.slice(seed.at + 1)) {
    if (members.length >= size) break;
    const joins = canJoin(forming, other, allowed, permits) && (underLoad || overlapsAny(forming, other, members));
    // Whoever depends on the batch and may not join it would wait for those who have not come yet.
    if (!joins && line.dependsOn(other, seed)) return { members, sealed: true };
    if (!joins) continue;
    for (const id of other.members) {
      members.push(id);
      allowed.add(id);
    }
  }
  return { members, sealed: false };
}

function canJoin(forming: Forming, group: Group, allowed: ReadonlySet<EntryId>, permits: Permits): boolean {
  const [only] = group.members;
  if (only === undefined || group.members.length > 1 || forming.entries.get(only)?.group !== null) return false;
  return (
    mayJoin(forming, only, permits) &&
    forming
      .line()
      .predecessorsOf(group)
      .every((id) => allowed.has(id))
  );
}

function overlapsAny(forming: Forming, group: Group, members: readonly EntryId[]): boolean {
  const entry = group.members[0] === undefined ? undefined : forming.entries.get(group.members[0]);
  return members.some((id) => {
    const other = forming.entries.get(id);
    return entry !== undefined && other !== undefined && overlaps(entry, other, forming.mode);
  });
}

/** In lanes, a batch under load is not made to depend on what is still being tested; in one lane everything depends on it. */
const isUndecided = (forming: Forming, group: Group): boolean =>
  forming.mode === "PARALLEL" && forming.line().hasPredecessors(group);

/** One each while slots are free for all that wait; else as many as wait for each slot, within what is cheapest. */
function sizeUnderLoad(forming: Forming, permits: Permits): number {
  const { concurrency, batchingMinSize } = forming.config.settings;
  const used = [...forming.runs.values()].filter((run) => run.kind !== "BISECTION" && isInProgress(run)).length;
  const waiting = forming
    .line()
    .groups.filter((group) => group.members.every((id) => mayJoin(forming, id, permits)))
    .filter((group) => !isUndecided(forming, group)).length;
  if (waiting <= concurrency - used) return 1;
  return batchSizeUnderLoad(estimatesNow(forming), batchingMinSize, waiting, concurrency);
}
