/**
 * The embedded table (dynoxide 1.2.1) numbers each stream record one past the largest it finds, by a scan of all
 * records ever made, and it never drops one: after 12,000 records a write took 17 ms instead of 1. An index over its
 * own expression keeps both the number and the poll flat, and records past DynamoDB's own 24 hours are dropped here.
 * Only ever an optimisation: whatever goes wrong, the table works without it.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../../shared/kernel/log.ts";
import { oneLine } from "./cannot-start.ts";

const RETENTION_SECONDS = 24 * 3600;

const INDEXES = `
  CREATE INDEX IF NOT EXISTS mainline_stream_number
    ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  CREATE INDEX IF NOT EXISTS mainline_stream_order
    ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER));
`;

/**
 * A few at a time, since the table waits meanwhile. The newest record stays: the next number is counted from it.
 */
const TRIM = `
  DELETE FROM _stream_records WHERE id IN (
    SELECT id FROM _stream_records
    WHERE created_at < unixepoch() - ${RETENTION_SECONDS} AND id < (SELECT MAX(id) FROM _stream_records)
    LIMIT 500
  )
`;

async function withDatabase(path: string, log: Log, work: (database: DatabaseSync) => Promise<void> | void) {
  try {
    const sqlite = await import("node:sqlite");
    const database = new sqlite.DatabaseSync(path, { timeout: 2_000 });
    try {
      await work(database);
    } finally {
      database.close();
    }
  } catch (error) {
    log.warn("the table's stream storage was left as it is; the table may slow down with use", { why: oneLine(error) });
  }
}

/** Once the table exists, before anybody else writes to it. */
export const tuneStreamStorage = (databasePath: string, log: Log): Promise<void> =>
  withDatabase(databasePath, log, (database) => database.exec(INDEXES));

/** Now and then, also beside a table that is at work. */
export const trimStreamStorage = (databasePath: string, log: Log): Promise<void> =>
  withDatabase(databasePath, log, async (database) => {
    const trim = database.prepare(TRIM);
    while (Number(trim.run().changes) > 0) await nextTurn();
  });
