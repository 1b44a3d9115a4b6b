import type { QueueKey } from "../kernel/ids.ts";
import { epochMs, sortableTime } from "../kernel/time.ts";
import type { HistoryPage, QueueStore } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { fromEndedItem } from "./entry-items.ts";
import { keys } from "./keys.ts";
import { getItem, query } from "./read.ts";
import { fromEndedRunItem, fromMoveItem } from "./run-items.ts";

/** Later than any time that sorts by its digits. */
const END_OF_TIME = "~";

export function historyStore(table: Table): Pick<QueueStore, "timeline" | "history" | "endedRun"> {
  return {
    timeline: async (key, prNumber, entry) => {
      const pk = keys.pullRequest(key, prNumber);
      const items = await query(table, { pk, between: ["MOVE#", "MOVE#\uffff"], newestFirst: true });
      return items.map(fromMoveItem).filter((move) => move.entry === entry);
    },
    history: (key, page) => history(table, key, page),
    endedRun: async (key, run) => {
      const item = await getItem(table, keys.endedRun(key, run));
      return item === undefined ? undefined : fromEndedRunItem(item);
    },
  };
}

async function history(table: Table, key: QueueKey, page: HistoryPage) {
  const from = sortableTime(page.since ?? epochMs(0));
  // Sort keys go on behind the time, so that the bare time of `until` lies before all that ended at it.
  const to = page.after ?? (page.until === undefined ? END_OF_TIME : sortableTime(page.until));
  // One more than asked for tells whether there is more; the bound is inclusive and brings `after` itself again.
  const limit = page.take + (page.after === undefined ? 1 : 2);
  const found = await query(table, { pk: keys.history(key), between: [from, to], newestFirst: true, limit });
  const items = found.filter((item) => item["sk"] !== page.after);
  const shown = items.slice(0, page.take);
  const last = shown.at(-1)?.["sk"];
  const next = items.length > page.take && typeof last === "string" ? { next: last } : {};
  return { entries: shown.map(fromEndedItem), ...next };
}
