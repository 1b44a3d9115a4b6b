import { randomUUID } from "node:crypto";
import { systemClock } from "../shared/kernel/time.ts";
import { claimant } from "../shared/table/claimant.ts";
import { healthStore } from "../shared/table/health-store.ts";
import { idempotencyStore } from "../shared/table/idempotency.ts";
import type { HealthApp } from "../shared/test-health/app/ports.ts";
import { systemWaiting } from "./waiting.ts";
import type { Side } from "./wiring.ts";

/** What is kept of tests. */
export const healthSide: Side<keyof HealthApp | "idempotency" | "uploads" | "hosts"> = ({
  table,
  log,
  uploads,
  hosts,
  worker,
  clock = systemClock,
}) => ({
  log,
  clock,
  waiting: systemWaiting,
  newId: randomUUID,
  idempotency: idempotencyStore(table, claimant(worker)),
  health: healthStore(table, clock),
  uploads,
  hosts,
});
