/** What came of something that somebody asked for on a page, as a member of a transaction. */
import { DAY_MS, later, SECOND_MS, systemClock } from "../kernel/time.ts";
import type { HeardWrite } from "../queue/app/people/ports.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import type { TransactItem } from "./organizations.ts";
import { ABSENT, put, unchanged } from "./transaction.ts";

/** Nobody asks anything more of a pull request that nobody asked anything of for so long. */
const KEPT_MS = 90 * DAY_MS;
/** A comment older than an hour is not listened to: what was done long before need not be known. */
const DONE_MAX = 200;

export function heardItem(table: Table, { key, prNumber, next }: HeardWrite): TransactItem {
  const item = {
    ...keys.heard(key, prNumber),
    entity: "HEARD",
    schema: 1,
    ...next,
    done: next.done.slice(-DONE_MAX),
    revision: next.revision + 1,
    expiresAtSeconds: Math.floor(later(systemClock(), KEPT_MS) / SECOND_MS),
  };
  return put(table, item, next.revision === 0 ? ABSENT : unchanged(next.revision));
}
