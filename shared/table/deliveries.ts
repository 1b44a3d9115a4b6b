/** Messages that were taken in, each once: what marks it is written with all that it leaves for the loop. */
import { type Clock, DAY_MS, later, SECOND_MS } from "../kernel/time.ts";
import type { Left } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { inboxItem } from "./inbox.ts";
import { keys } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import { newEffect } from "./outbox.ts";
import { ABSENT, put, transact } from "./transaction.ts";

export type DeliveryStore = {
  /** A webhook is marked by its delivery's id, and by what it tells of, where that is to be taken once as well. */
  readonly take: (host: string, marks: readonly string[], left: readonly Left[]) => Promise<"TAKEN" | "SEEN">;
};

/** GitHub sends one again for three days. */
const KEPT_MS = 7 * DAY_MS;
/** Of what is left, in one transaction, with the marks beside it. */
const LEFT_MAX = 85;

const leftItem = (table: Table, one: Left): TransactItem =>
  "event" in one ? inboxItem(table, one.key, one.event) : newEffect(table, one.key, one.effect);

export function deliveryStore(table: Table, clock: Clock): DeliveryStore {
  const marked = (host: string, mark: string): TransactItem => {
    const expiresAtSeconds = Math.floor(later(clock(), KEPT_MS) / SECOND_MS);
    const item = { ...keys.delivery(host, mark), entity: "DELIVERY", schema: 1, expiresAtSeconds };
    return put(table, item, ABSENT);
  };
  return {
    take: async (host, marks, left) => {
      let taken: "TAKEN" | "SEEN" = "SEEN";
      // Each part has marks of its own: should the process die between two, whoever brings it again takes the rest.
      for (let part = 0; part === 0 || part * LEFT_MAX < left.length; part += 1) {
        const own = marks.map((mark) => marked(host, part === 0 ? mark : `${mark}#${part}`));
        const items = left.slice(part * LEFT_MAX, (part + 1) * LEFT_MAX).map((one) => leftItem(table, one));
        if ((await transact(table, [...own, ...items])) === "COMMITTED") taken = "TAKEN";
      }
      return taken;
    },
  };
}
