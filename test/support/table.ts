import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tuneStreamStorage } from "../../infra/local/stream-storage.ts";
import { databasePath, startTableProcess } from "../../infra/local/table-process.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { ensureTable, LOCAL_TABLE_NAME } from "../../shared/table/table-definition.ts";

export type TestTable = Table & {
  readonly endpoint: string;
  /** Another empty table in the same process: cheap, for one test. */
  readonly another: () => Promise<Table>;
  /** `kill -9` of its process, which comes back by itself on the same port. */
  readonly kill: () => void;
  readonly stop: () => Promise<void>;
};

/**
 * A real, empty table. Call it once per test file and stop it at its end. In memory by default; `onFile` runs it as
 * the server does, which tests that write tens of thousands of items want (infra/local/stream-storage.ts says why).
 */
export async function startTable({ onFile = false } = {}): Promise<TestTable> {
  const data = onFile ? mkdtempSync(join(tmpdir(), "mainline-table-")) : null;
  const running = await startTableProcess({ data, log: silentLog });
  let made = 0;
  const another = async (name = `${LOCAL_TABLE_NAME}-${(made += 1)}`): Promise<Table> => {
    const table = openTable({ name, endpoint: running.endpoint });
    await ensureTable(table);
    return table;
  };
  const table = await another(LOCAL_TABLE_NAME);
  if (data !== null) await tuneStreamStorage(databasePath(data), silentLog);
  const stop = async (): Promise<void> => {
    table.client.destroy();
    await running.stop();
    if (data !== null) rmSync(data, { recursive: true, force: true });
  };
  const kill = (): void => {
    const pid = running.pid();
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  };
  return { ...table, endpoint: running.endpoint, another: () => another(), kill, stop };
}

export type Tables = Pick<TestTable, "another" | "endpoint">;

let shared: Promise<TestTable> | undefined;

/**
 * Tables of one process for all test files of this worker, which ends with the worker. Take a table by `another`; it is
 * nobody's to stop or to kill.
 */
export const sharedTable = async (): Promise<Tables> => {
  // On a file: the records of all files' streams add up, and only there are they numbered without reading them all.
  shared ??= startTable({ onFile: true });
  const { another, endpoint } = await shared;
  return { another, endpoint };
};
