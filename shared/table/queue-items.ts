/** A queue's own items: what people decided (CONFIG), and what the loop knows beside entries and runs (META). */
import * as z from "zod";
import type { QueueKey } from "../kernel/ids.ts";
import { orgSlug } from "../kernel/ids.ts";
import type { EpochMs } from "../kernel/time.ts";
import type { QueueMeta, QueueRecord } from "../queue/app/ports.ts";
import type { QueueState } from "../queue/engine/types.ts";
import { queueSettingsPatch, resolveSettings } from "../schemas/queue-settings.ts";
import { keys } from "./keys.ts";
import * as shapes from "./shapes.ts";
import { versioned } from "./versions.ts";

const repo = z.object({ host: z.string(), owner: z.string(), name: z.string() });

export const queueKey = z.object({ org: z.string().transform(orgSlug), repo, branch: z.string() });

const pointer = versioned(z.object({ entity: z.literal("QUEUE_POINTER"), schema: z.literal(1), key: queueKey }));

export const fromQueuePointer = (item: unknown): QueueKey => pointer.parse(item).key;

const config = versioned(
  z.object({
    entity: z.literal("QUEUE_CONFIG"),
    schema: z.literal(1),
    key: queueKey,
    id: shapes.queueIdShape,
    repo,
    patch: queueSettingsPatch,
    operator: z.object({
      state: z.enum(["RUNNING", "PAUSED", "DRAINING"]),
      reason: z.string().nullable(),
      since: shapes.time,
      allowUrgent: z.boolean(),
    }),
    holdsClearedAt: shapes.time.nullable(),
    // Absent: never.
    windowsClosedAt: shapes.time.nullable().default(null),
    createdAt: shapes.time,
    revision: z.number(),
    deleting: z.boolean(),
  }),
);

export function toConfigItem(record: QueueRecord) {
  const { settings: _, operator, holdsClearedAt } = record.config;
  const { key, id, repo, patch, windowsClosedAt, createdAt, revision, deleting } = record;
  const own = { key, id, repo, patch, operator, holdsClearedAt, windowsClosedAt, createdAt, revision, deleting };
  // Windows have items of their own; code of before those reads none here, but reads it.
  return { ...keys.config(key), entity: "QUEUE_CONFIG", schema: 1, windows: [], ...own };
}

/** Without its maintenance windows, which only whoever reads all of the queue sees. */
export function fromConfigItem(item: unknown): QueueRecord {
  const { entity: _e, schema: _s, operator, holdsClearedAt, patch, ...rest } = config.parse(item);
  const settings = resolveSettings(patch);
  return { ...rest, patch, config: { settings, operator, holdsClearedAt, windows: [] } };
}

const totals = z.object({
  merged: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  restarts: z.number(),
  runsStarted: z.number(),
  bisectionRunsStarted: z.number(),
  runsPassed: z.number(),
  runsFailed: z.number(),
  runsCancelled: z.number(),
  repeats: z.number(),
  landings: z.number(),
  flakes: z.number(),
  batches: z.number(),
  bisections: z.number(),
  mergedByOptimism: z.number(),
  mergedDirectly: z.number(),
});

const known = shapes.shapeOf<QueueMeta>()(
  z.object({
    id: shapes.queueIdShape,
    branch: z.string(),
    mode: z.enum(["SINGLE", "PARALLEL"]),
    tip: shapes.tip.nullable(),
    tipDoubted: z.boolean(),
    tipRead: z.number().nullable(),
    closed: z.object({ totalMs: z.number(), since: shapes.time.nullable() }),
    holds: z.array(shapes.hold),
    landing: shapes.landing.nullable(),
    lineage: z.array(shapes.landedStep),
    tipTestDue: z.string().nullable(),
    nextPlace: z.number(),
    nextRun: z.number(),
    nextRead: z.number(),
    nextTargets: z.number(),
    bisections: z.array(shapes.bisection),
    untold: z.array(shapes.untold),
    totals,
    tipTestBroken: z.exactOptional(shapes.broken.nullable()),
    readsDue: z.exactOptional(z.array(z.number())),
    reached: z.exactOptional(z.array(shapes.sha)),
  }),
);

const meta = versioned(
  z.object({
    entity: z.literal("QUEUE_META"),
    schema: z.literal(1),
    version: z.number(),
    wakeAt: shapes.time.nullable(),
    degraded: z.object({ what: z.string(), retryAt: shapes.time }).nullable(),
    known,
  }),
);
export type MetaItem = z.output<typeof meta>;

export const fromMetaItem = (item: unknown): MetaItem => meta.parse(item);

export const toMetaItem = (key: QueueKey, version: number, wakeAt: EpochMs | undefined, known: QueueMeta) => ({
  ...keys.meta(key),
  entity: "QUEUE_META",
  schema: 1,
  version,
  wakeAt: wakeAt ?? null,
  degraded: null,
  known,
});

/** The loop's own part of a queue's state; config, entries and runs have items of their own. */
export function metaOf(state: QueueState): QueueMeta {
  const { config: _c, entries: _e, runs: _r, ...meta } = state;
  return meta;
}
