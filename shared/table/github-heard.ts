/** What people said on pull requests' pages, and what came of it. */
import * as z from "zod";
import { entryId } from "../kernel/ids.ts";
import type { Clock } from "../kernel/time.ts";
import type { HeardOf, HeardStore } from "../queue/app/people/ports.ts";
import type { Table } from "./client.ts";
import { deliveryStore } from "./deliveries.ts";
import { heardItem } from "./heard-item.ts";
import { keys } from "./keys.ts";
import { newEffect } from "./outbox.ts";
import { getItem, getItems } from "./read.ts";
import { time } from "./shapes.ts";
import { ABSENT, put, transact } from "./transaction.ts";
import { versioned } from "./versions.ts";

// Made when the first is read, which in most functions none ever is.
const heard = z.lazy(() =>
  versioned(
    z.object({
      entity: z.literal("HEARD"),
      schema: z.literal(1),
      revision: z.int(),
      done: z.array(z.int()),
      lastMerge: z.int(),
      lastCancel: z.int(),
      label: z.object({ event: z.int(), entry: z.string().transform(entryId).nullable() }).nullable(),
      said: z.object({ text: z.string(), at: time }).nullable(),
      explainedAt: time.nullable(),
    }),
  ),
);

const looked = z.lazy(() =>
  versioned(
    z.object({
      entity: z.literal("LOOKED_THROUGH"),
      schema: z.literal(1),
      lookedAt: time,
      commentsSince: time,
      pullsSince: time,
    }),
  ),
);

const NOTHING: HeardOf = {
  revision: 0,
  done: [],
  lastMerge: 0,
  lastCancel: 0,
  label: null,
  said: null,
  explainedAt: null,
};

export function heardStore(table: Table, clock: Clock): HeardStore {
  return {
    of: async (key, prNumber) => {
      const item = await getItem(table, keys.heard(key, prNumber));
      if (item === undefined) return NOTHING;
      const { entity: _entity, schema: _schema, ...of } = heard.parse(item);
      return of;
    },
    write: async (write, also) => {
      const effects = also.map((effect) => newEffect(table, write.key, effect));
      const done = await transact(table, [heardItem(table, write), ...effects]);
      return done === "COMMITTED" ? "WRITTEN" : done;
    },
    take: deliveryStore(table, clock).take,
    taken: async (host, marks) => {
      const byKey = new Map(marks.map((mark) => [keys.delivery(host, mark).pk, mark]));
      const found = await getItems(
        table,
        [...byKey.values()].map((mark) => keys.delivery(host, mark)),
        // One that was made a moment ago, and is missed, refuses what is left under it.
        true,
      );
      return new Set(found.flatMap((item) => byKey.get(String(item["pk"])) ?? []));
    },
    lookedThrough: async (org, repo) => {
      const item = await getItem(table, keys.heardIn(org, repo));
      if (item === undefined) return undefined;
      const { entity: _entity, schema: _schema, ...through } = looked.parse(item);
      return through;
    },
    look: async (org, repo, before, next) => {
      const item = { ...keys.heardIn(org, repo), entity: "LOOKED_THROUGH", schema: 1, ...next };
      const unlooked = { expression: "lookedAt = :before", values: { ":before": before?.lookedAt } };
      const done = await transact(table, [put(table, item, before === undefined ? ABSENT : unlooked)]);
      return done === "COMMITTED" ? "LOOKED" : done;
    },
  };
}
