import type { WindowApp } from "../shared/queue/app/window-ports.ts";
import { windowStore } from "../shared/table/window-store.ts";
import { queueSide } from "./queue-side.ts";
import type { Side } from "./wiring.ts";

/** Queues and their maintenance windows. */
export const maintenanceSide: Side<keyof WindowApp | "idempotency" | "uploads"> = (parts) => ({
  ...queueSide(parts),
  windows: windowStore(parts.table),
});
