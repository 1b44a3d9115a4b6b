/** Maintenance windows, each beside its queue; and what has yet to be told to whoever wakes at their edges. */
import * as z from "zod";
import type { QueueKey } from "../kernel/ids.ts";
import { SECOND_MS } from "../kernel/time.ts";
import { keptUntil, type MaintenanceWindow } from "../maintenance/windows.ts";
import type { StoredWaking, WakingChange } from "../queue/app/window-ports.ts";
import { keys } from "./keys.ts";
import { queueKey } from "./queue-items.ts";
import * as shapes from "./shapes.ts";
import { versioned } from "./versions.ts";

const schedule = { cron: z.string(), timeZone: z.string() };

const window = versioned(
  z.object({
    entity: z.literal("MAINTENANCE_WINDOW"),
    schema: z.literal(1),
    id: z.string(),
    queue: shapes.queueIdShape,
    action: z.enum(["DRAIN", "PAUSE"]),
    times: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("ONCE"), startsAt: shapes.time, endsAt: shapes.time }),
      z.object({ kind: z.literal("RECURRING"), ...schedule }),
    ]),
    durationMinutes: z.number(),
    reason: z.string().nullable(),
    allowUrgent: z.boolean(),
    createdAt: shapes.time,
    createdBy: z.string(),
    cancelledAt: shapes.time.nullable(),
  }),
);

export function fromWindowItem(item: unknown): MaintenanceWindow {
  const { entity: _e, schema: _s, ...rest } = window.parse(item);
  return rest;
}

export function toWindowItem(key: QueueKey, one: MaintenanceWindow) {
  const until = keptUntil(one);
  const expiry = until === undefined ? {} : { expiresAtSeconds: Math.ceil(until / SECOND_MS) };
  return { ...keys.window(key, one.id), entity: "MAINTENANCE_WINDOW", schema: 1, ...one, ...expiry };
}

const waking = versioned(
  z.object({
    entity: z.literal("WAKING"),
    schema: z.literal(1),
    name: z.string(),
    wanted: z
      .object({
        windowId: z.string(),
        key: queueKey,
        when: z.discriminatedUnion("kind", [
          z.object({ kind: z.literal("AT"), at: shapes.time }),
          z.object({ kind: z.literal("CRON"), ...schedule }),
        ]),
      })
      .nullable(),
    token: z.string(),
  }),
);

export function fromWakingItem(item: unknown): StoredWaking {
  const { name, wanted, token } = waking.parse(item);
  return { name, wanted: wanted === null ? null : { name, ...wanted }, token };
}

/** The token tells this change from a later one of the same name. */
export const toWakingItem = ({ name, wanted }: WakingChange, token: string) => ({
  ...keys.waking(name),
  entity: "WAKING",
  schema: 1,
  name,
  wanted: wanted === null ? null : { windowId: wanted.windowId, key: wanted.key, when: wanted.when },
  token,
});
