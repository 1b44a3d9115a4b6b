/** Webhooks that were taken in, each once: the delivery's id is written with all that it leaves for the loop. */
import { type Clock, DAY_MS, later, SECOND_MS } from "../kernel/time.ts";
import type { Left } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { inboxItem } from "./inbox.ts";
import { keys } from "./keys.ts";
import { newEffect } from "./outbox.ts";
import { ABSENT, put, transact } from "./transaction.ts";

export type DeliveryStore = {
  readonly take: (host: string, id: string, left: readonly Left[]) => Promise<"TAKEN" | "SEEN">;
};

/** GitHub sends one again for three days. */
const KEPT_MS = 7 * DAY_MS;

export function deliveryStore(table: Table, clock: Clock): DeliveryStore {
  return {
    take: async (host, id, left) => {
      const expiresAtSeconds = Math.floor(later(clock(), KEPT_MS) / SECOND_MS);
      const delivery = { ...keys.delivery(host, id), entity: "DELIVERY", schema: 1, expiresAtSeconds };
      const done = await transact(table, [
        put(table, delivery, ABSENT),
        ...left.map((one) =>
          "event" in one ? inboxItem(table, one.key, one.event) : newEffect(table, one.key, one.effect),
        ),
      ]);
      return done === "COMMITTED" ? "TAKEN" : "SEEN";
    },
  };
}
