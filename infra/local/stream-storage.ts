/**
 * The embedded table (dynoxide 1.2.1) numbers each stream record one past the largest it finds, by a scan of all
 * records ever made, and it never drops one: after 12,000 records a write took 17 ms instead of 1. An index over its
 * own expression keeps both the number and the poll flat, and records past DynamoDB's own 24 hours are dropped here.
 * Only ever an optimisation: whatever goes wrong, the table works without it.
 */
import type { Log } from "../../shared/kernel/log.ts";
import { oneLine } from "./cannot-start.ts";

const RETENTION_SECONDS = 24 * 3600;

const INDEXES = `
  CREATE INDEX IF NOT EXISTS mainline_stream_number
    ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  CREATE INDEX IF NOT EXISTS mainline_stream_order
    ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER));
`;

/** The newest record stays, since the next number is counted from it. */
const TRIM = `
  DELETE FROM _stream_records
  WHERE created_at < unixepoch() - ${RETENTION_SECONDS} AND id < (SELECT MAX(id) FROM _stream_records);
`;

/** Runs when the table exists and before anybody else writes to it. */
export async function tuneStreamStorage(databasePath: string, log: Log): Promise<void> {
  try {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(databasePath, { timeout: 2_000 });
    try {
      database.exec(INDEXES);
      database.exec(TRIM);
    } finally {
      database.close();
    }
  } catch (error) {
    log.warn("the table's stream storage was left as it is and will slow down with use", { why: oneLine(error) });
  }
}
