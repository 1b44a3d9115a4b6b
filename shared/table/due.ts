import * as z from "zod";
import type { DueQueue } from "../queue/app/ports.ts";
import { queueKey } from "./queue-items.ts";
import * as shapes from "./shapes.ts";
import { versioned } from "./versions.ts";

const due = versioned(
  z.object({
    entity: z.literal("DUE"),
    schema: z.literal(1),
    key: queueKey,
    wakeAt: shapes.time.nullable(),
  }),
);

export function fromDueItem(item: unknown): DueQueue {
  const { key, wakeAt } = due.parse(item);
  return { key, wakeAt };
}
