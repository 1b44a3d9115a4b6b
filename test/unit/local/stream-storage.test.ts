import { BatchWriteCommand, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DataTable, openServerTable } from "../../../infra/local/data-table.ts";
import { trimStreamStorage, tuneStreamStorage } from "../../../infra/local/stream-storage.ts";
import { databasePath } from "../../../infra/local/table-process.ts";
import { silentLog } from "../../../shared/kernel/log.ts";

let data = "";
let opened: DataTable;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "mainline-storage-"));
  opened = await openServerTable({ data });
});
afterAll(async () => {
  await opened.close();
  rmSync(data, { recursive: true, force: true });
});

const write = (sk: string) =>
  opened.table.client.send(new PutCommand({ TableName: opened.table.name, Item: { pk: "p", sk } }));

const writeSome = (first: number, count: number) => {
  const requests = Array.from({ length: count }, (_, at) => ({
    PutRequest: { Item: { pk: "p", sk: `old-${first + at}` } },
  }));
  return opened.table.client.send(new BatchWriteCommand({ RequestItems: { [opened.table.name]: requests } }));
};

function inDatabase<T>(work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(databasePath(data), { timeout: 120_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
const numberOf = (database: DatabaseSync, query: string): number => Number(database.prepare(query).get()?.["n"]);
const count = (): number => inDatabase((database) => numberOf(database, "SELECT COUNT(*) AS n FROM _stream_records"));

describe("the stream's storage", () => {
  it("finds its next number and its next records by an index, not by reading all of them", () => {
    const plans = inDatabase((database) =>
      [
        "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = 'mainline'",
        "SELECT * FROM _stream_records WHERE table_name = 't' AND shard_id = 's' AND CAST(sequence_number AS INTEGER) > 5 ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 9",
      ].map((query) => JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${query}`).all())),
    );
    expect(plans[0]).toContain("mainline_stream_number");
    expect(plans[1]).toContain("mainline_stream_order");
    for (const plan of plans) expect(plan).not.toMatch(/SCAN|TEMP B-TREE/u);
  });

  it("drops what is a day old while the table is written to, keeps the newest, and numbers on", async () => {
    for (let first = 0; first < 1_200; first += 25) await writeSome(first, 25);
    const newest = inDatabase((database) => {
      database.exec("UPDATE _stream_records SET created_at = created_at - 90000");
      return numberOf(database, "SELECT MAX(CAST(sequence_number AS INTEGER)) AS n FROM _stream_records");
    });
    const writing = Promise.all(Array.from({ length: 100 }, (_, at) => write(`meanwhile-${at}`)));
    await Promise.all([opened.trim(), writing]);
    expect(count()).toBeLessThanOrEqual(101);
    const { Item } = await opened.table.client.send(
      new GetCommand({ TableName: opened.table.name, Key: { pk: "p", sk: "old-0" } }),
    );
    expect(Item).toBeDefined();
    const next = inDatabase((database) =>
      numberOf(database, "SELECT MAX(CAST(sequence_number AS INTEGER)) AS n FROM _stream_records"),
    );
    expect(next).toBe(newest + 100);
  });

  it("is left as it is, with a warning, where it is not what we know", async () => {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
    const strange = join(data, "strange.db");
    writeFileSync(strange, "no database at all");
    await tuneStreamStorage(strange, log);
    await trimStreamStorage(strange, log);
    expect(warnings).toHaveLength(2);
  });
});
