import { randomUUID } from "node:crypto";
import { systemClock } from "../shared/kernel/time.ts";
import type { QueueApp } from "../shared/queue/app/ports.ts";
import { resolveSettings } from "../shared/schemas/queue-settings.ts";
import { claimant } from "../shared/table/claimant.ts";
import { heardStore } from "../shared/table/github-heard.ts";
import { idempotencyStore } from "../shared/table/idempotency.ts";
import { queueStore } from "../shared/table/queue-store.ts";
import { targetsStore } from "../shared/table/targets-store.ts";
import { crashPoints } from "./crash-points.ts";
import { systemWaiting } from "./waiting.ts";
import type { Side } from "./wiring.ts";

/** Queues and what is in them. */
export const queueSide: Side<keyof QueueApp | "idempotency" | "uploads"> = ({
  table,
  log,
  blobs,
  uploads,
  hosts,
  hasPages = () => false,
  worker,
  clock = systemClock,
}) => {
  const who = claimant(worker);
  return {
    log,
    clock,
    waiting: systemWaiting,
    newId: randomUUID,
    idempotency: idempotencyStore(table, who),
    resolveSettings,
    passing: crashPoints(process.env["MAINLINE_CRASH_AT"]),
    queues: queueStore(table, who, clock),
    targets: targetsStore(table, blobs),
    uploads,
    hosts,
    heard: heardStore(table, clock),
    hasPages,
    // Asked by workers alone, which are wired as a whole.
    forgives: async () => "LATER",
  };
};
